#include "analysis/steps/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "analysis/steps/step_times.h"
#include "analysis/timeline/testing/rank_sketch.h"
#include "common/status_matchers.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kNs = 1000;

JobTimeline Timeline(const Trace& trace) {
  absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
  EXPECT_TRUE(job.ok()) << job.status();
  return *std::move(job);
}

// The example of docs/analysis.md#steps.
// marks   |##7########|##8########|        ProfilerStep#7 10-50, #8 50-100
// host    |.op1..op2..|.op3.......|        op1 12-15, op2 40-45, op3 55-60
// stream  |..k1####k2###########|k3####|   k1 15-35, k2 of op2 46-70, k3 of op3 70-110
// Step 7 lasts until k2, which it launched, ends: 10-70. Step 8 follows, until k3 ends: 70-110.
RankTrace MarkedRank(int32_t rank, int64_t base_unix_ns = 0) {
  RankSketch sketch;
  sketch.builder().header().base_unix_ns = base_unix_ns;
  sketch.Host("before", 0, 5);
  sketch.Mark("ProfilerStep#8", 50, 100);
  sketch.Mark("ProfilerStep#7", 10, 50);
  const uint32_t op1 = sketch.Host("op1", 12, 15), op2 = sketch.Host("op2", 40, 45);
  const uint32_t op3 = sketch.Host("op3", 55, 60);
  sketch.Launched(op1, "k1", 15, 35);
  sketch.Launched(op2, "k2", 46, 70);
  sketch.Launched(op3, "k3", 70, 110);
  sketch.Mark("end", 0, 130);
  return sketch.Build(rank);
}

TEST(StepsTest, AMarkedStepEndsWithTheDeviceWorkThatItLaunched) {
  const Trace trace = SketchTrace({MarkedRank(0)});
  const JobTimeline job = Timeline(trace);
  const JobSteps got = FindSteps(job);
  EXPECT_EQ(got.source, "profiler_step");
  ASSERT_EQ(got.steps.size(), 2u);
  EXPECT_EQ(got.steps[0].name, "ProfilerStep#7");
  EXPECT_EQ(got.steps[1].name, "ProfilerStep#8");
  EXPECT_THAT(got.ranks[0],
              ElementsAre(RankStep{0, 10 * kNs, 70 * kNs}, RankStep{1, 70 * kNs, 110 * kNs}));
  EXPECT_THAT(got.notices, IsEmpty());
  // 10-15 and 35-46 nothing runs in step 7.
  const std::vector<StepTime> times = TimesOfSteps(job, got);
  EXPECT_DOUBLE_EQ(times[0].mean_span_ps, 60 * kNs);
  EXPECT_DOUBLE_EQ(times[0].mean_shares.compute_ratio, 44.0 / 60);
  EXPECT_DOUBLE_EQ(times[0].mean_shares.idle_ratio, 16.0 / 60);
  EXPECT_DOUBLE_EQ(times[1].mean_shares.compute_ratio, 1);
}

// Rank 1 begins 1,000 ns later; rank 2 lacks step 7; rank 3 has no marks.
TEST(StepsTest, RanksMeetByTheNumberOfTheMark) {
  RankSketch late, bare;
  late.builder().header().base_unix_ns = 5'000'000;
  late.Mark("ProfilerStep#8", 50, 100);
  late.Kernel("k", 60, 90);
  bare.builder().header().base_unix_ns = 5'000'000;
  bare.Kernel("k", 0, 500);
  const Trace trace = SketchTrace(
      {MarkedRank(0, 5'000'000), MarkedRank(1, 5'001'000), late.Build(2), bare.Build(3)});
  const JobTimeline job = Timeline(trace);
  const JobSteps got = FindSteps(job);
  ASSERT_EQ(got.steps.size(), 2u);
  EXPECT_EQ(got.steps[0].ranks_count, 2);
  EXPECT_EQ(got.steps[0].start_ps, 10 * kNs);
  EXPECT_EQ(got.steps[0].end_ps, 1070 * kNs);
  EXPECT_EQ(got.steps[1].ranks_count, 3);
  EXPECT_THAT(got.ranks[1], ElementsAre(RankStep{0, 1010 * kNs, 1070 * kNs},
                                        RankStep{1, 1070 * kNs, 1110 * kNs}));
  EXPECT_THAT(got.ranks[2], ElementsAre(RankStep{1, 50 * kNs, 100 * kNs}));
  EXPECT_THAT(got.ranks[3], IsEmpty());
  EXPECT_THAT(got.notices, ElementsAre(HasSubstr("1 of 4 ranks mark none")));

  const JobTimeline cut = CutToStep(job, got, 0);
  ASSERT_EQ(cut.ranks.size(), 2u);
  EXPECT_EQ(cut.ranks[1].start_ps, 1010 * kNs);
  EXPECT_EQ(cut.ranks[1].span_ps(), 60 * kNs);
  EXPECT_DOUBLE_EQ(TimesOfSteps(job, got)[0].mean_shares.compute_ratio,
                   MeanShares(BreakDownTime(cut)).compute_ratio);
}

