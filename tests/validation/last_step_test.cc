#include "tests/validation/last_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "common/status_matchers.h"
#include "trace/import/import.h"
#include "trace/link/reference_replay.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

constexpr int64_t kUs = 1000;

// A mark, an operation, a collective: `name` says which.
NodeSpec Spec(uint64_t id, const char* name, int64_t start_us, int64_t dur_us) {
  NodeSpec spec;
  spec.id = id;
  spec.name = name;
  spec.type = NodeType::kComp;
  spec.flags = RankTrace::kHostOp;
  spec.start_ns = start_us * kUs;
  spec.dur_ns = spec.work_ns = dur_us * kUs;
  return spec;
}

NodeSpec Mark(uint64_t id, const char* name, int64_t start_us, int64_t dur_us) {
  NodeSpec spec = Spec(id, name, start_us, dur_us);
  spec.type = NodeType::kMetadata;
  spec.flags |= RankTrace::kAnnotation;
  spec.work_ns = 0;
  return spec;
}

//  0         100       110                  200   230        us
//  |-- ProfilerStep#0 --|
//   a .................. |--- ProfilerStep#1 ---|
//                          b (130..150)   comm     after
RankTrace TwoSteps() {
  RankTraceBuilder builder;
  const uint32_t first = builder.AddNode(Mark(1, "ProfilerStep#0", 0, 110));
  const uint32_t a = builder.AddNode(Spec(2, "a", 10, 90));
  const uint32_t second = builder.AddNode(Mark(3, "ProfilerStep#1", 110, 90));
  NodeSpec b_spec = Spec(4, "b", 130, 20);
  b_spec.gap_ns = 7 * kUs;
  const uint32_t b = builder.AddNode(b_spec);
  NodeSpec comm_spec = Spec(5, "gloo:all_reduce", 155, 10);
  CommOp op;
  op.bytes = 64;
  comm_spec.type = NodeType::kCommColl;
  comm_spec.comm = &op;
  comm_spec.gap_ns = 5 * kUs;
  const uint32_t comm = builder.AddNode(comm_spec);
  NodeSpec lost_spec = comm_spec;
  lost_spec.id = 6;
  lost_spec.start_ns = lost_spec.dur_ns = lost_spec.work_ns = kUnknownNs;
  lost_spec.gap_ns = 0;
  const uint32_t lost = builder.AddNode(lost_spec);
  lost_spec.id = 7;
  const uint32_t lost_before = builder.AddNode(lost_spec);
  const uint32_t after = builder.AddNode(Spec(8, "after", 210, 20));
  builder.AddEdge(a, first, EdgeKind::kControl);
  builder.AddEdge(b, a, EdgeKind::kThreadOrder);
  builder.AddEdge(comm, b, EdgeKind::kLaunch);
  builder.AddEdge(lost, b, EdgeKind::kLaunch);
  builder.AddEdge(lost_before, a, EdgeKind::kLaunch);
  builder.AddEdge(after, comm, EdgeKind::kSync);
  static_cast<void>(second);
  return *builder.Build(nullptr);
}

uint32_t NodeOfId(const RankTrace& rank, uint64_t id) {
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (rank.id[node] == id) return node;
  }
  return kNone;
}

TEST(LastStepTest, HoldsWhatStartsInTheLastMarkAndCountsFromItsStart) {
  ASSERT_OK_AND_ASSIGN(const RankTrace step, LastStepOfRank(TwoSteps()));
  ASSERT_EQ(step.size(), 4u);  // The mark, b, both collectives launched by b.
  const uint32_t b = NodeOfId(step, 4), comm = NodeOfId(step, 5);
  EXPECT_EQ(step.start_ns[b], 20 * kUs);
  EXPECT_EQ(step.start_ns[comm], 45 * kUs);
  EXPECT_EQ(step.work_ns[b], 20 * kUs);
  ASSERT_NE(step.CommOf(comm), nullptr);
  EXPECT_EQ(step.CommOf(comm)->bytes, 64);
}

