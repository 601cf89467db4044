#include "analysis/collectives/collective_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "analysis/collectives/size_bucket.h"
#include "analysis/testing/fake_job.h"
#include "trace/model/comm_bytes.h"

namespace chakrad {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Type = CollectiveType;

constexpr int64_t kNs = 1000;  // Picoseconds.

std::vector<CollectiveStats> StatsOf(const JobTimeline& job) {
  return ComputeCollectiveStats(job, MatchComm(job));
}

TEST(SizeBucketTest, BoundsAreInclusiveAndOutOfRangeSizesHaveABucketToo) {
  EXPECT_EQ(SizeBucketOf(65536), "le_64KiB");
  EXPECT_EQ(SizeBucketOf(65537), "le_256KiB");
  EXPECT_EQ(SizeBucketOf(0), "le_1KiB");
  EXPECT_EQ(SizeBucketOf(-5), "le_1KiB");
  EXPECT_EQ(SizeBucketOf(int64_t{1} << 30), "le_1GiB");
  EXPECT_EQ(SizeBucketOf((int64_t{1} << 30) + 1), "gt_1GiB");
  EXPECT_EQ(SizeBucketOf(INT64_MAX), "gt_1GiB");
}

// n = 4, 100 bytes; the factors of nccl-tests' doc/PERFORMANCE.md.
TEST(CommBytesTest, FactorsAreThoseOfNcclTests) {
  struct Case {
    Type type;
    double algorithm, bus;
  };
  for (const Case& c :
       {Case{Type::kAllReduce, 100, 150}, Case{Type::kAllGather, 400, 300},
        Case{Type::kReduceScatter, 100, 75}, Case{Type::kAllToAll, 100, 75},
        Case{Type::kBroadcast, 100, 100}, Case{Type::kReduce, 100, 100},
        Case{Type::kGather, 400, 300}, Case{Type::kScatter, 100, 75}, Case{Type::kBarrier, 0, 0}}) {
    EXPECT_EQ(AlgorithmBytes(c.type, 100, 4), c.algorithm) << CollectiveTypeName(c.type);
    EXPECT_EQ(BusBytes(c.type, 100, 4), c.bus) << CollectiveTypeName(c.type);
    EXPECT_EQ(BusBytes(c.type, 100, 1), 0) << CollectiveTypeName(c.type);
  }
}

// The example of docs/analysis.md#collectives, in nanoseconds:
//
//   rank 0 compute     |####......|   [0, 40)
//          all-reduce  |..########|   [20, 100)
//   rank 1 compute     |######....|   [0, 60)
//          all-reduce  |......####|   [60, 100)
TEST(CollectiveStatsTest, AnAllReduceIsTimedFromItsLastJoin) {
  FakeJob fake(2);
  fake.Compute(0, 0, 40);
  fake.Collective(0, kWorldGroup, Type::kAllReduce, 4000, 20, 100);
  fake.Compute(1, 0, 60);
  fake.Collective(1, kWorldGroup, Type::kAllReduce, 4000, 60, 100);
  const std::vector<CollectiveStats> all = StatsOf(fake.Timeline());
  ASSERT_THAT(all, SizeIs(1));
  const CollectiveStats& stats = all[0];
  EXPECT_EQ(stats.type, "ALL_REDUCE");
  EXPECT_EQ(stats.size_bucket, "le_4KiB");
  EXPECT_EQ(stats.count, 2);
  EXPECT_EQ(stats.instances_count, 1);
  EXPECT_EQ(stats.bytes, 8000);
  EXPECT_EQ(stats.total_ps, (80 + 40) * kNs);
  EXPECT_EQ(stats.exposed_ps, (60 + 40) * kNs);
  EXPECT_EQ(stats.min_ps, 40 * kNs);
  EXPECT_EQ(stats.median_ps, 40 * kNs);  // The lower one of two.
  EXPECT_EQ(stats.max_ps, 80 * kNs);
  // 4,000 bytes in [60, 100) = 40 ns: 100 GB/s; times 2 (2-1)/2 = 1.
  EXPECT_DOUBLE_EQ(stats.algorithm_bandwidth, 100e9);
  EXPECT_DOUBLE_EQ(stats.bus_bandwidth, 100e9);
}

// Rank 1 alone would say 4,000 bytes in 40 ns; rank 0 alone says 80 ns.
TEST(CollectiveStatsTest, WithAMemberMissingAnOperationHasItsOwnTime) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kAllReduce, 4000, 20, 100);
  fake.Collective(1, kWorldGroup, Type::kAllReduce, 4000, 60, 100);
  fake.Timeline();
  JobTimeline job = fake.Timeline({0});
  const MatchedComm matches = MatchComm(job);
  const std::vector<CollectiveStats> all = ComputeCollectiveStats(job, matches);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_DOUBLE_EQ(all[0].algorithm_bandwidth, 50e9);
  ASSERT_THAT(matches.notices, SizeIs(1));
  EXPECT_THAT(matches.notices[0],
              HasSubstr("members that are not looked at: 1 (up to 1 of one group)"));
}

