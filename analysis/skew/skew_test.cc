#include "analysis/skew/skew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/testing/fake_job.h"

namespace chakrad {
namespace {

using ::testing::SizeIs;
using Type = CollectiveType;

constexpr int64_t kNs = 1000;  // Picoseconds.

SkewStats SkewOf(const JobTimeline& job, size_t top = 20) {
  return ComputeSkew(job, MatchComm(job), top);
}

// The example of docs/analysis.md#stragglers-and-skew, in nanoseconds:
//
//   rank 0  |..########....#####|   [20, 100)  [140, 190)
//   rank 1  |......####....#####|   [60, 100)  [140, 190)
//   rank 2  |....######......###|   [40, 100)  [160, 190)
//
// Rank 1 is last in the first: the others wait 40 and 20. Rank 2 in the second: 20 and 20.
FakeJob Example() {
  FakeJob fake(3);
  const int64_t joins_ns[3][2] = {{20, 140}, {60, 140}, {40, 160}};
  for (int32_t rank = 0; rank < 3; ++rank) {
    fake.Collective(rank, kWorldGroup, Type::kAllReduce, 8, joins_ns[rank][0], 100);
    fake.Collective(rank, kWorldGroup, Type::kAllReduce, 8, joins_ns[rank][1], 190);
  }
  return fake;
}

TEST(SkewTest, WaitsAreChargedToWhoJoinedLast) {
  FakeJob fake = Example();
  const SkewStats stats = SkewOf(fake.Timeline());
  EXPECT_EQ(stats.instances_count, 2);
  EXPECT_EQ(stats.wait_ps, 100 * kNs);
  EXPECT_DOUBLE_EQ(stats.mean_wait_ps, 100.0 * kNs / 3);
  EXPECT_EQ(stats.max_skew_ps, 40 * kNs);
  EXPECT_DOUBLE_EQ(stats.mean_skew_ps, 30.0 * kNs);
  ASSERT_THAT(stats.ranks, SizeIs(3));
  EXPECT_EQ(stats.ranks[0].last_count, 0);
  EXPECT_EQ(stats.ranks[0].wait_ps, 60 * kNs);
  EXPECT_EQ(stats.ranks[1].last_count, 1);
  EXPECT_EQ(stats.ranks[1].caused_wait_ps, 60 * kNs);
  EXPECT_EQ(stats.ranks[1].wait_ps, 20 * kNs);
  EXPECT_EQ(stats.ranks[2].last_count, 1);
  EXPECT_EQ(stats.ranks[2].caused_wait_ps, 40 * kNs);
  EXPECT_EQ(stats.ranks[2].wait_ps, 20 * kNs);
  ASSERT_THAT(stats.worst, SizeIs(2));
  EXPECT_EQ(stats.worst[0].last_rank, 1);
  EXPECT_EQ(stats.worst[0].first_rank, 0);
  EXPECT_EQ(stats.worst[0].first_join_ps, 20 * kNs);
  EXPECT_EQ(stats.worst[0].last_join_ps, 60 * kNs);
  EXPECT_EQ(stats.worst[1].skew_ps(), 20 * kNs);
}

TEST(SkewTest, OnlyTheWorstAreListed) {
  FakeJob fake = Example();
  const SkewStats stats = SkewOf(fake.Timeline(), 1);
  ASSERT_THAT(stats.worst, SizeIs(1));
  EXPECT_EQ(stats.worst[0].skew_ps(), 40 * kNs);
  EXPECT_EQ(stats.instances_count, 2);
}

TEST(SkewTest, ACollectiveCountsInThePartInWhichItIsJoinedLast) {
  FakeJob fake = Example();
  const JobTimeline whole = fake.Timeline();
  const MatchedComm matches = MatchComm(whole);
  const auto part = [&](int64_t from_ns, int64_t to_ns) {
    return ComputeSkew(CutTimeline(whole, std::vector<int64_t>(3, from_ns * kNs),
                                   std::vector<int64_t>(3, to_ns * kNs)),
                       matches, 20);
  };
  EXPECT_EQ(part(0, 150).wait_ps, 60 * kNs);
  EXPECT_EQ(part(150, 200).wait_ps, 40 * kNs);
  EXPECT_EQ(part(61, 150).instances_count, 0);
}

TEST(SkewTest, WhoeverSendsAndLeavesWaitsForNobody) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kBroadcast, 8, 0, 10);
  fake.Collective(1, kWorldGroup, Type::kBroadcast, 8, 500, 510);
  EXPECT_EQ(SkewOf(fake.Timeline()).instances_count, 0);
}

// By its clock rank 0 ended 60 ns before rank 1 joined: it waited for all of its 40 ns.
TEST(SkewTest, NobodyWaitsLongerThanItsOwnOperation) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kAllReduce, 8, 0, 40);
  fake.Collective(1, kWorldGroup, Type::kAllReduce, 8, 100, 140);
  const SkewStats stats = SkewOf(fake.Timeline());
  EXPECT_EQ(stats.wait_ps, 40 * kNs);
  EXPECT_EQ(stats.max_skew_ps, 100 * kNs);
}

TEST(SkewTest, ARankAloneWaitsForNobodyThatIsKnown) {
  FakeJob fake = Example();
  fake.Timeline();
  const SkewStats stats = SkewOf(fake.Timeline({1}));
  EXPECT_EQ(stats.instances_count, 0);
  EXPECT_EQ(stats.mean_skew_ps, 0);
  EXPECT_EQ(stats.mean_wait_ps, 0);
}

TEST(SkewTest, WhatIsCausedIsWhatIsWaited) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](uint32_t n) { return static_cast<int64_t>(random() % n); };
    FakeJob fake(4);
    const uint32_t some = fake.AddGroup("some", {0, 2, 3});
    for (int32_t rank = 0; rank < 4; ++rank) {
      for (int64_t i = 0; i < 30; ++i) {
        const int64_t start_ns = 1000 * i + below(500);
        const uint32_t group = rank == 1 || i % 3 > 0 ? kWorldGroup : some;
        fake.Collective(rank, group, i % 5 == 0 ? Type::kBroadcast : Type::kAllReduce, 8, start_ns,
                        start_ns + below(400));
      }
    }
    const SkewStats stats = SkewOf(fake.Timeline());
    int64_t caused_ps = 0, waited_ps = 0, last_count = 0;
    for (const RankSkew& rank : stats.ranks) {
      caused_ps += rank.caused_wait_ps;
      waited_ps += rank.wait_ps;
      last_count += rank.last_count;
    }
    EXPECT_GT(stats.instances_count, 0);
    EXPECT_EQ(caused_ps, stats.wait_ps) << "seed " << seed;
    EXPECT_EQ(waited_ps, stats.wait_ps) << "seed " << seed;
    EXPECT_EQ(last_count, stats.instances_count) << "seed " << seed;
  }
}

}  // namespace
}  // namespace chakrad