// Simulated, the same operations take other times; marks take none. Nodes: op1 3, op2 4, op3 5,
// k1 6, k2 7, k3 8.
TEST(StepsTest, OfASimulatedTimelineAStepIsWhatItsOperationsTook) {
  const Trace trace = SketchTrace({MarkedRank(0)});
  std::vector<TimelineInterval> intervals;
  const auto add = [&](uint32_t node, int64_t start_ps, int64_t end_ps, IntervalKind kind) {
    intervals.push_back({.start_ps = start_ps,
                         .end_ps = end_ps,
                         .node = node,
                         .queue = trace.ranks[0].queue[node],
                         .kind = kind});
  };
  add(0, 0, 5, IntervalKind::kHost);
  add(3, 5, 8, IntervalKind::kHost);
  add(4, 8, 13, IntervalKind::kHost);
  add(5, 13, 18, IntervalKind::kHost);
  add(6, 8, 108, IntervalKind::kCompute);
  add(7, 108, 208, IntervalKind::kCompute);
  add(8, 208, 308, IntervalKind::kCompute);
  ASSERT_OK_AND_ASSIGN(const JobTimeline job, SimulatedTimeline(trace, 400, intervals, {}));
  const JobSteps got = FindSteps(job);
  EXPECT_EQ(got.source, "profiler_step");
  EXPECT_THAT(got.ranks[0], ElementsAre(RankStep{0, 5, 208}, RankStep{1, 208, 308}));
}

TEST(StepsTest, WithoutMarksWhatCommunicationRepeatsIsAStep) {
  std::vector<RankTrace> ranks;
  for (int32_t rank = 0; rank < 3; ++rank) {
    RankSketch sketch;
    const auto all_reduce = [&sketch](int64_t bytes, int64_t start_ns) {
      NodeSpec spec;
      spec.type = NodeType::kCommColl;
      spec.queue = {Queue::Kind::kDeviceStream, 0, 20};
      spec.start_ns = start_ns;
      spec.dur_ns = 10;
      const CommOp comm{.bytes = bytes, .group = 0};
      spec.comm = &comm;
      sketch.Node(spec);
    };
    all_reduce(1, 0);  // Not part of any step.
    const int count = rank == 2 ? 3 : 4;
    for (int step = 0; step < count; ++step) {
      for (int64_t bucket = 0; bucket < 3; ++bucket) {
        all_reduce(100 + bucket, 100 + 1000 * step + 20 * bucket);
      }
    }
    ranks.push_back(sketch.Build(rank));
  }
  const Trace trace = SketchTrace(std::move(ranks));
  const JobSteps got = FindSteps(Timeline(trace));
  EXPECT_EQ(got.source, "repetition");
  ASSERT_EQ(got.steps.size(), 4u);
  EXPECT_EQ(got.steps[3].name, "step 3");
  EXPECT_THAT(
      got.ranks[1],
      ElementsAre(RankStep{0, 100 * kNs, 1100 * kNs}, RankStep{1, 1100 * kNs, 2100 * kNs},
                  RankStep{2, 2100 * kNs, 3100 * kNs}, RankStep{3, 3100 * kNs, 3150 * kNs}));
  EXPECT_THAT(got.ranks[2], IsEmpty());
  EXPECT_THAT(got.notices, ElementsAre(HasSubstr("1 of 3 ranks do not repeat as the others do")));
}