// b began 20 us after the mark; its recorded gap counts from an operation that is gone.
TEST(LastStepTest, ANodeThatLosesItsDependenciesStartsWhenItDid) {
  ASSERT_OK_AND_ASSIGN(const RankTrace step, LastStepOfRank(TwoSteps()));
  const std::vector<int64_t> gap_ns = step.DenseGaps();
  EXPECT_EQ(gap_ns[NodeOfId(step, 4)], 20 * kUs);
  EXPECT_EQ(gap_ns[NodeOfId(step, 5)], 5 * kUs);
  EXPECT_EQ(ReplayRecorded(step).end_ns[NodeOfId(step, 5)], (20 + 20 + 5 + 10) * kUs);
}

TEST(LastStepTest, CommunicationWhoseTimesWereLostStaysWithItsLaunch) {
  ASSERT_OK_AND_ASSIGN(const RankTrace step, LastStepOfRank(TwoSteps()));
  const uint32_t lost = NodeOfId(step, 6);
  ASSERT_NE(lost, kNone);
  EXPECT_EQ(step.start_ns[lost], kUnknownNs);
  EXPECT_EQ(step.dep_begin[lost + 1] - step.dep_begin[lost], 1u);
  EXPECT_EQ(NodeOfId(step, 7), kNone);
}

TEST(LastStepTest, ATraceWithoutStepsIsRefused) {
  RankTraceBuilder builder;
  builder.header().rank = 3;
  builder.AddNode(Spec(1, "ProfilerStep#0", 0, 10));  // An operation of that name, not a mark.
  ASSERT_OK_AND_ASSIGN(const RankTrace rank, builder.Build(nullptr));
  EXPECT_THAT(LastStepOfRank(rank).status(), StatusIs(absl::StatusCode::kNotFound, ""));
}

TEST(LastStepTest, ScalingTouchesComputeAndGapsButNotCommunication) {
  Trace trace;
  trace.ranks.push_back(TwoSteps());
  ScaleHostTime(0.5, &trace);
  const RankTrace& rank = trace.ranks[0];
  EXPECT_EQ(rank.work_ns[NodeOfId(rank, 4)], 10 * kUs);
  EXPECT_EQ(rank.work_ns[NodeOfId(rank, 5)], 10 * kUs);
  EXPECT_EQ(rank.work_ns[NodeOfId(rank, 6)], kUnknownNs);
  EXPECT_EQ(rank.DenseGaps()[NodeOfId(rank, 4)], 3500);
}

// With the recorded durations of its collectives, the step takes as long as its mark.
TEST(LastStepTest, OfARecordedRunTakesAsLongAsItDid) {
  const std::string folder = "tests/data/ground_truth/traces/mlp_dp/w2/rate_none";
  std::vector<ImportFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back({entry.path().filename().string(), entry.path().string()});
  }
  ASSERT_OK_AND_ASSIGN(const ImportResult imported, ImportTrace(files, ImportOptions()));
  ASSERT_OK_AND_ASSIGN(const Trace step, LastStep(imported.trace));
  ASSERT_EQ(step.ranks.size(), 2u);
  for (const RankTrace& rank : step.ranks) {
    int64_t mark_ns = 0, comms_count = 0;
    for (uint32_t node = 0; node < rank.size(); ++node) {
      if (rank.NameOf(node) == "ProfilerStep#1") mark_ns = rank.dur_ns[node];
      comms_count += rank.type[node] == NodeType::kCommColl;
    }
    EXPECT_EQ(comms_count, 3);
    EXPECT_GT(mark_ns, 40'000'000);
    EXPECT_NEAR(static_cast<double>(ReplayRecorded(rank).span_ns) / mark_ns, 1, 0.005);
  }
}

}  // namespace
}  // namespace chakrad
