#include "analysis/groups/group_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/exposed_comm.h"
#include "analysis/testing/fake_job.h"
#include "common/status_matchers.h"

namespace chakrad {
namespace {

using ::testing::SizeIs;
using Type = CollectiveType;

constexpr int64_t kNs = 1000;  // Picoseconds.

// The example of docs/analysis.md#groups, in nanoseconds:
//
//   compute  |####............|   [0, 40)
//   tp       |..######........|   [20, 80)
//   dp       |......######....|   [60, 120)
//
// tp is charged [20, 80), of which [40, 80) is exposed; dp [80, 120).
TEST(GroupStatsTest, AMomentIsChargedToTheGroupThatBeganFirst) {
  FakeJob fake(4);
  const uint32_t tp = fake.AddGroup("tp", {0, 1});
  const uint32_t dp = fake.AddGroup("dp", {0, 2});
  fake.Compute(0, 0, 40);
  fake.Collective(0, dp, Type::kAllReduce, 500, 60, 120);
  fake.Collective(0, tp, Type::kAllReduce, 100, 20, 80);
  const std::vector<GroupStats> all = ComputeGroupStats(fake.Timeline());
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].group, tp);
  EXPECT_EQ(all[0].count, 1);
  EXPECT_EQ(all[0].bytes, 100);
  EXPECT_EQ(all[0].total_ps, 60 * kNs);
  EXPECT_EQ(all[0].comm_ps, 60 * kNs);
  EXPECT_EQ(all[0].exposed_ps, 40 * kNs);
  EXPECT_EQ(all[1].total_ps, 60 * kNs);
  EXPECT_EQ(all[1].comm_ps, 40 * kNs);
  EXPECT_EQ(all[1].exposed_ps, 40 * kNs);
  EXPECT_EQ(all[1].parallelism, Parallelism::kData);

  const std::vector<ParallelismStats> kinds = SumByParallelism(all);
  ASSERT_THAT(kinds, SizeIs(2));
  EXPECT_EQ(kinds[0].parallelism, Parallelism::kData);
  EXPECT_EQ(kinds[1].exposed_ps, 40 * kNs);
  EXPECT_EQ(kinds[1].groups_count, 1);
}

TEST(GroupStatsTest, OfTwoThatBeginTogetherTheLowerGroupIsCharged) {
  FakeJob fake(2);
  const uint32_t a = fake.AddGroup("a", {0, 1});
  const uint32_t b = fake.AddGroup("b", {0, 1});
  fake.Collective(0, b, Type::kAllReduce, 8, 0, 10);
  fake.Collective(0, a, Type::kAllReduce, 8, 0, 30);
  const std::vector<GroupStats> all = ComputeGroupStats(fake.Timeline());
  EXPECT_EQ(all[0].exposed_ps, 30 * kNs);
  EXPECT_EQ(all[1].exposed_ps, 0);
}

// Whatever overlaps, the groups' times add up to what the breakdown says.
TEST(GroupStatsTest, SumsOverGroupsAreTheRanksCommunication) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](uint32_t n) { return static_cast<int64_t>(random() % n); };
    FakeJob fake(3);
    for (const char* name : {"a", "b", "c"}) fake.AddGroup(name, {0, 1, 2});
    for (int32_t rank = 0; rank < 3; ++rank) {
      for (int i = 0; i < 40; ++i) {
        const int64_t start_ns = below(300), end_ns = start_ns + below(40);
        if (below(2) == 0) {
          fake.Compute(rank, start_ns, end_ns);
        } else {
          fake.Collective(rank, static_cast<uint32_t>(below(4)), Type::kAllReduce, 8, start_ns,
                          end_ns);
        }
      }
    }
    const JobTimeline job = fake.Timeline();
    int64_t comm_ps = 0, exposed_ps = 0;
    for (const RankTimeline& rank : job.ranks) {
      ASSERT_OK_AND_ASSIGN(const RankBreakdown breakdown,
                           ComputeRankBreakdown(rank.rank, rank.end_ps, rank.intervals));
      comm_ps += breakdown.comm_ps;
      exposed_ps += breakdown.exposed_comm_ps;
    }
    for (const GroupStats& group : ComputeGroupStats(job)) {
      comm_ps -= group.comm_ps;
      exposed_ps -= group.exposed_ps;
    }
    EXPECT_EQ(comm_ps, 0) << "seed " << seed;
    EXPECT_EQ(exposed_ps, 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace chakrad
