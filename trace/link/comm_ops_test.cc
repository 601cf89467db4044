#include "trace/link/comm_ops.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "trace/readers/manifest/manifest.h"

namespace chakrad {
namespace {

CommKind Coll(CollectiveType type) { return {NodeType::kCommColl, type}; }

TEST(CommBytesTest, EachKindCountsWhatTheModelDefines) {
  CommArgs args;
  args.in_bytes = 4096;
  args.out_bytes = 16384;
  // All-gather: the contribution. Reduce-scatter: the full input.
  EXPECT_EQ(CommBytes(Coll(CollectiveType::kAllGather), args), 4096);
  EXPECT_EQ(CommBytes(Coll(CollectiveType::kReduceScatter), args), 4096);
  EXPECT_EQ(CommBytes(Coll(CollectiveType::kAllReduce), args), 4096);
  EXPECT_EQ(CommBytes(Coll(CollectiveType::kBarrier), args), 0);
  EXPECT_EQ(CommBytes({NodeType::kCommSend, CollectiveType::kAllReduce}, args), 4096);
  EXPECT_EQ(CommBytes({NodeType::kCommRecv, CollectiveType::kAllReduce}, args), 16384);
  EXPECT_EQ(CommBytes(Coll(CollectiveType::kAllReduce), CommArgs()), kNotStated);
}

TEST(CommBytesTest, AllToAllWithSplitsCountsTheirSum) {
  CommArgs args;
  args.in_bytes = 4000;
  args.in_elements = 1000;
  EXPECT_EQ(CommBytes(Coll(CollectiveType::kAllToAll), args), 4000);
  args.in_splits = {96, 4, 0, 300};
  EXPECT_EQ(CommBytes(Coll(CollectiveType::kAllToAll), args), 1600);  // 400 elements of 4 B.
  args.input_dims = 2;                                                // Splits count rows then.
  EXPECT_EQ(CommBytes(Coll(CollectiveType::kAllToAll), args), 4000);
  args.input_dims = 1;
  args.in_splits = {INT64_MAX, INT64_MAX};  // Nonsense does not overflow.
  EXPECT_EQ(CommBytes(Coll(CollectiveType::kAllToAll), args), 4000);
  args.in_splits = {-1, 5};
  EXPECT_EQ(CommBytes(Coll(CollectiveType::kAllToAll), args), 4000);
}

// Node 0: a communication called by node 1, which lies in node 2.
class GroupTest : public ::testing::Test {
 protected:
  GroupTest() {
    graph_.nodes.resize(3);
    graph_.nodes[0].role = NodeRole::kComm;
    graph_.nodes[0].caller = 1;
    graph_.nodes[1].name = "c10d::allreduce_";
    graph_.nodes[1].parent = 2;
    graph_.nodes[2].name = "forward";
    manifest_.world_size = 4;
    manifest_.groups = {{"world", "", {0, 1, 2, 3}},
                        {"tp0", "", {0, 1}},
                        {"tp1", "", {2, 3}},
                        {"dp0", "", {0, 2}},
                        {"dp1", "", {1, 3}}};
  }
  // The name of the group that the call of this rank gets; "" for the world.
  std::string GroupOf(const CommArgs& args, int32_t rank,
                      CollectiveType type = CollectiveType::kAllReduce) {
    CommCall call;
    call.node = 0;
    call.record = 1;
    call.kind = Coll(type);
    call.args = args;
    graph_.comm.clear();
    graph_.groups.clear();
    graph_.notices.clear();
    FillCommOps({call}, rank, &graph_);
    const uint32_t group = graph_.comm[0].group;
    return group == kNone ? "" : graph_.groups[group].name;
  }
  bool HasNotice(absl::string_view part) const {
    for (const std::string& notice : graph_.notices) {
      if (absl::StrContains(notice, part)) return true;
    }
    return false;
  }
  CommArgs Bytes() {
    CommArgs args;
    args.in_bytes = 8;
    return args;
  }

