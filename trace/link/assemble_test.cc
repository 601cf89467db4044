#include "trace/link/assemble.h"

#include <gtest/gtest.h>

#include <string>

#include "common/status_matchers.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

// A rank whose collectives use groups[uses[0]], groups[uses[1]], ... in order.
RankTrace Rank(int32_t number, std::vector<ProcessGroup> groups,
               const std::vector<uint32_t>& uses) {
  RankTraceBuilder builder;
  for (size_t i = 0; i < uses.size(); ++i) {
    CommOp comm;
    comm.group = uses[i];
    NodeSpec spec;
    spec.id = i;
    spec.type = NodeType::kCommColl;
    spec.comm = &comm;
    builder.AddNode(spec);
  }
  builder.header().groups = std::move(groups);
  builder.header().rank = number;
  return builder.Build(nullptr).value();
}

TEST(AssembleTest, TheWorldIsEntryZeroAndStandsForUnnamedGroups) {
  std::vector<std::string> notices;
  ASSERT_OK_AND_ASSIGN(const Trace trace,
                       AssembleTrace({Rank(1, {}, {kNone}), Rank(0, {}, {kNone})}, 3, &notices));
  EXPECT_EQ(trace.world_size, 3);
  EXPECT_EQ(trace.ranks[0].rank, 0);
  EXPECT_EQ(trace.groups.size(), 1u);
  EXPECT_EQ(trace.groups[0].ranks, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(trace.ranks[1].comm[0].group, kWorldGroup);
  EXPECT_EQ(trace.MissingRanks(), (std::vector<int32_t>{2}));
  EXPECT_TRUE(notices.empty());
}

TEST(AssembleTest, EqualMembersAndNameAreOneGroupWhateverTheRanksNumberThem) {
  const ProcessGroup a{"a", "", {0, 1}}, b{"b", "", {0, 1}};
  std::vector<std::string> notices;
  ASSERT_OK_AND_ASSIGN(
      const Trace trace,
      AssembleTrace({Rank(0, {a, b}, {0, 1}), Rank(1, {b, a}, {0, 1})}, 4, &notices));
  ASSERT_EQ(trace.groups.size(), 3u);
  EXPECT_EQ(trace.ranks[0].comm[0].group, trace.ranks[1].comm[1].group);
  EXPECT_EQ(trace.ranks[0].comm[1].group, trace.ranks[1].comm[0].group);
  EXPECT_NE(trace.ranks[0].comm[0].group, trace.ranks[0].comm[1].group);
}

TEST(AssembleTest, AGroupOfOthersIsNotedOnlyWhenTheRankUsesIt) {
  const ProcessGroup others{"dp1", "", {1, 3}};
  std::vector<std::string> notices;
  ASSERT_THAT(AssembleTrace({Rank(0, {others}, {})}, 4, &notices), IsOk());
  EXPECT_TRUE(notices.empty());
  ASSERT_THAT(AssembleTrace({Rank(0, {others}, {0})}, 4, &notices), IsOk());
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0], "rank 0 uses process group \"dp1\", which does not hold it");
}

TEST(AssembleTest, NamesThatDifferFromRankToRankAreMatchedByOrderOfFirstUse) {
  const std::vector<int32_t> members{0, 1};
  std::vector<std::string> notices;
  // Rank 0 uses "5" first, then "4"; rank 1 calls the same two "9" and "8".
  ASSERT_OK_AND_ASSIGN(const Trace trace,
                       AssembleTrace({Rank(0, {{"4", "", members}, {"5", "", members}}, {1, 0, 1}),
                                      Rank(1, {{"9", "", members}, {"8", "", members}}, {0, 1, 0})},
                                     4, &notices));
  ASSERT_EQ(trace.groups.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(trace.ranks[0].comm[i].group, trace.ranks[1].comm[i].group) << i;
  }
}

