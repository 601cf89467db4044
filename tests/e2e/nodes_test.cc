// Windows of a stored rank, over gRPC and by the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/json.h"
#include "common/status_matchers.h"
#include "tests/e2e/run_chakra.h"
#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

using testing::HasSubstr;

// Compared as text: one line a node.
std::vector<std::string> Lines(const v1::ReadNodesResponse& nodes) {
  std::vector<std::string> lines;
  for (int i = 0; i < nodes.position_size(); ++i) {
    lines.push_back(absl::StrCat(nodes.position(i), " ", nodes.id(i), " ", nodes.name(i), " ",
                                 nodes.type(i), " ", nodes.queue(i), " ", nodes.start_ns(i), " ",
                                 nodes.dur_ns(i), " ", nodes.dependencies_count(i)));
  }
  return lines;
}

// All pieces in one.
absl::StatusOr<v1::ReadNodesResponse> Read(TestClient* client,
                                           const v1::ReadNodesRequest& request) {
  grpc::ClientContext context;
  const auto stream = client->traces().ReadNodes(&context, request);
  v1::ReadNodesResponse all, piece;
  while (stream->Read(&piece)) all.MergeFrom(piece);
  const absl::Status status = FromGrpc(stream->Finish());
  if (!status.ok()) return status;
  return all;
}

// What it prints, on standard error when it is to fail.
std::string Printed(const TestServer& server, const std::vector<std::string>& args,
                    int exit_code = 0) {
  const Ran ran = Chakra(server, args);
  EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
  return exit_code == 0 ? ran.out : ran.err;
}

class NodesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(trace_, server_.Upload(ReadFolder("tests/data/collected/mlp_dp/w2")));
    request_.set_name(trace_.name());
    request_.set_rank(1);
    ASSERT_OK_AND_ASSIGN(all_, Read(&server_, request_));
  }

  TestServer server_;
  v1::Trace trace_;
  v1::ReadNodesRequest request_;
  v1::ReadNodesResponse all_;  // Of rank 1.
};

TEST_F(NodesTest, WithoutBoundsEveryNodeComes) {
  ASSERT_EQ(trace_.ranks(1).rank(), 1);
  ASSERT_EQ(all_.position_size(), trace_.ranks(1).nodes_count());
  int64_t edges_count = 0, want = 0;
  for (int i = 0; i < all_.position_size(); ++i) {
    EXPECT_EQ(all_.position(i), i);
    edges_count += all_.dependencies_count(i);
  }
  for (const auto& [kind, count] : trace_.ranks(1).edges_count_by_kind()) want += count;
  EXPECT_EQ(edges_count, want);
}

TEST_F(NodesTest, AWindowIsThatPartOfAll) {
  request_.set_first_node(100);
  request_.set_max_nodes(50);
  ASSERT_OK_AND_ASSIGN(const v1::ReadNodesResponse part, Read(&server_, request_));
  const std::vector<std::string> all = Lines(all_);
  EXPECT_EQ(Lines(part), std::vector<std::string>(all.begin() + 100, all.begin() + 150));
}

TEST_F(NodesTest, ATimeWindowIsTheNodesThatRunThen) {
  std::vector<int64_t> starts;
  for (const int64_t start_ns : all_.start_ns()) {
    if (start_ns >= 0) starts.push_back(start_ns);
  }
  ASSERT_GT(starts.size(), 100);
  std::sort(starts.begin(), starts.end());
  const int64_t from_ns = starts[starts.size() / 3], to_ns = starts[starts.size() / 2];
  request_.set_from_ns(from_ns);
  request_.set_to_ns(to_ns);
  ASSERT_OK_AND_ASSIGN(const v1::ReadNodesResponse part, Read(&server_, request_));
  std::vector<std::string> want;
  const std::vector<std::string> all = Lines(all_);
  for (int i = 0; i < all_.position_size(); ++i) {
    const int64_t start_ns = all_.start_ns(i), dur_ns = std::max<int64_t>(all_.dur_ns(i), 0);
    if (start_ns < 0 || start_ns >= to_ns) continue;
    if (start_ns >= from_ns || start_ns + dur_ns > from_ns) want.push_back(all[i]);
  }
  ASSERT_GT(want.size(), 10);
  EXPECT_EQ(Lines(part), want);
  request_.set_max_nodes(3);
  ASSERT_OK_AND_ASSIGN(const v1::ReadNodesResponse three, Read(&server_, request_));
  EXPECT_EQ(Lines(three), std::vector<std::string>(want.begin(), want.begin() + 3));
}

TEST_F(NodesTest, WhatIsNoWindowIsRefusedByName) {
  const auto refused = [&](absl::StatusCode code, const char* part) {
    EXPECT_THAT(Read(&server_, request_), StatusIs(code, part));
  };
  request_.set_first_node(100'000'000);
  refused(absl::StatusCode::kInvalidArgument, "rank 1: first_node: 100000000 is not in [0, ");
  request_.set_first_node(-1);
  refused(absl::StatusCode::kInvalidArgument, "first_node: -1 is below 0");
  request_.set_first_node(0);
  request_.set_from_ns(7);
  request_.set_to_ns(7);
  refused(absl::StatusCode::kInvalidArgument, "to_ns: 7 is not after from_ns 7");
  request_.set_rank(2);
  refused(absl::StatusCode::kNotFound, "2");
  request_.set_name("traces/t-17");
  refused(absl::StatusCode::kNotFound, "t-17");
  request_.set_name("t-17");
  refused(absl::StatusCode::kInvalidArgument, "name");
}

TEST_F(NodesTest, TheCommandLineShowsATable) {
  const std::string text = Printed(
      server_, {"traces", "nodes", trace_.name(), "--rank", "1", "--first", "100", "--count", "5"});
  EXPECT_THAT(text, HasSubstr("position"));
  EXPECT_THAT(text, HasSubstr("(5 nodes; --count N"));
  for (int i = 100; i < 105; ++i) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat(all_.id(i)))) << i;
    EXPECT_THAT(text, HasSubstr(all_.name(i).substr(0, 60))) << i;
  }
  EXPECT_EQ(Printed(server_, {"traces", "nodes", trace_.name(), "--to", "-5"}), "no nodes\n");
  EXPECT_THAT(Printed(server_, {"traces", "nodes", "t-17"}, 1), HasSubstr("t-17"));
}

TEST_F(NodesTest, TheCommandLineAnswersInJson) {
  const client::Json json =
      client::Json::parse(Printed(server_, {"--output", "json", "traces", "nodes", trace_.name(),
                                            "--rank", "1", "--count", "0"}));
  EXPECT_EQ(json["name"], trace_.name());
  EXPECT_EQ(json["rank"], 1);
  ASSERT_EQ(json["nodes"].size(), all_.position_size());
  const client::Json& node = json["nodes"][7];
  EXPECT_EQ(node["position"], 7);
  EXPECT_EQ(node["id"], all_.id(7));
  EXPECT_EQ(node["name"], all_.name(7));
  EXPECT_EQ(node["type"], all_.type(7));
  EXPECT_EQ(node["dependencies_count"], all_.dependencies_count(7));
}

}  // namespace
}  // namespace chakrad