// The host runs 90 ns ahead: each operation is launched in the step before its own.
TEST(StepsTest, WhatRepeatsOnTheDeviceIsNotMovedByAHostThatRunsAhead) {
  RankSketch sketch;
  for (int step = 1; step <= 4; ++step) {
    for (int64_t bucket = 0; bucket < 2; ++bucket) {
      const int64_t start_ns = 100 * step + 50 * bucket;
      const uint32_t launch = sketch.Host("launch", start_ns - 90, start_ns - 85);
      NodeSpec spec;
      spec.type = NodeType::kCommColl;
      spec.queue = {Queue::Kind::kDeviceStream, 0, 20};
      spec.start_ns = start_ns;
      spec.dur_ns = 20;
      const CommOp comm{.bytes = 100 + bucket, .group = 0};
      spec.comm = &comm;
      sketch.Dep(sketch.Node(spec), launch, EdgeKind::kLaunch);
    }
  }
  const Trace trace = SketchTrace({sketch.Build()});
  const JobTimeline job = Timeline(trace);
  const JobSteps got = FindSteps(job);
  EXPECT_EQ(got.source, "repetition");
  const int64_t base_ps = job.ranks[0].start_ps - 10 * kNs;  // The first launch starts at 10 ns.
  const auto step = [base_ps](uint32_t i, int64_t start_ns, int64_t end_ns) {
    return RankStep{i, base_ps + start_ns * kNs, base_ps + end_ns * kNs};
  };
  EXPECT_THAT(got.ranks[0], ElementsAre(step(0, 100, 200), step(1, 200, 300), step(2, 300, 400),
                                        step(3, 400, 470)));
}

// op0 launches what runs after op3: it belongs to the step nevertheless.
TEST(StepsTest, WhatRepeatsOnTheHostHasTheDeviceWorkThatItLaunched) {
  RankSketch sketch;
  for (int step = 0; step < 3; ++step) {
    const int64_t at_ns = 100 * step;
    for (int op = 0; op < 4; ++op) {
      const uint32_t host =
          sketch.Host(absl::StrCat("op", op), at_ns + 20 * op, at_ns + 20 * op + 15);
      if (op == 0) sketch.Launched(host, "k", at_ns + 80, at_ns + 110);
    }
  }
  const Trace trace = SketchTrace({sketch.Build()});
  EXPECT_THAT(FindSteps(Timeline(trace)).ranks[0],
              ElementsAre(RankStep{0, 0, 110 * kNs}, RankStep{1, 110 * kNs, 210 * kNs},
                          RankStep{2, 210 * kNs, 310 * kNs}));
}

TEST(StepsTest, WithoutCommunicationNamesRepeat) {
  RankSketch sketch;
  for (int step = 0; step < 3; ++step) {
    const int64_t at_ns = 100 * step;
    for (int op = 0; op < 4; ++op) {
      sketch.Host(absl::StrCat("op", op), at_ns + 20 * op, at_ns + 20 * op + 15);
      sketch.Host("inner", at_ns + 20 * op + 1, at_ns + 20 * op + 5);
    }
  }
  const Trace trace = SketchTrace({sketch.Build()});
  const JobSteps got = FindSteps(Timeline(trace));
  EXPECT_EQ(got.source, "repetition");
  EXPECT_THAT(got.ranks[0],
              ElementsAre(RankStep{0, 0, 100 * kNs}, RankStep{1, 100 * kNs, 200 * kNs},
                          RankStep{2, 200 * kNs, 275 * kNs}));
}

