#include "analysis/measured_breakdown.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "common/status_matchers.h"
#include "trace/codec/rank_generator.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/model/trace.h"
#include "trace/model/trace_summary.h"

namespace chakrad {
namespace {

struct Node {
  NodeType type = NodeType::kComp;
  int64_t start_ns = kUnknownNs;
  int64_t end_ns = kUnknownNs;
  uint8_t flags = 0;
  int64_t work_ns = kUnknownNs;
};

RankTrace MakeRank(std::initializer_list<Node> nodes) {
  RankTraceBuilder builder;
  uint64_t id = 0;
  const CommOp comm;
  for (const Node& node : nodes) {
    NodeSpec spec;
    spec.id = id++;
    spec.type = node.type;
    spec.flags = node.flags;
    spec.start_ns = node.start_ns;
    if (node.end_ns != kUnknownNs) spec.dur_ns = node.end_ns - node.start_ns;
    spec.work_ns = node.work_ns;
    if (IsComm(node.type)) spec.comm = &comm;
    builder.AddNode(spec);
  }
  return *builder.Build(nullptr);
}

Trace MakeTrace(std::initializer_list<RankTrace> ranks) {
  Trace trace;
  trace.ranks = ranks;
  trace.world_size = static_cast<int32_t>(trace.ranks.size());
  return trace;
}

constexpr uint8_t kHost = RankTrace::kHostOp;
constexpr uint8_t kMark = RankTrace::kHostOp | RankTrace::kAnnotation;

// host     |##########..........|   1000-1100: a rank with a device, so not compute
// kernel   |..######............|   1020-1080
// comm     |......######........|   1060-1120
// copy     |...........####.....|   1110-1150
// mark     |####################|   1000-1200
// Span 200: compute 60, comm 60, exposed comm 1080-1120 = 40, exposed memory
// 1120-1150 = 30, idle 1000-1020 and 1150-1200 = 70.
RankTrace DeviceRank() {
  return MakeRank({{NodeType::kComp, 1000, 1100, kHost, 100},
                   {NodeType::kComp, 1020, 1080},
                   {NodeType::kCommColl, 1060, 1120},
                   {NodeType::kMemLoad, 1110, 1150},
                   {NodeType::kComp, 1000, 1200, kMark, 0}});
}

TEST(MeasuredBreakdownTest, HostWorkOfARankWithADeviceIsIdleAndMarksAreNoWork) {
  const auto got = MeasuredBreakdown(MakeTrace({DeviceRank()}));
  ASSERT_TRUE(got.has_value());
  EXPECT_DOUBLE_EQ(got->compute_ratio, 0.3);
  EXPECT_DOUBLE_EQ(got->comm_ratio, 0.3);
  EXPECT_DOUBLE_EQ(got->exposed_comm_ratio, 0.2);
  EXPECT_DOUBLE_EQ(got->exposed_memory_ratio, 0.15);
  EXPECT_DOUBLE_EQ(got->idle_ratio, 0.35);
  EXPECT_DOUBLE_EQ(got->worst_exposed_comm_ratio, 0.2);
}

// op       |####......####......|   0-40 and 100-140
// wait     |....######..........|   40-100, of which it works 10 and waits 50
// comm     |..########..........|   20-100, on a thread of its own
// Span 140: compute 40 + 10 + 40 = 90, comm 80, exposed comm 50-100 = 50.
TEST(MeasuredBreakdownTest, AHostThatWaitsForCommunicationDoesNotHideIt) {
  const auto got =
      MeasuredBreakdown(MakeTrace({MakeRank({{NodeType::kComp, 0, 40, kHost, 40},
                                             {NodeType::kComp, 40, 100, kHost, 10},
                                             {NodeType::kComp, 100, 140, kHost, 40},
                                             {NodeType::kCommColl, 20, 100, kHost}})}));
  ASSERT_TRUE(got.has_value());
  EXPECT_DOUBLE_EQ(got->compute_ratio, 90.0 / 140);
  EXPECT_DOUBLE_EQ(got->comm_ratio, 80.0 / 140);
  EXPECT_DOUBLE_EQ(got->exposed_comm_ratio, 50.0 / 140);
  EXPECT_DOUBLE_EQ(got->idle_ratio, 0);
}

// An outer call 0-100 whose only inner one runs 20-60: work_ns says 20 for the
// outer one and 80 from the inner one's start on, dur_ns 100 and 40.
TEST(MeasuredBreakdownTest, NestedHostCallsCountOnceWithOrWithoutWorkTimes) {
  const auto with = MeasuredBreakdown(MakeTrace(
      {MakeRank({{NodeType::kComp, 0, 100, kHost, 20}, {NodeType::kComp, 20, 60, kHost, 80}})}));
  const auto without = MeasuredBreakdown(
      MakeTrace({MakeRank({{NodeType::kComp, 0, 100, kHost}, {NodeType::kComp, 20, 60, kHost}})}));
  ASSERT_TRUE(with.has_value());
  EXPECT_EQ(with, without);
  EXPECT_DOUBLE_EQ(with->compute_ratio, 1);
}

// Rank 0: 100 long, exposed 0.1. Rank 1: 1000 long, exposed 0.5. Each counts alike.
TEST(MeasuredBreakdownTest, RanksCountAlikeWhateverTheirLengthAndTheWorstIsKept) {
  const RankTrace a = MakeRank({{NodeType::kComp, 0, 90}, {NodeType::kCommSend, 90, 100}});
  const RankTrace b = MakeRank({{NodeType::kComp, 0, 500}, {NodeType::kCommRecv, 500, 1000}});
  const auto got = MeasuredBreakdown(MakeTrace({a, b}));
  ASSERT_TRUE(got.has_value());
  EXPECT_DOUBLE_EQ(got->exposed_comm_ratio, 0.3);
  EXPECT_DOUBLE_EQ(got->compute_ratio, 0.7);
  EXPECT_DOUBLE_EQ(got->worst_exposed_comm_ratio, 0.5);
}

TEST(MeasuredBreakdownTest, RanksWithoutTimesAreNoPartOfTheMean) {
  const RankTrace timeless = MakeRank({{NodeType::kComp}, {NodeType::kCommColl}});
  const RankTrace instant = MakeRank({{NodeType::kComp, 5, 5}});
  EXPECT_EQ(MeasuredBreakdown(MakeTrace({timeless, instant})), std::nullopt);
  EXPECT_EQ(MeasuredBreakdown(MakeTrace({})), std::nullopt);
  EXPECT_EQ(MeasuredBreakdown(MakeTrace({timeless, DeviceRank(), instant})),
            MeasuredBreakdown(MakeTrace({DeviceRank()})));
}

TEST(MeasuredBreakdownTest, NodesWithoutADurationOnlyMarkTheSpan) {
  const auto got = MeasuredBreakdown(
      MakeTrace({MakeRank({{NodeType::kComp, 0, 50}, {NodeType::kCommColl, 100}})}));
  ASSERT_TRUE(got.has_value());
  EXPECT_DOUBLE_EQ(got->compute_ratio, 0.5);
  EXPECT_DOUBLE_EQ(got->comm_ratio, 0);
  EXPECT_DOUBLE_EQ(got->idle_ratio, 0.5);
}

// Times over all 64 bits: nothing overflows, and the parts still add up.
TEST(MeasuredBreakdownTest, OfAnyTimesThePartsAddUpAndLieInTheirRanges) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Trace trace = seed % 2 == 0 ? RandomTrace(seed, 3, 40) : Trace();
    if (seed % 2 == 1) trace.ranks.push_back(RandomRank(seed, 40, false, 2));
    const auto got = MeasuredBreakdown(trace);
    if (!got.has_value()) continue;
    EXPECT_NEAR(
        got->compute_ratio + got->exposed_comm_ratio + got->exposed_memory_ratio + got->idle_ratio,
        1, 1e-9);
    for (const double ratio : {got->compute_ratio, got->comm_ratio, got->exposed_memory_ratio,
                               got->idle_ratio, got->worst_exposed_comm_ratio}) {
      EXPECT_GE(ratio, 0);
      EXPECT_LE(ratio, 1);
    }
    EXPECT_LE(got->exposed_comm_ratio, got->comm_ratio);
    EXPECT_LE(got->exposed_comm_ratio, got->worst_exposed_comm_ratio + 1e-12);
  }
}

TEST(MeasuredBreakdownTest, TheSpanIsThatOfTheSummary) {
  const RankTrace rank = RecordedLikeRank(7, 500, false);
  const auto got = MeasuredRankBreakdown(rank);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->span_ps, 1000 * SummarizeRank(rank).span_ns);
}

}  // namespace
}  // namespace chakrad
