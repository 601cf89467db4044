#include "analysis/breakdown/time_breakdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/timeline/testing/rank_sketch.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

constexpr int64_t kNs = 1000;

TimeBreakdown BreakDown(RankSketch* sketch) {
  const Trace trace = SketchTrace({sketch->Build()});
  const absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
  EXPECT_TRUE(job.ok()) << job.status();
  return BreakDownTime(job->ranks.at(0));
}

// compute  |####......####....|  0-40, 100-140
// comm     |..######..........|  20-80
// memory   |.......###........|  70-100
// mark     |##################|  0-180
// Exposed comm 40-80 = 40, exposed memory 80-100 = 20, idle 140-180 = 40, after the last
// operation, when nobody did anything. Overlap: 20 of 60.
TEST(TimeBreakdownTest, CommUnderComputeIsHiddenAndTheRestIsExposed) {
  RankSketch sketch;
  sketch.Kernel("a", 100, 140);
  sketch.Comm(20, 80);
  sketch.Kernel("b", 0, 40);
  sketch.Copy(70, 100);
  sketch.Mark("step", 0, 180);
  const TimeBreakdown got = BreakDown(&sketch);
  EXPECT_EQ(got, (TimeBreakdown{.span_ps = 180 * kNs,
                                .compute_ps = 80 * kNs,
                                .comm_ps = 60 * kNs,
                                .exposed_comm_ps = 40 * kNs,
                                .memory_ps = 30 * kNs,
                                .exposed_memory_ps = 20 * kNs,
                                .idle_ps = 40 * kNs,
                                .idle_other_ps = 40 * kNs}));
  EXPECT_DOUBLE_EQ(got.overlap_ratio(), 1.0 / 3);
}

// The example of docs/analysis.md#idle-by-cause.
// host     |#op1#.op2#.......|op3|....#op4##|   op1 0-30, op2 40-60, op3 (after a sync) 160-170,
//                                               op4 200-240
// stream 7 |...####.######..............#####|   k1 35-70, k2 75-140, k3 (of op3) 180-200,
//                                               k4 (of op4) 245-260
// stream 20|...............................##|  k5 (of op4, after k4) 265-280
// 0-35:    k1 was launched when op1 ended: 30 host, 5 kernel wait.
// 70-75:   k2 had been launched (60): 5 kernel wait.
// 140-180: op3 came after the host had waited for k2: 140-160 sync, 160-170 host (its launch),
//          170-180 kernel wait.
// 200-245: k4: up to 240 host, 5 kernel wait.
// 260-265: k5 waited for k4 on another stream: 5 sync.
TEST(TimeBreakdownTest, IdleTimeHasTheCauseOfWhatEndsIt) {
  RankSketch sketch;
  const uint32_t op1 = sketch.Host("op1", 0, 30), op2 = sketch.Host("op2", 40, 60);
  const uint32_t op3 = sketch.Host("op3", 160, 170), op4 = sketch.Host("op4", 200, 240);
  const uint32_t k1 = sketch.Launched(op1, "k1", 35, 70);
  const uint32_t k2 = sketch.Launched(op2, "k2", 75, 140);
  sketch.Dep(k2, k1, EdgeKind::kStreamOrder);
  sketch.Dep(op3, k2, EdgeKind::kSync);
  const uint32_t k3 = sketch.Launched(op3, "k3", 180, 200);
  sketch.Dep(k3, k2, EdgeKind::kStreamOrder);
  const uint32_t k4 = sketch.Launched(op4, "k4", 245, 260);
  sketch.Dep(k4, k3, EdgeKind::kStreamOrder);
  const uint32_t k5 = sketch.Launched(op4, "k5", 265, 280, 20);
  sketch.Dep(k5, k4, EdgeKind::kSync);
  const TimeBreakdown got = BreakDown(&sketch);
  EXPECT_EQ(got, (TimeBreakdown{.span_ps = 280 * kNs,
                                .compute_ps = (35 + 65 + 20 + 15 + 15) * kNs,
                                .idle_ps = (35 + 5 + 40 + 45 + 5) * kNs,
                                .idle_host_bound_ps = (30 + 10 + 40) * kNs,
                                .idle_kernel_wait_ps = (5 + 5 + 10 + 5) * kNs,
                                .idle_sync_ps = (20 + 5) * kNs}));
}