TEST(StepsTest, WhereNothingRepeatsThereAreNoSteps) {
  RankSketch sketch;
  sketch.Kernel("a", 0, 10);
  sketch.Kernel("b", 10, 20);
  sketch.Mark("ProfilerStep#", 0, 10);
  sketch.Mark("ProfilerStep#x", 0, 10);
  sketch.Mark("ProfilerStep#99999999999999999999", 0, 10);
  sketch.Host("ProfilerStep#3", 0, 10);  // Not a mark.
  const Trace trace = SketchTrace({sketch.Build()});
  const JobTimeline job = Timeline(trace);
  const JobSteps got = FindSteps(job);
  EXPECT_EQ(got.source, "");
  EXPECT_THAT(got.steps, IsEmpty());
  EXPECT_THAT(TimesOfSteps(job, got), IsEmpty());
}

TEST(StepsTest, MarksThatOverlapOrComeTwiceMakeDisjointSteps) {
  RankSketch sketch;
  sketch.Kernel("k", 0, 100);
  sketch.Mark("ProfilerStep#2", 10, 60);
  sketch.Mark("ProfilerStep#3", 40, 90);
  sketch.Mark("ProfilerStep#2", 70, 95);
  sketch.Mark("ProfilerStep#4", 90, kUnknownNs);
  const Trace trace = SketchTrace({sketch.Build()});
  EXPECT_THAT(FindSteps(Timeline(trace)).ranks[0],
              ElementsAre(RankStep{0, 10 * kNs, 40 * kNs}, RankStep{1, 40 * kNs, 90 * kNs}));
}

// Random graphs with marks: steps are disjoint and within the rank, and the pass over all steps
// says the same as cutting each one out.
TEST(StepsTest, OfRandomRanksStepsAreDisjointAndTheirTimesThoseOfTheCut) {
  int steps_count = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<RankTrace> ranks;
    for (int32_t rank = 0; rank < 2; ++rank) {
      RankSketch sketch;
      const auto at = [&random] { return static_cast<int64_t>(random() % 300); };
      for (int i = 0; i < 4; ++i) {
        const int64_t start_ns = at();
        sketch.Mark(absl::StrCat("ProfilerStep#", random() % 6), start_ns, start_ns + at());
      }
      for (int i = 0; i < 12; ++i) {
        const int64_t host_ns = at(), device_ns = at();
        const uint32_t host = sketch.Host("op", host_ns, host_ns + 5);
        const uint32_t device = random() % 3 == 0
                                    ? sketch.Comm(device_ns, device_ns + 1 + at() / 5)
                                    : sketch.Kernel("k", device_ns, device_ns + 1 + at() / 9);
        if (random() % 2 == 0) sketch.Dep(device, host, EdgeKind::kLaunch);
      }
      ranks.push_back(sketch.Build(rank));
    }
    const Trace trace = SketchTrace(std::move(ranks));
    const JobTimeline job = Timeline(trace);
    const JobSteps got = FindSteps(job);
    const std::vector<StepTime> times = TimesOfSteps(job, got);
    for (size_t i = 0; i < job.ranks.size(); ++i) {
      int64_t before_ps = job.ranks[i].start_ps;
      for (const RankStep& step : got.ranks[i]) {
        EXPECT_GE(step.start_ps, before_ps);
        EXPECT_GT(step.end_ps, step.start_ps);
        EXPECT_LE(step.end_ps, job.ranks[i].end_ps);
        before_ps = step.end_ps;
      }
    }
    for (size_t step = 0; step < got.steps.size(); ++step) {
      ++steps_count;
      const TimeShares want = MeanShares(BreakDownTime(CutToStep(job, got, step)));
      EXPECT_NEAR(times[step].mean_shares.compute_ratio, want.compute_ratio, 1e-12);
      EXPECT_NEAR(times[step].mean_shares.exposed_comm_ratio, want.exposed_comm_ratio, 1e-12);
      EXPECT_NEAR(times[step].mean_shares.idle_ratio, want.idle_ratio, 1e-12);
      EXPECT_NEAR(times[step].mean_shares.overlap_ratio, want.overlap_ratio, 1e-12);
      EXPECT_EQ(times[step].mean_shares.worst_rank, want.worst_rank);
    }
  }
  EXPECT_GT(steps_count, 300);
}

}  // namespace
}  // namespace chakrad