  LinkGraph graph_;
  Manifest manifest_;
};

TEST_F(GroupTest, WithoutAnyGroupsItIsTheWorldAndSaidSo) {
  EXPECT_EQ(GroupOf(Bytes(), 0), "");
  ASSERT_EQ(graph_.notices.size(), 1u);
  EXPECT_TRUE(absl::StrContains(graph_.notices[0], "1 communication calls name no process group"));
}

TEST_F(GroupTest, UnnamedCallsAreGuessedFromWhereTheyWereCalledAndSaidSo) {
  graph_.manifest = &manifest_;
  EXPECT_EQ(GroupOf(Bytes(), 2), "tp1");
  EXPECT_TRUE(HasNotice("guessed tp1"));
  graph_.nodes[2].name = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";
  EXPECT_EQ(GroupOf(Bytes(), 2), "dp0");
  graph_.nodes[2].name = "DistributedDataParallel.forward";
  EXPECT_EQ(GroupOf(Bytes(), 3, CollectiveType::kBroadcast), "dp1");
  EXPECT_EQ(GroupOf(Bytes(), 3), "tp1");
}

// Recorded nesting without times: after an asynchronous call the next backward
// function appears to lie in the one before.
TEST_F(GroupTest, OnlyTheInnermostCallOfTheEngineCounts) {
  graph_.nodes.resize(4);
  graph_.nodes[2].name = "autograd::engine::evaluate_function: CopyToTPBackward";
  graph_.nodes[2].parent = 3;
  graph_.nodes[3].name = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";
  graph_.manifest = &manifest_;
  EXPECT_EQ(GroupOf(Bytes(), 2), "tp1");
}

TEST_F(GroupTest, RulesOfTheManifestComeBeforeGuesses) {
  manifest_.collective_rules = {{"broadcast", "", {"tp0", "tp1"}}, {"", "forw", {"dp0", "dp1"}}};
  graph_.manifest = &manifest_;
  EXPECT_EQ(GroupOf(Bytes(), 1), "dp1");
  EXPECT_EQ(GroupOf(Bytes(), 1, CollectiveType::kBroadcast), "tp0");
  EXPECT_TRUE(graph_.notices.empty());
}

TEST_F(GroupTest, WhatNothingDecidesIsUnknownNeverTheWorld) {
  manifest_.groups = {{"a", "", {0, 1}}, {"b", "", {0, 2}}};
  graph_.manifest = &manifest_;
  EXPECT_EQ(GroupOf(Bytes(), 0), "unknown");
  EXPECT_TRUE(graph_.groups[0].ranks.empty());
  EXPECT_TRUE(HasNotice("unknown"));
}

TEST_F(GroupTest, ANamedGroupTakesItsMembersFromTheTableElseFromTheCall) {
  graph_.manifest = &manifest_;
  CommArgs args = Bytes();
  args.group_name = "dp1";
  EXPECT_EQ(GroupOf(args, 0), "dp1");
  EXPECT_EQ(graph_.groups[0].ranks, (std::vector<int32_t>{1, 3}));
  args.group_name = "mesh";
  args.global_rank_start = 4;
  args.global_rank_stride = 2;
  args.group_size = 3;
  EXPECT_EQ(GroupOf(args, 0), "mesh");
  EXPECT_EQ(graph_.groups[0].ranks, (std::vector<int32_t>{4, 6, 8}));
  args.group_size = INT64_MAX;  // A claim, not memory.
  EXPECT_EQ(GroupOf(args, 0), "mesh");
  EXPECT_TRUE(graph_.groups[0].ranks.empty());
  EXPECT_TRUE(HasNotice("process group \"mesh\""));
}

TEST_F(GroupTest, RootsAndPeersBecomeGlobalRanks) {
  graph_.manifest = &manifest_;
  CommArgs args = Bytes();
  args.group_name = "dp1";
  args.root = 1;
  GroupOf(args, 0, CollectiveType::kBroadcast);
  EXPECT_EQ(graph_.comm[0].root, 3);
  args.root = 7;  // The group has two members.
  GroupOf(args, 0, CollectiveType::kBroadcast);
  EXPECT_EQ(graph_.comm[0].root, kNoRank);
}

}  // namespace
}  // namespace chakrad