// host     |.##item########...|   10-80: launches a copy, and waits for it inside
// stream 7 |##....######......|   k 0-20, copy 40-70
// The copy was launched at 10, not at 80: 20-40 is kernel wait. 70-80: the host's tail.
TEST(TimeBreakdownTest, AnOperationThatWaitsForWhatItLaunchedLaunchedItFirst) {
  RankSketch sketch;
  const uint32_t item = sketch.Host("aten::item", 10, 80);
  sketch.Kernel("k", 0, 20);
  const uint32_t copy = sketch.Copy(40, 70);
  sketch.Dep(copy, item, EdgeKind::kLaunch);
  const uint32_t next = sketch.Host("next", 90, 95);
  sketch.Dep(next, copy, EdgeKind::kSync);
  const TimeBreakdown got = BreakDown(&sketch);
  EXPECT_EQ(got.idle_kernel_wait_ps, 20 * kNs);
  EXPECT_EQ(got.idle_host_bound_ps, 15 * kNs);  // 70-80 and 90-95.
  EXPECT_EQ(got.idle_other_ps, 10 * kNs);       // 80-90.
  EXPECT_EQ(got.idle_ps, 45 * kNs);
}

// Nothing but the order on the stream is known: 10-30 may have any reason.
TEST(TimeBreakdownTest, WithoutALaunchOrAWaitNothingExplainsAGap) {
  RankSketch sketch;
  const uint32_t a = sketch.Kernel("a", 0, 10), b = sketch.Kernel("b", 30, 40);
  sketch.Dep(b, a, EdgeKind::kStreamOrder);
  EXPECT_EQ(BreakDown(&sketch).idle_other_ps, 20 * kNs);
}

