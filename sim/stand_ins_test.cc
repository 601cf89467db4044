// Ranks that a trace lacks, stood in for by copies of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/status_matchers.h"
#include "sim/simulate.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SystemDescription Ring(int32_t npus_count) {
  return TestSystem({{TopologyKind::kRing, npus_count, 50, 500}});
}

SimOptions Replicate() {
  SimOptions options;
  options.replicate_missing_ranks = true;
  return options;
}

TEST(StandInsTest, StandInsRunTheNearestTracedRankBelow) {
  // Ranks 1 and 4 of 6 are there: 0 takes the lowest, 2 and 3 take 1, 5 takes 4.
  TraceMaker maker(6);
  for (int32_t rank = 0; rank < 6; ++rank) maker.Comp(rank, 1, 100 * (rank + 1));
  ASSERT_OK_AND_ASSIGN(const SimResult result,
                       Simulate(maker.Make({0, 2, 3, 5}), Ring(6), Replicate(), nullptr));
  std::vector<int64_t> ends_ns;
  for (const RankEnd& rank : result.ranks) ends_ns.push_back(rank.end_ps / kPsPerNs);
  EXPECT_THAT(ends_ns, ElementsAre(200, 200, 200, 200, 500, 500));
  EXPECT_EQ(result.stand_in_by_rank,
            (std::vector<std::pair<int32_t, int32_t>>{{0, 1}, {2, 1}, {3, 1}, {5, 4}}));
  EXPECT_EQ(result.nodes_count, 6);
  ASSERT_EQ(result.notices.size(), 1u);
  EXPECT_THAT(result.notices[0], HasSubstr("4 ranks are missing"));
}

TEST(StandInsTest, StandInsGiveTheSameTimesAsTheirOriginals) {
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, 4 << 20);
  const Trace whole = maker.Make();
  Trace part = whole;
  part.ranks.resize(1);
  ASSERT_OK_AND_ASSIGN(const SimResult all, Simulate(whole, Ring(4), SimOptions(), nullptr));
  ASSERT_OK_AND_ASSIGN(const SimResult one, Simulate(part, Ring(4), Replicate(), nullptr));
  EXPECT_EQ(all.ranks, one.ranks);
}

TEST(StandInsTest, AStandInUsesItsOwnGroupOfTheSameSize) {
  // Rank 0 alone is traced, in tp {0, 1}; ranks 2 and 3 find {2, 3}.
  TraceMaker maker(4);
  const uint32_t low = maker.AddGroup("low", {0, 1});
  maker.AddGroup("high", {2, 3});
  maker.Collective(0, 1, CollectiveType::kAllReduce, 2048, low);
  ASSERT_OK_AND_ASSIGN(const SimResult result,
                       Simulate(maker.Make({1, 2, 3}), Ring(4), Replicate(), nullptr));
  // 2 steps of 1 KiB, D = trunc(519.07): 10 + 2 * 529.
  for (const RankEnd& rank : result.ranks) EXPECT_EQ(rank.end_ps, 1'068 * kPsPerNs);
}

TEST(StandInsTest, AStandInWithoutOrWithTwoFittingGroupsIsRefused) {
  const auto run = [](bool second) {
    TraceMaker maker(4);
    const uint32_t low = maker.AddGroup("low", {0, 1});
    if (second) {
      maker.AddGroup("a", {2, 3});
      maker.AddGroup("b", {2, 0});
    }
    maker.Collective(0, 1, CollectiveType::kAllReduce, 2048, low);
    return Simulate(maker.Make({1, 2, 3}), Ring(4), Replicate(), nullptr).status();
  };
  EXPECT_THAT(run(false), StatusIs(StatusCode::kInvalidArgument,
                                   "rank 2 is missing and rank 0 cannot stand in for it: of group "
                                   "\"low\" (entry 1) it is not a member, and no group of 2"));
  EXPECT_THAT(run(true), StatusIs(StatusCode::kInvalidArgument, "and 2 groups of 2 ranks hold it"));
}

TEST(StandInsTest, SendsCannotBeReplicated) {
  TraceMaker maker(3);
  maker.Send(0, 1, 1, 8);
  maker.Receive(1, 1, 0, 8);
  EXPECT_THAT(Simulate(maker.Make({2}), Ring(3), Replicate(), nullptr),
              StatusIs(StatusCode::kInvalidArgument,
                       "rank 0, node 1 (send): sends and receives have a fixed peer"));
}

TEST(StandInsTest, TwoGroupsThatWouldBeOneAreRefused) {
  TraceMaker maker(4);
  const uint32_t a = maker.AddGroup("a", {0, 1});
  const uint32_t b = maker.AddGroup("b", {1, 0});
  maker.AddGroup("c", {2, 3});
  for (int32_t rank = 0; rank < 2; ++rank) {
    maker.Collective(rank, 1, CollectiveType::kAllReduce, 8, a);
    maker.Collective(rank, 2, CollectiveType::kAllReduce, 8, b, {1});
  }
  SimOptions options;
  options.replicate_missing_ranks = true;
  const Trace trace = maker.Make({2, 3});
  EXPECT_THAT(
      Simulate(trace, TestSystem({{TopologyKind::kRing, 4, 1, 1}}), options, nullptr).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "groups \"a\" (entry 1) and \"b\" (entry 2) would both be \"c\""));
}

}  // namespace
}  // namespace chakrad
