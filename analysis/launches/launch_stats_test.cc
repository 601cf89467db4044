#include "analysis/launches/launch_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/timeline/testing/rank_sketch.h"
#include "trace/model/rank_trace.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kNs = 1000;

LaunchStats Stats(RankSketch* sketch) {
  const Trace trace = SketchTrace({sketch->Build()});
  absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
  EXPECT_TRUE(job.ok()) << job.status();
  return StatsOfLaunches(job->ranks.at(0));
}

// The example of docs/analysis.md#launches.
// host      op1 0-10, op2 20-30, op3 30-40
// stream 7  k1 of op1 12-50, k2 of op2 50-60, k3 of op3 60-80
// Delays 12, 30, 30. Length: 1 from 0, 2 from 20, 3 from 30, 2 from 50, 1 from 60, 0 from 80:
// (20 * 1 + 10 * 2 + 20 * 3 + 10 * 2 + 20 * 1) / 80 = 1.75.
TEST(LaunchStatsTest, DelaysLastFromTheHostsStartAndQueuesUntilTheEnd) {
  RankSketch sketch;
  const uint32_t op1 = sketch.Host("op1", 0, 10), op2 = sketch.Host("op2", 20, 30);
  const uint32_t op3 = sketch.Host("op3", 30, 40);
  sketch.Launched(op1, "k1", 12, 50);
  sketch.Launched(op2, "k2", 50, 60);
  sketch.Launched(op3, "k3", 60, 80);
  const LaunchStats got = Stats(&sketch);
  EXPECT_EQ(got.launches_count, 3);
  EXPECT_EQ(got.without_launch_count, 0);
  EXPECT_EQ(got.min_delay_ps, 12 * kNs);
  EXPECT_EQ(got.median_delay_ps, 30 * kNs);
  EXPECT_EQ(got.p99_delay_ps, 30 * kNs);
  EXPECT_EQ(got.max_delay_ps, 30 * kNs);
  EXPECT_DOUBLE_EQ(got.mean_delay_ps, 24 * kNs);
  EXPECT_THAT(got.queues, ElementsAre(QueueLength{1, 1.75, 3, 30 * kNs}));
}

// k2 has no launch; k3 began before its launch: clocks.
TEST(LaunchStatsTest, UnlaunchedOperationsWaitNowhereAndClocksMayDisagree) {
  RankSketch sketch;
  const uint32_t op = sketch.Host("op", 50, 60);
  sketch.Kernel("k2", 0, 20);
  sketch.Launched(op, "k3", 40, 100);
  const LaunchStats got = Stats(&sketch);
  EXPECT_EQ(got.launches_count, 1);
  EXPECT_EQ(got.without_launch_count, 1);
  EXPECT_EQ(got.negative_delays_count, 1);
  EXPECT_EQ(got.min_delay_ps, -10 * kNs);
  EXPECT_THAT(got.queues, ElementsAre(QueueLength{1, 0.8, 1, 0}));
}

TEST(LaunchStatsTest, HostThreadsHaveNoQueueLength) {
  RankSketch sketch;
  sketch.Host("op", 0, 10);
  const LaunchStats got = Stats(&sketch);
  EXPECT_EQ(got.launches_count + got.without_launch_count, 0);
  EXPECT_TRUE(got.queues.empty());
  EXPECT_EQ(got.mean_delay_ps, 0);
}

// The first example, cut to 45-80: all was launched before. Length: 3 from 45, 2 from 50, 1 from
// 60: (5 * 3 + 10 * 2 + 20) / 35.
TEST(LaunchStatsTest, InAPartLaunchesBeforeItCount) {
  RankSketch sketch;
  const uint32_t op1 = sketch.Host("op1", 0, 10), op2 = sketch.Host("op2", 20, 30);
  const uint32_t op3 = sketch.Host("op3", 30, 40);
  sketch.Launched(op1, "k1", 12, 50);
  sketch.Launched(op2, "k2", 50, 60);
  sketch.Launched(op3, "k3", 60, 80);
  const Trace trace = SketchTrace({sketch.Build()});
  const absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
  ASSERT_TRUE(job.ok());
  const JobTimeline cut = CutTimeline(*job, {45 * kNs}, {80 * kNs});
  const LaunchStats got = StatsOfLaunches(cut.ranks[0], job->ranks[0]);
  EXPECT_EQ(got.launches_count, 3);
  EXPECT_EQ(got.min_delay_ps, 12 * kNs);
  EXPECT_EQ(got.max_delay_ps, 30 * kNs);
  EXPECT_THAT(got.queues, ElementsAre(QueueLength{1, 55.0 / 35, 3, 45 * kNs}));
}

// Percentiles of 1, ..., 200: 100 and 198.
TEST(LaunchStatsTest, PercentilesAreDelaysThatOccurred) {
  RankSketch sketch;
  std::vector<int64_t> delays;
  for (int64_t delay = 1; delay <= 200; ++delay) delays.push_back(delay);
  std::shuffle(delays.begin(), delays.end(), std::mt19937_64(1));
  for (size_t i = 0; i < delays.size(); ++i) {
    const auto at_ns = static_cast<int64_t>(i);
    sketch.Launched(sketch.Host("op", at_ns, at_ns + 1), "k", at_ns + delays[i],
                    at_ns + delays[i] + 1);
  }
  const LaunchStats got = Stats(&sketch);
  EXPECT_EQ(got.median_delay_ps, 100 * kNs);
  EXPECT_EQ(got.p99_delay_ps, 198 * kNs);
  EXPECT_EQ(got.max_delay_ps, 200 * kNs);
}

// Length at each nanosecond, counted.
TEST(LaunchStatsTest, OfRandomLaunchesLengthsEqualCountingEachMoment) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    RankSketch sketch;
    std::vector<std::pair<int64_t, int64_t>> in_queue;
    int64_t first_ns = 1000, last_ns = 0;
    for (int i = 0; i < 10; ++i) {
      const auto launch_ns = static_cast<int64_t>(random() % 80);
      const int64_t start_ns = launch_ns + static_cast<int64_t>(random() % 40);
      const int64_t end_ns = start_ns + 1 + static_cast<int64_t>(random() % 30);
      sketch.Launched(sketch.Host("op", launch_ns, launch_ns + 1), "k", start_ns, end_ns);
      in_queue.emplace_back(launch_ns, end_ns);
      first_ns = std::min(first_ns, launch_ns);
      last_ns = std::max(last_ns, end_ns);
    }
    int64_t sum = 0, max_length = 0, max_at_ns = 0;
    for (int64_t at_ns = first_ns; at_ns < last_ns; ++at_ns) {
      int64_t length = 0;
      for (const auto& [from, to] : in_queue) length += from <= at_ns && at_ns < to;
      sum += length;
      if (length > max_length) {
        max_length = length;
        max_at_ns = at_ns;
      }
    }
    const LaunchStats got = Stats(&sketch);
    ASSERT_EQ(got.queues.size(), 1u);
    EXPECT_EQ(got.queues[0].max_length, max_length);
    EXPECT_EQ(got.queues[0].max_at_ps, max_at_ns * kNs);
    EXPECT_NEAR(got.queues[0].mean_length,
                static_cast<double>(sum) / static_cast<double>(last_ns - first_ns), 1e-9);
  }
}

}  // namespace
}  // namespace chakrad