// All bytes over all time, not the mean of two bandwidths: 1,000 bytes in 10 ns and in 90 ns.
TEST(CollectiveStatsTest, SlowInstancesCountByTheirTime) {
  FakeJob fake(1);
  const uint32_t group = fake.AddGroup("pair", {0, 1});
  fake.Collective(0, group, Type::kBroadcast, 1000, 0, 10);
  fake.Collective(0, group, Type::kBroadcast, 1000, 10, 100);
  EXPECT_DOUBLE_EQ(StatsOf(fake.Timeline())[0].algorithm_bandwidth, 20e9);
}

// Rank 1's clock is late by 1,000 ns: by it, it joined after rank 0 was through.
TEST(CollectiveStatsTest, WhereClocksDisagreeTheShorterTimesAreNotNegative) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kAllReduce, 4000, 20, 100);
  fake.Collective(1, kWorldGroup, Type::kAllReduce, 4000, 1060, 1070);
  const CollectiveStats stats = StatsOf(fake.Timeline())[0];
  EXPECT_DOUBLE_EQ(stats.algorithm_bandwidth, 400e9);  // [1060, 1070).
}

// Of the pair 1,000 bytes in 10 ns; the others take 90 ns, and have no bus, or one nobody knows.
TEST(CollectiveStatsTest, GroupsOfOneRankOrUnknownOnesDoNotDiluteBandwidth) {
  FakeJob fake(2);
  const uint32_t pair = fake.AddGroup("pair", {0, 1});
  fake.Collective(0, pair, Type::kAllReduce, 1000, 0, 10);
  fake.Collective(0, fake.AddGroup("unknown", {}), Type::kAllReduce, 1000, 10, 100);
  CollectiveStats stats = StatsOf(fake.Timeline())[0];
  EXPECT_EQ(stats.count, 2);
  EXPECT_DOUBLE_EQ(stats.algorithm_bandwidth, 100e9);
  EXPECT_DOUBLE_EQ(stats.bus_bandwidth, 100e9);

  FakeJob with_alone(2);
  with_alone.AddGroup("pair", {0, 1});
  with_alone.Collective(0, pair, Type::kAllReduce, 1000, 0, 10);
  with_alone.Collective(0, with_alone.AddGroup("alone", {0}), Type::kAllReduce, 1000, 10, 100);
  stats = StatsOf(with_alone.Timeline())[0];
  EXPECT_DOUBLE_EQ(stats.algorithm_bandwidth, 20e9);
  EXPECT_DOUBLE_EQ(stats.bus_bandwidth, 100e9);
}

// Rank 0 sends less than rank 1: the exchange is as large as its largest part.
TEST(CollectiveStatsTest, AnUnevenAllToAllHasTheBytesOfItsLargestMember) {
  FakeJob fake(2);
  fake.Collective(0, kWorldGroup, Type::kAllToAll, 3000, 0, 40);
  fake.Collective(1, kWorldGroup, Type::kAllToAll, 4000, 0, 40);
  EXPECT_DOUBLE_EQ(StatsOf(fake.Timeline())[0].algorithm_bandwidth, 100e9);
}

// send     |####......|  rank 0 [0, 40)
// receive  |..########|  rank 1 [20, 100): 4,000 bytes in [20, 100).
TEST(CollectiveStatsTest, AMessageIsTimedFromWhenBothEndsAreThere) {
  FakeJob fake(2);
  fake.Send(0, 1, 4000, 0, 40);
  fake.Receive(1, 0, 4000, 20, 100);
  const std::vector<CollectiveStats> all = StatsOf(fake.Timeline());
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].type, "SEND");
  EXPECT_EQ(all[1].type, "RECV");
  for (const CollectiveStats& stats : all) {
    EXPECT_DOUBLE_EQ(stats.algorithm_bandwidth, 50e9);
    EXPECT_DOUBLE_EQ(stats.bus_bandwidth, 50e9);
    EXPECT_EQ(stats.instances_count, 1);
  }
}

