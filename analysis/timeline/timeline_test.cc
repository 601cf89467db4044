#include "analysis/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <tuple>

#include "analysis/timeline/testing/rank_sketch.h"
#include "common/status_matchers.h"
#include "trace/codec/rank_generator.h"
#include "trace/model/trace_summary.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = IntervalKind;

constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;
constexpr int64_t kEpochNs = 1'700'000'000'000'000'000;

bool IsOrdered(const RankTimeline& rank) {
  int64_t start_ps = rank.start_ps;
  for (const TimelineInterval& interval : rank.intervals) {
    if (interval.start_ps < start_ps || interval.end_ps <= interval.start_ps ||
        interval.end_ps > rank.end_ps) {
      return false;
    }
    start_ps = interval.start_ps;
  }
  return true;
}

TEST(MeasuredTimelineTest, HostWorkBesideADeviceIsHostAndMarksTakeNoTime) {
  RankSketch sketch;
  sketch.Mark("step", 0, 100);
  sketch.Host("op", 10, 30);
  sketch.Kernel("k", 20, 60);
  sketch.Comm(60, 80);
  sketch.Copy(80, 90);
  const Trace trace = SketchTrace({sketch.Build()});
  ASSERT_OK_AND_ASSIGN(const JobTimeline job, MeasuredTimeline(trace, {}));
  ASSERT_EQ(job.ranks.size(), 1u);
  const RankTimeline& rank = job.ranks[0];
  EXPECT_EQ(rank.start_ps, 0);
  EXPECT_EQ(rank.end_ps, 100'000);
  EXPECT_THAT(
      rank.intervals,
      ElementsAre(TimelineInterval{10'000, 30'000, 0, 1, trace.ranks[0].queue[1], Kind::kHost},
                  TimelineInterval{20'000, 60'000, 0, 2, trace.ranks[0].queue[2], Kind::kCompute},
                  TimelineInterval{60'000, 80'000, 0, 3, trace.ranks[0].queue[3], Kind::kComm},
                  TimelineInterval{80'000, 90'000, 0, 4, trace.ranks[0].queue[4], Kind::kMemory}));
}

TEST(MeasuredTimelineTest, WithoutADeviceHostOperationsComputeWithoutTheirWaiting) {
  RankSketch sketch;
  NodeSpec spec;
  spec.type = NodeType::kComp;
  spec.flags = RankTrace::kHostOp;
  spec.start_ns = 0;
  spec.dur_ns = 100;
  spec.work_ns = 40;
  sketch.Node(spec);
  spec.start_ns = 50;
  spec.work_ns = 500;  // More than the recording holds: cut at its end.
  sketch.Node(spec);
  spec.work_ns = 0;
  sketch.Node(spec);
  const Trace trace = SketchTrace({sketch.Build()});
  ASSERT_OK_AND_ASSIGN(const JobTimeline job, MeasuredTimeline(trace, {}));
  EXPECT_THAT(job.ranks[0].intervals,
              ElementsAre(TimelineInterval{.start_ps = 0, .end_ps = 40'000, .node = 0},
                          TimelineInterval{.start_ps = 50'000, .end_ps = 150'000, .node = 1}));
}

RankTrace RankFrom(int32_t rank, int64_t base_unix_ns, int64_t start_ns = 0) {
  RankSketch sketch;
  sketch.builder().header().base_unix_ns = base_unix_ns;
  sketch.Kernel("k", start_ns, start_ns + 10);
  return sketch.Build(rank);
}

// Rank 0 begins 500 ns after rank 1; rank 2 tells no epoch.
TEST(MeasuredTimelineTest, RanksCountFromTheEarliestBase) {
  const Trace trace =
      SketchTrace({RankFrom(0, kEpochNs + 500), RankFrom(1, kEpochNs, 7), RankFrom(2, 0, 3)});
  ASSERT_OK_AND_ASSIGN(const JobTimeline job, MeasuredTimeline(trace, {}));
  EXPECT_EQ(job.base_unix_ns, kEpochNs);
  ASSERT_EQ(job.ranks.size(), 3u);
  EXPECT_EQ(job.ranks[0].start_ps, 500'000);
  EXPECT_EQ(job.ranks[1].start_ps, 7'000);
  EXPECT_EQ(job.ranks[2].start_ps, 3'000);
  EXPECT_THAT(job.notices, ElementsAre(HasSubstr("1 of 3 ranks tell no epoch")));
  EXPECT_EQ(job.start_ps(), 3'000);
  EXPECT_EQ(job.end_ps(), 510'000);
}

TEST(MeasuredTimelineTest, AClockThatSays1970LeavesTheOtherRanksWhereTheyWere) {
  const Trace trace = SketchTrace({RankFrom(0, 5), RankFrom(1, kEpochNs), RankFrom(2, kEpochNs),
                                   RankFrom(3, kEpochNs + 400 * kDayNs)});
  ASSERT_OK_AND_ASSIGN(const JobTimeline job, MeasuredTimeline(trace, {}));
  EXPECT_EQ(job.base_unix_ns, kEpochNs);
  ASSERT_EQ(job.ranks.size(), 4u);
  for (const RankTimeline& rank : job.ranks) EXPECT_EQ(rank.end_ps, 10'000) << rank.rank;
  EXPECT_THAT(job.notices, ElementsAre(HasSubstr("2 of 4 ranks tell an epoch more than 50 days")));
}

TEST(MeasuredTimelineTest, StartsFarFromTheBaseMoveIt) {
  for (const int64_t base_unix_ns : {int64_t{0}, kEpochNs}) {
    for (const int64_t start_ns : {kEpochNs, int64_t{-700}}) {
      const Trace trace = SketchTrace(
          {RankFrom(0, base_unix_ns, start_ns), RankFrom(1, base_unix_ns, start_ns + 20)});
      ASSERT_OK_AND_ASSIGN(const JobTimeline job, MeasuredTimeline(trace, {}));
      ASSERT_EQ(job.ranks.size(), 2u);
      EXPECT_EQ(job.ranks[0].start_ps, 0);
      EXPECT_EQ(job.ranks[1].end_ps, 30'000);
      EXPECT_EQ(job.base_unix_ns, base_unix_ns == 0 ? 0 : base_unix_ns + start_ns);
    }
  }
}

TEST(MeasuredTimelineTest, TimesBeyondPicosecondsStopThereAndRanksAreSorted) {
  RankSketch sketch;
  sketch.Kernel("a", 0, std::numeric_limits<int64_t>::max());
  sketch.Kernel("b", std::numeric_limits<int64_t>::max() - 5, std::numeric_limits<int64_t>::max());
  sketch.Kernel("c", 5, 6);
  const Trace trace = SketchTrace({sketch.Build()});
  ASSERT_OK_AND_ASSIGN(const JobTimeline job, MeasuredTimeline(trace, {}));
  EXPECT_EQ(job.ranks[0].end_ps, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(job.ranks[0].intervals.size(), 2u);  // b begins where time ends.
  EXPECT_TRUE(IsOrdered(job.ranks[0]));
}

TEST(MeasuredTimelineTest, RanksAreChosenAndThoseWithoutTimesLeftOut) {
  const Trace trace = SketchTrace({RankFrom(0, 0), RankFrom(1, 0, kUnknownNs), RankFrom(2, 0)});
  ASSERT_OK_AND_ASSIGN(const JobTimeline job, MeasuredTimeline(trace, {2, 1}));
  ASSERT_EQ(job.ranks.size(), 1u);
  EXPECT_EQ(job.ranks[0].rank, 2);
  EXPECT_THAT(job.notices, ElementsAre(HasSubstr("1 of 2 ranks have no times")));
  EXPECT_THAT(MeasuredTimeline(trace, {1}),
              StatusIs(absl::StatusCode::kFailedPrecondition, "no rank of the trace"));
  EXPECT_FALSE(MeasuredBusyTimeline(trace.ranks[1]).has_value());
}

TEST(MeasuredTimelineTest, OfAnyColumnsIntervalsLieInOrderWithinTheSpan) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Trace trace;
    for (int32_t rank = 0; rank < 3; ++rank) {
      trace.ranks.push_back(RandomRank(seed * 3 + rank, 30, false, 2));
      trace.ranks.back().rank = rank;
    }
    trace.world_size = 3;
    const absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
    if (!job.ok()) continue;
    for (const RankTimeline& rank : job->ranks) {
      EXPECT_GE(rank.start_ps, 0);
      EXPECT_GT(rank.span_ps(), 0);
      EXPECT_TRUE(IsOrdered(rank));
      EXPECT_TRUE(std::is_sorted(rank.intervals.begin(), rank.intervals.end(),
                                 [](const TimelineInterval& a, const TimelineInterval& b) {
                                   return std::tie(a.start_ps, a.end_ps, a.node) <
                                          std::tie(b.start_ps, b.end_ps, b.node);
                                 }));
    }
  }
}

// Many runs of ascending times of all lengths: the sort sees merges of every kind.
TEST(MeasuredTimelineTest, NodesInAnyOrderComeOutByTime) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    RankSketch sketch;
    int64_t at_ns = 0;
    for (int i = 0; i < 2000; ++i) {
      if (random() % (1 + seed * seed) == 0) at_ns = static_cast<int64_t>(random() % 1000);
      at_ns += static_cast<int64_t>(random() % 3);
      sketch.Kernel("k", at_ns, at_ns + 1 + static_cast<int64_t>(random() % 5));
    }
    const Trace trace = SketchTrace({sketch.Build()});
    ASSERT_OK_AND_ASSIGN(const JobTimeline job, MeasuredTimeline(trace, {}));
    EXPECT_EQ(job.ranks[0].intervals.size(), 2000u);
    EXPECT_TRUE(std::is_sorted(job.ranks[0].intervals.begin(), job.ranks[0].intervals.end(),
                               [](const TimelineInterval& a, const TimelineInterval& b) {
                                 return std::tie(a.start_ps, a.end_ps, a.node) <
                                        std::tie(b.start_ps, b.end_ps, b.node);
                               }));
  }
}

TEST(MeasuredTimelineTest, TheSpanIsThatOfTheSummary) {
  const RankTrace rank = RecordedLikeRank(7, 500, false);
  const std::optional<RankTimeline> timeline = MeasuredBusyTimeline(rank);
  ASSERT_TRUE(timeline.has_value());
  EXPECT_EQ(timeline->span_ps(), 1000 * SummarizeRank(rank).span_ns);
}

Trace TwoOfFour() {
  RankSketch a, b;
  a.Kernel("k", 0, 1);
  a.Mark("m", 0, 1);
  b.Kernel("k", 0, 1);
  Trace trace = SketchTrace({a.Build(0), b.Build(2)});
  trace.world_size = 4;
  trace.groups = {{"world", "", {0, 1, 2, 3}}, {"pair", "", {0, 1}}, {"other", "", {2, 3}}};
  trace.copies = {{.rank = 3, .of = 2, .groups = {{1, 2}}}};
  return trace;
}

TimelineInterval At(int32_t rank, uint32_t node, int64_t start_ps, int64_t end_ps) {
  return {.start_ps = start_ps, .end_ps = end_ps, .rank = rank, .node = node};
}

// Rank 1 has no part: rank 0 stands in. Rank 3 copies rank 2.
TEST(SimulatedTimelineTest, EachRankOfTheWorldRunsItsPartOrThatOfAnother) {
  const Trace trace = TwoOfFour();
  ASSERT_OK_AND_ASSIGN(
      const JobTimeline job,
      SimulatedTimeline(trace, 100,
                        {At(3, 0, 50, 60), At(1, 0, 20, 30), At(1, 1, 0, 30), At(0, 0, 7, 7)}, {}));
  EXPECT_TRUE(job.simulated);
  ASSERT_EQ(job.ranks.size(), 4u);
  EXPECT_THAT(job.ranks[0].intervals, IsEmpty());  // Took no time.
  EXPECT_EQ(job.ranks[1].trace, &trace.ranks[0]);
  EXPECT_THAT(job.ranks[1].intervals, ElementsAre(At(1, 0, 20, 30)));  // Not the mark.
  EXPECT_EQ(job.ranks[3].trace, &trace.ranks[1]);
  EXPECT_EQ(job.ranks[3].copy, &trace.copies[0]);
  EXPECT_EQ(job.ranks[2].end_ps, 100);
  const CommOp in_pair{.group = 1};
  EXPECT_EQ(job.ranks[3].GroupFor(in_pair, trace), 2u);
  EXPECT_EQ(job.ranks[0].GroupFor(in_pair, trace), 1u);
  EXPECT_EQ(job.ranks[1].GroupFor(in_pair, trace), 1u);  // A member of it, too.
  EXPECT_EQ(job.ranks[1].GroupFor({.group = kNone}, trace), kNone);
}

// Rank 0 stands in for 1 to 5. Its pair is {0, 3}: rank 3 is a member, ranks 1 and 2 have one
// sound group of two ranks each, ranks 4 and 5 have two.
TEST(SimulatedTimelineTest, AStandInUsesTheOneGroupOfTheSameSizeThatHoldsIt) {
  RankSketch sketch;
  NodeSpec spec;
  spec.type = NodeType::kCommColl;
  spec.start_ns = 0;
  spec.dur_ns = 1;
  const CommOp in_pair{.group = 1}, in_three{.group = 5};
  for (const CommOp* op : {&in_pair, &in_three}) {
    spec.comm = op;
    sketch.Node(spec);
  }
  Trace trace = SketchTrace({sketch.Build(0)});
  trace.world_size = 6;
  trace.groups = {{"world", "", {0, 1, 2, 3, 4, 5}},
                  {"pair", "", {0, 3}},
                  {"other", "", {4, 1}},
                  {"twice", "", {1, 1}},
                  {"last", "", {2, 5}},
                  {"three", "", {0, 3, 5}},
                  {"outside", "", {1, 17}},
                  {"one more", "", {5, 4}},
                  {"others", "", {1, 2, 4}}};
  ASSERT_OK_AND_ASSIGN(const JobTimeline job, SimulatedTimeline(trace, 100, {}, {}));
  const auto groups = [&](size_t rank) {
    return std::pair(job.ranks[rank].GroupFor(in_pair, trace),
                     job.ranks[rank].GroupFor(in_three, trace));
  };
  EXPECT_EQ(groups(0), std::pair(1u, 5u));
  EXPECT_EQ(groups(1), std::pair(2u, 8u));
  EXPECT_EQ(groups(2), std::pair(4u, 8u));
  EXPECT_EQ(groups(3), std::pair(1u, 5u));
  EXPECT_EQ(groups(4), std::pair(kNone, 8u));  // "other" or "one more".
  EXPECT_EQ(groups(5), std::pair(kNone, 5u));
  const JobTimeline cut = CutTimeline(job, std::vector<int64_t>(6, 0), std::vector<int64_t>(6, 50));
  EXPECT_EQ(cut.ranks[1].GroupFor(in_pair, trace), 2u);
}

TEST(SimulatedTimelineTest, RanksAreChosenAndOrderDoesNotMatter) {
  const Trace trace = TwoOfFour();
  ASSERT_OK_AND_ASSIGN(
      const JobTimeline job,
      SimulatedTimeline(trace, 100, {At(2, 0, 50, 60), At(1, 0, 20, 30)}, {2, 1, 9}));
  ASSERT_EQ(job.ranks.size(), 2u);
  EXPECT_EQ(job.ranks[0].rank, 1);
  EXPECT_THAT(job.ranks[1].intervals, ElementsAre(At(2, 0, 50, 60)));
}

TEST(SimulatedTimelineTest, IntervalsThatDoNotFitAreNamed) {
  const Trace trace = TwoOfFour();
  for (const TimelineInterval& bad : {At(4, 0, 0, 1), At(-1, 0, 0, 1)}) {
    EXPECT_THAT(SimulatedTimeline(trace, 100, {bad}, {}),
                StatusIs(absl::StatusCode::kInvalidArgument, "the world has 4 ranks"));
  }
  for (const TimelineInterval& bad :
       {At(2, 1, 0, 1), At(0, 0, -1, 1), At(0, 0, 5, 4), At(0, 0, 5, 101)}) {
    EXPECT_THAT(SimulatedTimeline(trace, 100, {bad}, {}),
                StatusIs(absl::StatusCode::kInvalidArgument, "does not fit"));
  }
  EXPECT_THAT(SimulatedTimeline(Trace{.world_size = 2}, 1, {}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no ranks"));
}

// Rank 0: a 0-50, b 10-20, c 60-90, cut to 15-70: a 15-50, b 15-20 (now first), c 60-70.
TEST(CutTimelineTest, IntervalsAreCutAtTheEndsAndSortedAnew) {
  RankSketch sketch;
  sketch.Kernel("a", 0, 50);
  sketch.Kernel("b", 10, 20, 8);
  sketch.Kernel("c", 60, 90);
  const Trace trace = SketchTrace({sketch.Build(), RankFrom(1, 0)});
  ASSERT_OK_AND_ASSIGN(const JobTimeline job, MeasuredTimeline(trace, {}));
  const JobTimeline cut = CutTimeline(job, {15'000, 0}, {70'000, 0});
  ASSERT_EQ(cut.ranks.size(), 1u);  // Rank 1 has no part.
  EXPECT_EQ(cut.ranks[0].start_ps, 15'000);
  EXPECT_EQ(cut.ranks[0].end_ps, 70'000);
  EXPECT_TRUE(IsOrdered(cut.ranks[0]));
  std::vector<std::tuple<uint32_t, int64_t, int64_t>> got;
  for (const TimelineInterval& interval : cut.ranks[0].intervals) {
    got.emplace_back(interval.node, interval.start_ps, interval.end_ps);
  }
  EXPECT_THAT(got,
              ElementsAre(std::make_tuple(1, 15'000, 20'000), std::make_tuple(0, 15'000, 50'000),
                          std::make_tuple(2, 60'000, 70'000)));
  const NodeTimes times = NodeTimesOf(cut.ranks[0]);
  EXPECT_THAT(times.start_ps, ElementsAre(15'000, 15'000, 60'000));
  EXPECT_THAT(times.end_ps, ElementsAre(50'000, 20'000, 70'000));
}

}  // namespace
}  // namespace chakrad