TEST(AssembleTest, TheDefaultGroupIsTheWorldAndAnotherFullGroupIsNot) {
  const ProcessGroup full{"7", "pipeline", {0, 1}}, standard{"0", "default_pg", {0, 1}};
  std::vector<std::string> notices;
  ASSERT_OK_AND_ASSIGN(const Trace trace,
                       AssembleTrace({Rank(0, {full, standard}, {0, 1})}, 2, &notices));
  EXPECT_EQ(trace.groups[kWorldGroup].description, "default_pg");
  EXPECT_EQ(trace.ranks[0].comm[1].group, kWorldGroup);
  EXPECT_EQ(trace.groups[trace.ranks[0].comm[0].group].name, "7");
}

TEST(AssembleTest, GroupsWithoutMembersAreKeptByName) {
  std::vector<std::string> notices;
  ASSERT_OK_AND_ASSIGN(const Trace trace,
                       AssembleTrace({Rank(0, {{"x", "", {}}, {"y", "", {}}}, {0, 1}),
                                      Rank(1, {{"y", "", {}}}, {0})},
                                     2, &notices));
  ASSERT_EQ(trace.groups.size(), 3u);
  EXPECT_TRUE(trace.groups[1].ranks.empty());
  EXPECT_EQ(trace.ranks[0].comm[1].group, trace.ranks[1].comm[0].group);
}

TEST(AssembleTest, AnUnstatedWorldIsTheLeastThatHoldsAllAndSaid) {
  std::vector<std::string> notices;
  ASSERT_OK_AND_ASSIGN(const Trace trace,
                       AssembleTrace({Rank(0, {{"x", "", {0, 5}}}, {0})}, 0, &notices));
  EXPECT_EQ(trace.world_size, 6);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("6 is assumed"), std::string::npos);
}

TEST(AssembleTest, ARankThatUsesAGroupWithoutItIsSaid) {
  std::vector<std::string> notices;
  ASSERT_OK_AND_ASSIGN(const Trace trace,
                       AssembleTrace({Rank(0, {{"x", "", {1, 2}}}, {0})}, 3, &notices));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("rank 0 uses process group \"x\""), std::string::npos);
}

TEST(AssembleTest, AGroupWithAMemberBeyondTheWorldKeepsItAndIsNamed) {
  std::vector<std::string> notices;
  ASSERT_OK_AND_ASSIGN(const Trace trace,
                       AssembleTrace({Rank(0, {{"x", "", {0, 9}}}, {})}, 4, &notices));
  EXPECT_EQ(trace.world_size, 4);
  ASSERT_EQ(trace.groups.size(), 2u);
  EXPECT_EQ(trace.groups[1].ranks, (std::vector<int32_t>{0, 9}));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0], "process group \"x\": member 9 is not in [0, 4), the world");
}

TEST(AssembleTest, AMemberBeyondAnyMachineDoesNotMakeTheWorld) {
  std::vector<std::string> notices;
  ASSERT_OK_AND_ASSIGN(const Trace trace,
                       AssembleTrace({Rank(1, {{"x", "", {0, INT32_MAX}}}, {})}, 0, &notices));
  EXPECT_EQ(trace.world_size, 2);
  EXPECT_EQ(notices.size(), 2u);  // The world is assumed; the member is not in it.
}

TEST(AssembleTest, RanksOutsideTheWorldOrTwiceAreRefused) {
  std::vector<std::string> notices;
  EXPECT_THAT(AssembleTrace({}, 2, &notices),
              StatusIs(absl::StatusCode::kInvalidArgument, "ranks: none"));
  EXPECT_THAT(AssembleTrace({Rank(70, {}, {})}, 64, &notices),
              StatusIs(absl::StatusCode::kInvalidArgument, "rank: 70 is not in [0, 64)"));
  EXPECT_THAT(AssembleTrace({Rank(1, {}, {}), Rank(1, {}, {})}, 2, &notices),
              StatusIs(absl::StatusCode::kInvalidArgument, "rank: 1 occurs twice"));
  EXPECT_THAT(AssembleTrace({Rank(0, {}, {})}, INT32_MAX, &notices),
              StatusIs(absl::StatusCode::kInvalidArgument, "world_size: 2147483647"));
  EXPECT_THAT(AssembleTrace({Rank(INT32_MAX, {}, {})}, 0, &notices),
              StatusIs(absl::StatusCode::kInvalidArgument, "rank: 2147483647"));
}

}  // namespace
}  // namespace chakrad
