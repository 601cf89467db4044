// The analyses of communication over traces that are as odd as their types allow: times over
// all 64 bits, groups that do not hold their ranks, peers that do not exist.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/breakdown/time_breakdown.h"
#include "analysis/clocks/clock_offsets.h"
#include "analysis/collectives/collective_stats.h"
#include "analysis/groups/group_stats.h"
#include "analysis/skew/skew.h"
#include "analysis/timeline/timeline.h"
#include "common/saturating.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

// Everything on one timeline; what must hold of any.
void Analyse(const JobTimeline& job) {
  const MatchedComm matches = MatchComm(job);
  int64_t count = 0;
  for (const CollectiveStats& stats : ComputeCollectiveStats(job, matches)) {
    count += stats.count;
    EXPECT_LE(stats.instances_count, stats.count);
    EXPECT_LE(stats.min_ps, stats.median_ps);
    EXPECT_LE(stats.median_ps, stats.max_ps);
    EXPECT_LE(stats.exposed_ps, stats.total_ps);
    EXPECT_TRUE(std::isfinite(stats.algorithm_bandwidth) && stats.algorithm_bandwidth >= 0);
    EXPECT_TRUE(std::isfinite(stats.bus_bandwidth) && stats.bus_bandwidth >= 0);
  }
  int64_t comm_ps = 0, exposed_ps = 0, groups_count = 0, groups_comm_ps = 0, groups_exposed_ps = 0;
  for (const TimeBreakdown& rank : BreakDownTime(job)) {
    comm_ps = SaturatingAdd(comm_ps, rank.comm_ps);
    exposed_ps = SaturatingAdd(exposed_ps, rank.exposed_comm_ps);
  }
  for (const GroupStats& group : ComputeGroupStats(job)) {
    groups_count += group.count;
    groups_comm_ps = SaturatingAdd(groups_comm_ps, group.comm_ps);
    groups_exposed_ps = SaturatingAdd(groups_exposed_ps, group.exposed_ps);
    EXPECT_FALSE(group.reason.empty());
  }
  EXPECT_LE(count, groups_count);  // Some operations are nothing but a time.
  EXPECT_EQ(groups_comm_ps, comm_ps);
  EXPECT_EQ(groups_exposed_ps, exposed_ps);
  const SkewStats skew = ComputeSkew(job, matches, 3);
  EXPECT_LE(skew.worst.size(), 3u);
  EXPECT_GE(skew.wait_ps, 0);
  EXPECT_TRUE(std::isfinite(skew.mean_skew_ps) && std::isfinite(skew.mean_wait_ps));
}

void AnalyseAndAlign(const Trace& trace) {
  absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
  if (!job.ok()) return;  // No times at all.
  Analyse(*job);
  for (const bool simulated : {false, true}) {
    JobTimeline other = *job;
    other.simulated = simulated;
    EstimateAndAlign(true, &other);
    Analyse(other);
    for (const RankTimeline& rank : other.ranks) {
      EXPECT_GE(rank.start_ps, 0);
      for (const TimelineInterval& interval : rank.intervals) {
        EXPECT_GE(interval.start_ps, rank.start_ps);
        EXPECT_LE(interval.end_ps, rank.end_ps);
        EXPECT_LT(interval.start_ps, interval.end_ps);
      }
    }
  }
}

TEST(HostileCommTest, TracesOfAnyColumnsAreAnalysed) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    AnalyseAndAlign(RandomTrace(seed, 4, 200));
  }
}

TEST(HostileCommTest, TimesAndGroupsOfAnyBitsAreAnalysed) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Trace trace;
    trace.world_size = 3;
    if (seed % 2 == 0) trace.groups = {{"world", "", {0, 1, 2}}, {"", "", {2, 2, -7, 1}}};
    for (int32_t rank = 0; rank < 3; ++rank) {
      trace.ranks.push_back(RandomRank(seed * 3 + static_cast<uint64_t>(rank), 200, false, 4));
      trace.ranks.back().rank = rank;
    }
    AnalyseAndAlign(trace);
  }
}

}  // namespace
}  // namespace chakrad
