// The commands that need no daemon: check, convert, ingest --dry-run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/chakra.h"
#include "client/json.h"
#include "client/test_folder.h"

namespace chakrad::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two ranks and a message between them.
constexpr char kGraph[] = R"x(digraph taskgraph {
  node0 [label="{device_id=0|Dense|Forward|COMP_NODE|simulated_run_time=0.5}"];
  node1 [label="{device_id=2|Comm from 0 to 1|Comm|COMM_SEND_RECV_NODE|src_device_id=0|dst_device_id=1|comm_size=4096|run_time=0.5}"];
  node2 [label="{device_id=1|Dense|Backward|COMP_NODE|simulated_run_time=0.25}"];
  node0 -> node1; node1 -> node2;
})x";

class LocalCommandsTest : public ::testing::Test {
 protected:
  // No server is given: a command that asks one fails.
  int Run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    std::vector<std::string> all = args;
    all.insert(all.end(), {"--server", "127.0.0.1:1"});
    return RunChakra(all, {.out = &out_, .err = &err_, .err_is_terminal = false, .sleep = {}});
  }
  std::string Content(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  Json json() { return Json::parse(out_.str()); }

  TestFolder folder_;
  std::ostringstream out_, err_;
};

TEST_F(LocalCommandsTest, ADryRunTellsWhatAnIngestWouldMake) {
  const std::string graph = folder_.Write("mlp.graph", kGraph);
  ASSERT_EQ(Run({"ingest", "--dry-run", "--output", "json", graph}), kExitOk) << err_.str();
  EXPECT_EQ(json()["trace"]["ranks_count"], 2);
  EXPECT_EQ(json()["trace"]["ranks"][0]["comm_by_type"]["SEND"]["bytes"], 4096);
  EXPECT_EQ(json()["trace"]["files"][0]["records_count"], 5);
  EXPECT_EQ(json()["trace"]["check"]["quality_score"], 1.0);
  EXPECT_EQ(json()["launches"].size(), 2u);
  ASSERT_EQ(Run({"ingest", "--dry-run", graph}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("nothing was stored"));
  EXPECT_THAT(out_.str(), HasSubstr("quality 1.000; 0 errors"));
}

TEST_F(LocalCommandsTest, ADryRunIsRefusedWhereAnIngestWouldBe) {
  EXPECT_EQ(Run({"ingest", "--dry-run", folder_.Write("a.json", "<html>log in</html>")}),
            kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("a.json: byte offset 0"));
}

TEST_F(LocalCommandsTest, ACheckThatFindsErrorsTellsThemAllAndExitsWithOne) {
  folder_.Write("run/mlp.graph", kGraph);
  EXPECT_EQ(Run({"check", folder_.Path("run")}), kExitOk) << out_.str();
  folder_.Write("run/broken.json", "{\"traceEvents\": [{\"ph\": ");
  EXPECT_EQ(Run({"check", folder_.Path("run"), "--output", "json"}), kExitFailed);
  EXPECT_EQ(json()["count_by_rule"]["unreadable_file"], 1);
  EXPECT_EQ(json()["findings"][0]["severity"], "error");
  EXPECT_EQ(json()["findings"][0]["file"], "broken.json");
  EXPECT_EQ(Run({"check", folder_.Path("run")}), kExitFailed);
  EXPECT_THAT(out_.str(), HasSubstr("error unreadable_file (broken.json"));
  EXPECT_THAT(out_.str(), HasSubstr("  fix: "));
}

TEST_F(LocalCommandsTest, WhatIsConvertedImportsAgainAsTheSame) {
  const std::string graph = folder_.Write("mlp.graph", kGraph);
  for (const std::string format : {"et", "json"}) {
    const std::string out = folder_.Path("out_" + format);
    ASSERT_EQ(Run({"convert", graph, "--format", format, "-o", out}), kExitOk) << err_.str();
    ASSERT_EQ(Run({"ingest", "--dry-run", "--output", "json", out}), kExitOk) << err_.str();
    EXPECT_EQ(json()["trace"]["ranks_count"], 2) << format;
    EXPECT_EQ(json()["trace"]["ranks"][1]["comm_by_type"]["RECV"]["bytes"], 4096) << format;
  }
}

TEST_F(LocalCommandsTest, GraphsAndTimelinesAreWritten) {
  const std::string graph = folder_.Write("mlp.graph", kGraph);
  ASSERT_EQ(Run({"convert", graph, "--format", "dot", "-o", "-", "--only-rank", "1"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("digraph"));
  EXPECT_THAT(out_.str(), HasSubstr("Dense Backward"));
  EXPECT_EQ(Run({"convert", graph, "--format", "dot", "-o", "-"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("takes one rank only"));
  EXPECT_EQ(Run({"convert", graph, "--format", "svg", "-o", "-"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("pipe it into dot"));
  // A FlexFlow graph has durations, but nothing says when anything started.
  EXPECT_EQ(Run({"convert", graph, "--format", "chrome", "-o", folder_.Path("c")}), kExitFailed);

  const std::string kineto = folder_.Write(
      "rank0.json", R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,)"
                    R"("ts":100,"dur":10,"args":{"External id":1}}]})");
  ASSERT_EQ(Run({"convert", kineto, "--format", "chrome", "-o", folder_.Path("t")}), kExitOk)
      << err_.str();
  const Json timeline = Json::parse(Content(folder_.Path("t/timeline.json")));
  EXPECT_THAT(timeline.dump(), HasSubstr("aten::mm"));
}

TEST_F(LocalCommandsTest, AConversionTellsWhatItLeftOutAndOverwritesNothing) {
  const std::string graph =
      folder_.Write("in/a.graph",
                    "digraph g { node0 [label=\"{device_id=0|a|Forward|COMP_NODE|"
                    "simulated_run_time=1}\"]; node0 -> node7; }");
  EXPECT_EQ(Run({"convert", graph, "-o", folder_.Path("out")}), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("--lenient"));
  ASSERT_EQ(Run({"convert", graph, "--lenient", "-o", folder_.Path("out")}), kExitOk);
  EXPECT_THAT(err_.str(), HasSubstr("missing_dependency 1"));
  EXPECT_EQ(Run({"convert", graph, "--lenient", "-o", folder_.Path("in")}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("which is read"));
  EXPECT_EQ(Run({"convert", graph, "--lenient", "-o", folder_.Path("out"), "--only-rank", "0",
                 "--only-rank", "0"}),
            kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("0 is there twice"));
}

TEST_F(LocalCommandsTest, NamesCannotSteerTheTerminal) {
  const std::string kineto =
      folder_.Write("rank0.json",
                    "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
                    "\"nccl\\u001b[31mX\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":2,"
                    "\"args\":{\"stream\":7}}]}");
  Run({"check", kineto});
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b")));
}

TEST_F(LocalCommandsTest, APictureReplacesItsGraphOrSaysWhatIsMissing) {
  const std::string graph = folder_.Write("mlp.graph", kGraph);
  const std::string out = folder_.Path("pictures");
  ASSERT_EQ(Run({"convert", graph, "--format", "svg", "-o", out}), kExitOk) << err_.str();
  EXPECT_THAT(Content(out + "/rank0.svg"), HasSubstr("<svg"));
  EXPECT_FALSE(std::filesystem::exists(out + "/rank0.dot"));
}

TEST_F(LocalCommandsTest, OptionsThatOnlyADaemonUnderstandsAreRefused) {
  const std::string graph = folder_.Write("mlp.graph", kGraph);
  const std::string names = folder_.Write("names.json", R"({"kernel_names":[]})");
  EXPECT_EQ(Run({"ingest", graph, "--kernel-names", names}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--kernel_names FILE"));
  EXPECT_EQ(Run({"check", graph, "--kernel-names", folder_.Write("bad.json", "{")}), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("bad.json"));
}

}  // namespace
}  // namespace chakrad::client
