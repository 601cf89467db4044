// Formats through the real daemon and the real command line: what is in an archive,
// what comes back in which form, and what the conformance suite said of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "client/chakra.h"
#include "client/json.h"
#include "common/status_matchers.h"
#include "tests/e2e/test_server.h"
#include "trace/readers/testing/tar.h"

namespace chakrad {
namespace {

using client::Json;
using ::testing::HasSubstr;

class FormatsTest : public ::testing::Test {
 protected:
  std::string address() { return "127.0.0.1:" + std::to_string(server_.server().grpc_port()); }
  // Runs `chakra` against the daemon.
  int Chakra(std::vector<std::string> args) {
    out_.str("");
    err_.str("");
    args.insert(args.end(), {"--server", address()});
    return client::RunChakra(
        args, {.out = &out_, .err = &err_, .err_is_terminal = false, .sleep = [](auto) {}});
  }
  Json json() { return Json::parse(out_.str()); }

  TestServer server_;
  std::ostringstream out_, err_;
};

constexpr char kRun[] = "tests/data/collected/mlp_dp/w2";

// What a trace's JSON says beside its name and size in the store, its times, and what is
// computed from those when it is stored.
Json Counts(Json trace) {
  for (const char* key :
       {"name", "create_time", "stored_bytes", "start_time", "end_time", "span_ns", "breakdown"}) {
    trace.erase(key);
  }
  return trace;
}

TEST_F(FormatsTest, WhatTheDaemonStoresIsWhatADryRunSaid) {
  ASSERT_EQ(Chakra({"ingest", kRun, "--dry-run", "--output", "json"}), 0) << err_.str();
  const Json dry = json()["trace"];
  ASSERT_EQ(Chakra({"ingest", kRun, "--output", "json"}), 0) << err_.str();
  const Json stored = json()["trace"];
  EXPECT_EQ(Counts(stored), Counts(dry));
  EXPECT_GT(stored["check"]["quality_score"], 0.9);
  const std::string name = stored["name"];
  ASSERT_EQ(Chakra({"traces", "show", name, "--output", "json"}), 0);
  EXPECT_EQ(json()["check"], dry["check"]);
  EXPECT_EQ(Chakra({"check", name, "--output", "json"}), 0);
  Json check = json();
  EXPECT_FALSE(check["notices"].empty());
  check.erase("notices");
  EXPECT_EQ(check, dry["check"]);
}

TEST_F(FormatsTest, ATraceComesBackInEveryForm) {
  ASSERT_EQ(Chakra({"ingest", kRun, "--output", "json"}), 0) << err_.str();
  const Json stored = json()["trace"];
  const std::string name = stored["name"], folder = MakeTempFolder();
  for (const std::string form : {"et", "json", "chrome", "dot", "graphml"}) {
    ASSERT_EQ(Chakra({"traces", "export", name, "--format", form, "-o", folder + "/" + form}), 0)
        << form << ": " << err_.str();
  }
  EXPECT_THAT(ReadFileOrDie(folder + "/dot/rank1.dot"), HasSubstr("digraph"));
  EXPECT_THAT(ReadFileOrDie(folder + "/graphml/rank0.graphml"), HasSubstr("<graphml"));
  const Json timeline = Json::parse(ReadFileOrDie(folder + "/chrome/timeline.json"));
  EXPECT_GT(timeline["traceEvents"].size(), 1000u);
  for (const std::string form : {"et", "json"}) {
    ASSERT_EQ(Chakra({"ingest", folder + "/" + form, "--output", "json"}), 0) << err_.str();
    const Json again = json()["trace"];
    for (size_t rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(again["ranks"][rank], stored["ranks"][rank]) << form;
    }
    EXPECT_EQ(again["process_groups"], stored["process_groups"]) << form;
  }
}

TEST_F(FormatsTest, ARankIsExportedOnce) {
  ASSERT_EQ(Chakra({"ingest", kRun, "--output", "json"}), 0) << err_.str();
  const std::string name = json()["trace"]["name"];
  EXPECT_EQ(Chakra({"traces", "export", name, "-o", "-", "--rank", "1", "--rank", "1"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("1 is there twice"));
}

TEST_F(FormatsTest, GraphOptionsAreCheckedByTheDaemon) {
  ASSERT_EQ(Chakra({"ingest", kRun, "--output", "json"}), 0) << err_.str();
  const std::string name = json()["trace"]["name"];
  EXPECT_EQ(Chakra({"traces", "export", name, "--format", "dot", "-o", "-", "--rank", "0",
                    "--around", "18446744073709551615"}),
            1);
  EXPECT_THAT(err_.str(), HasSubstr("18446744073709551615"));
}

TEST_F(FormatsTest, AnUploadThatNeedsLeniencySaysSoAndPassesWithIt) {
  const std::map<std::string, std::string> files = {
      {"rank0.graph",
       "digraph g { node0 [label=\"{device_id=0|a|Forward|COMP_NODE|"
       "simulated_run_time=1}\"]; node0 -> node7; }"}};
  const absl::StatusOr<v1::Trace> refused = server_.Upload(files);
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument, "--lenient"));
  v1::CreateUploadRequest request;
  request.set_lenient(true);
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, server_.Upload(files, request));
  EXPECT_EQ(trace.files(0).rejected_by_rule().at("missing_dependency"), 1);
  EXPECT_EQ(trace.check().errors_count(), 1);
  EXPECT_EQ(Chakra({"check", trace.name()}), 1);
}

// Nothing of an archive stays behind, wherever a Seal ends.
TEST_F(FormatsTest, ScratchFoldersAreEmptyAfterwards) {
  const std::string tar = Tar(ReadFolder(kRun));
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, server_.Upload({{"run.tar", tar}}));
  EXPECT_EQ(trace.ranks_count(), 2);
  EXPECT_FALSE(server_.Upload({{"run.tar", tar.substr(0, tar.size() / 2)}}).ok());
  EXPECT_TRUE(std::filesystem::is_empty(server_.data_dir() + "/scratch"));
}

}  // namespace
}  // namespace chakrad