TEST(CollectiveStatsTest, TypesAndSizesAreToldApartInAFixedOrder) {
  FakeJob fake(1);
  const uint32_t group = fake.AddGroup("pair", {0, 1});
  fake.Collective(0, group, Type::kAllGather, 5000, 50, 60);
  fake.Collective(0, group, Type::kAllReduce, 5000, 0, 10);
  fake.Collective(0, group, Type::kAllReduce, 100, 10, 12);
  fake.Collective(0, group, Type::kBarrier, 0, 20, 30);
  std::vector<std::string> rows;
  for (const CollectiveStats& stats : StatsOf(fake.Timeline())) {
    rows.push_back(std::string(stats.type) + " " + std::string(stats.size_bucket));
  }
  EXPECT_THAT(rows, ::testing::ElementsAre("ALL_REDUCE le_1KiB", "ALL_REDUCE le_16KiB",
                                           "ALL_GATHER le_16KiB", "BARRIER le_1KiB"));
}

// [0, 100) cut to [50, 100): half of the time, none of it exposed; its bandwidth stays.
TEST(CollectiveStatsTest, APartCutsTimesAndNotBandwidth) {
  FakeJob fake(1);
  fake.Compute(0, 50, 200);
  fake.Collective(0, fake.AddGroup("pair", {0, 1}), Type::kAllReduce, 1000, 0, 100);
  const JobTimeline whole = fake.Timeline();
  const JobTimeline part = CutTimeline(whole, {50 * kNs}, {100 * kNs});
  const std::vector<CollectiveStats> all = ComputeCollectiveStats(part, MatchComm(whole));
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].total_ps, 50 * kNs);
  EXPECT_EQ(all[0].exposed_ps, 0);
  EXPECT_DOUBLE_EQ(all[0].algorithm_bandwidth, 10e9);
}

// Against counting nanosecond by nanosecond.
TEST(CollectiveStatsTest, TimesAreThoseOfCountingEachNanosecond) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](uint32_t n) { return static_cast<int64_t>(random() % n); };
    FakeJob fake(2);
    std::map<std::string, std::vector<int64_t>> times_ns;
    std::map<std::string, int64_t> exposed_ns;
    for (int32_t rank = 0; rank < 2; ++rank) {
      std::vector<bool> computes(400, false);
      for (int i = 0; i < 15; ++i) {
        const int64_t start_ns = below(300), end_ns = start_ns + below(30);
        fake.Compute(rank, start_ns, end_ns);
        std::fill(computes.begin() + start_ns, computes.begin() + end_ns, true);
      }
      for (int i = 0; i < 20; ++i) {
        const Type type = below(2) == 0 ? Type::kAllReduce : Type::kAllToAll;
        const int64_t bytes = 1 << below(20), start_ns = below(300);
        const int64_t end_ns = start_ns + 1 + below(60);
        fake.Collective(rank, kWorldGroup, type, bytes, start_ns, end_ns);
        const std::string row = absl::StrCat(CollectiveTypeName(type), SizeBucketOf(bytes));
        times_ns[row].push_back(end_ns - start_ns);
        for (int64_t at_ns = start_ns; at_ns < end_ns; ++at_ns) {
          exposed_ns[row] += computes[static_cast<size_t>(at_ns)] ? 0 : 1;
        }
      }
    }
    const std::vector<CollectiveStats> all = StatsOf(fake.Timeline());
    ASSERT_EQ(all.size(), times_ns.size());
    for (const CollectiveStats& stats : all) {
      const std::string row = absl::StrCat(stats.type, stats.size_bucket);
      std::vector<int64_t>& sorted = times_ns[row];
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(stats.count, static_cast<int64_t>(sorted.size())) << "seed " << seed;
      EXPECT_EQ(stats.min_ps, sorted.front() * kNs);
      EXPECT_EQ(stats.median_ps, sorted[(sorted.size() - 1) / 2] * kNs);
      EXPECT_EQ(stats.max_ps, sorted.back() * kNs);
      EXPECT_EQ(stats.total_ps, std::accumulate(sorted.begin(), sorted.end(), int64_t{0}) * kNs);
      EXPECT_EQ(stats.exposed_ps, exposed_ns[row] * kNs) << "seed " << seed << " " << row;
    }
  }
}

TEST(CollectiveStatsTest, WithoutCommunicationThereIsNothing) {
  FakeJob fake(1);
  fake.Compute(0, 0, 10);
  EXPECT_THAT(StatsOf(fake.Timeline()), SizeIs(0));
}

}  // namespace
}  // namespace chakrad