// k2 was launched at 10 and began 90 us after k1 ended; so did k3, which had waited for k2 on
// another stream: 20 us each are latency, 70 us are unexplained.
TEST(TimeBreakdownTest, WhatIsLongerThanAnyLatencyIsUnexplained) {
  RankSketch sketch;
  const uint32_t op = sketch.Host("op", 0, 10);
  const uint32_t k1 = sketch.Launched(op, "k1", 10, 1'000);
  const uint32_t k2 = sketch.Launched(op, "k2", 91'000, 92'000);
  sketch.Dep(k2, k1, EdgeKind::kStreamOrder);
  const uint32_t k3 = sketch.Launched(op, "k3", 182'000, 183'000, 20);
  sketch.Dep(k3, k2, EdgeKind::kSync);
  const TimeBreakdown got = BreakDown(&sketch);
  EXPECT_EQ(got.idle_kernel_wait_ps, 20'000 * kNs);
  EXPECT_EQ(got.idle_sync_ps, 20'000 * kNs);
  EXPECT_EQ(got.idle_other_ps, 140'000 * kNs);
  EXPECT_EQ(got.idle_host_bound_ps, 10 * kNs);
}

// A rank without a device: host operations compute, pauses are the host's. Where the next
// operation waited for communication last, what it took to go on is sync.
// thread 1 |###...###......###|  0-30, 50-80, 130-150 (waits for the all-reduce)
// thread 2 |.......#####......|  all-reduce 70-120
TEST(TimeBreakdownTest, PausesOfARankWithoutADeviceAreTheHosts) {
  RankSketch sketch;
  const uint32_t a = sketch.Host("a", 0, 30), b = sketch.Host("b", 50, 80);
  sketch.Dep(b, a, EdgeKind::kThreadOrder);
  NodeSpec spec;
  spec.type = NodeType::kCommColl;
  spec.flags = RankTrace::kHostOp;
  spec.queue = {Queue::Kind::kHostThread, -1, 2};
  spec.start_ns = 70;
  spec.dur_ns = 50;
  const CommOp all_reduce;
  spec.comm = &all_reduce;
  const uint32_t comm = sketch.Node(spec);
  sketch.Dep(comm, b, EdgeKind::kLaunch);
  const uint32_t c = sketch.Host("c", 130, 150);
  sketch.Dep(c, b, EdgeKind::kThreadOrder);
  sketch.Dep(c, comm, EdgeKind::kSync);
  const TimeBreakdown got = BreakDown(&sketch);
  EXPECT_EQ(got.compute_ps, 80 * kNs);
  EXPECT_EQ(got.exposed_comm_ps, 40 * kNs);
  EXPECT_EQ(got.idle_ps, 30 * kNs);
  EXPECT_EQ(got.idle_host_bound_ps, 20 * kNs);
  EXPECT_EQ(got.idle_sync_ps, 10 * kNs);
}

// Stream 7: a 0-50 and b 40-60 overlap, so do b and c 55-58; d begins when b ends. Threads
// nest calls, so theirs do not count.
TEST(TimeBreakdownTest, OverlapsOnOneStreamAreCounted) {
  RankSketch sketch;
  sketch.Kernel("a", 0, 50);
  sketch.Kernel("b", 40, 60);
  sketch.Kernel("c", 55, 58);
  sketch.Kernel("d", 60, 70);
  sketch.Kernel("other stream", 0, 70, 8);
  sketch.Host("outer", 0, 70);
  sketch.Host("inner", 10, 20);
  const TimeBreakdown got = BreakDown(&sketch);
  EXPECT_EQ(got.overlapped_intervals_count, 2);
  EXPECT_EQ(got.compute_ps, 70 * kNs);
}

TEST(TimeBreakdownTest, BatchedMessagesMayOverlap) {
  RankSketch sketch;
  for (const NodeType type : {NodeType::kCommSend, NodeType::kCommRecv}) {
    NodeSpec spec;
    spec.type = type;
    spec.queue = {Queue::Kind::kDeviceStream, 0, 20};
    spec.start_ns = 0;
    spec.dur_ns = 10;
    const CommOp message;
    spec.comm = &message;
    sketch.Node(spec);
  }
  EXPECT_EQ(BreakDown(&sketch).overlapped_intervals_count, 0);
}

// Rank 0: half compute, half exposed. Rank 1 is ten times as long, all compute with comm under
// a tenth of it, hidden.
TEST(TimeSharesTest, RanksCountAlikeAndOnlyThoseThatCommunicateHaveAnOverlap) {
  const std::vector<TimeBreakdown> ranks{
      {.rank = 4, .span_ps = 10, .compute_ps = 5, .comm_ps = 5, .exposed_comm_ps = 5},
      {.rank = 5, .span_ps = 100, .compute_ps = 100, .comm_ps = 10},
      {.rank = 6, .span_ps = 50, .compute_ps = 50},
      {.rank = 7, .span_ps = 0}};
  const TimeShares got = MeanShares(ranks);
  EXPECT_DOUBLE_EQ(got.compute_ratio, 2.5 / 3);
  EXPECT_DOUBLE_EQ(got.comm_ratio, 0.6 / 3);
  EXPECT_DOUBLE_EQ(got.exposed_comm_ratio, 0.5 / 3);
  EXPECT_DOUBLE_EQ(got.overlap_ratio, 0.5);
  EXPECT_DOUBLE_EQ(got.worst_exposed_comm_ratio, 0.5);
  EXPECT_EQ(got.worst_rank, 4);
  EXPECT_EQ(MeanShares({}), TimeShares());
}

// The same by looking at every picosecond.
TEST(TimeBreakdownTest, OfRandomIntervalsItEqualsCountingEachMoment) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    RankTrace trace = RandomRank(seed, 12, false, 2);
    for (uint16_t& queue : trace.queue) queue %= trace.queues.size();
    RankTimeline rank{.trace = &trace, .start_ps = 5, .end_ps = 105};
    for (uint32_t node = 0; node < trace.size(); ++node) {
      const int64_t start_ps = 5 + static_cast<int64_t>(random() % 99);
      const int64_t end_ps = start_ps + 1 + static_cast<int64_t>(random() % 12);
      rank.intervals.push_back({.start_ps = start_ps,
                                .end_ps = std::min<int64_t>(end_ps, 105),
                                .node = node,
                                .queue = trace.queue[node],
                                .kind = static_cast<IntervalKind>(random() % 4)});
    }
    std::sort(rank.intervals.begin(), rank.intervals.end(),
              [](const TimelineInterval& a, const TimelineInterval& b) {
                return a.start_ps < b.start_ps;
              });
    TimeBreakdown want{.start_ps = 5, .span_ps = 100};
    for (int64_t at_ps = 5; at_ps < 105; ++at_ps) {
      bool runs[4] = {};
      for (const TimelineInterval& interval : rank.intervals) {
        if (interval.start_ps <= at_ps && at_ps < interval.end_ps) {
          runs[static_cast<int>(interval.kind)] = true;
        }
      }
      want.compute_ps += runs[0];
      want.comm_ps += runs[1];
      want.memory_ps += runs[2];
      want.exposed_comm_ps += runs[1] && !runs[0];
      want.exposed_memory_ps += runs[2] && !runs[0] && !runs[1];
      want.idle_ps += !runs[0] && !runs[1] && !runs[2];
    }
    const TimeBreakdown got = BreakDownTime(rank);
    EXPECT_EQ(got.compute_ps, want.compute_ps);
    EXPECT_EQ(got.comm_ps, want.comm_ps);
    EXPECT_EQ(got.memory_ps, want.memory_ps);
    EXPECT_EQ(got.exposed_comm_ps, want.exposed_comm_ps);
    EXPECT_EQ(got.exposed_memory_ps, want.exposed_memory_ps);
    EXPECT_EQ(got.idle_ps, want.idle_ps);
    for (const int64_t part_ps :
         {got.idle_host_bound_ps, got.idle_kernel_wait_ps, got.idle_sync_ps, got.idle_other_ps}) {
      EXPECT_GE(part_ps, 0);
    }
    EXPECT_EQ(
        got.idle_host_bound_ps + got.idle_kernel_wait_ps + got.idle_sync_ps + got.idle_other_ps,
        got.idle_ps);
  }
}

}  // namespace
}  // namespace chakrad
