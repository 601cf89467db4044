#include "analysis/memory/memory_over_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "analysis/timeline/testing/rank_sketch.h"
#include "trace/operators/test_operators.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kNs = 1000;

// A list of one tensor whose storage has this id: `elements` of 4 bytes on cuda:0.
std::string Tensor(int storage, int elements) {
  return absl::StrCat("[[1,", storage, ",0,", elements, ",4,\"cuda:0\"]]");
}

void AddOp(RankSketch* sketch, int64_t start_ns, int64_t end_ns, const std::string& in,
           const std::string& out) {
  const std::string cold = ColdOf({.in_values = in, .out_values = out});
  NodeSpec spec;
  spec.type = NodeType::kComp;
  spec.flags = RankTrace::kHostOp;
  spec.name = "aten::op";
  spec.start_ns = start_ns;
  spec.dur_ns = end_ns - start_ns;
  spec.cold = cold;
  sketch->Node(spec);
}

// The example of docs/analysis.md#memory-over-time.
// Storage 1, 400 bytes, was there and stays; 2, 40 bytes, comes out of the first operation [10, 20)
// and is last read by the third [40, 50); 3, 80 bytes, lives from [25, 30) to the third.
Trace ThreeOps() {
  RankSketch sketch;
  AddOp(&sketch, 10, 20, Tensor(1, 100), Tensor(2, 10));
  AddOp(&sketch, 25, 30, Tensor(2, 10), Tensor(3, 20));
  AddOp(&sketch, 40, 50, absl::StrCat("[", Tensor(2, 10), ",", Tensor(3, 20), "]"), "[]");
  return SketchTrace({sketch.Build()});
}

TEST(MemoryOverTimeTest, TensorsTakeMemoryFromTheirFirstOperationToTheEndOfTheirLast) {
  const Trace trace = ThreeOps();
  const absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
  ASSERT_TRUE(job.ok());
  const std::vector<MemoryUse> got = MemoryOverTime(job->ranks[0], 100);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].device, "cuda:0");
  EXPECT_EQ(got[0].resident_bytes, 400);
  EXPECT_EQ(got[0].peak_bytes, 520);
  EXPECT_EQ(got[0].peak_at_ps, 25 * kNs);
  EXPECT_THAT(got[0].steps, ElementsAre(MemoryStep{10 * kNs, 440}, MemoryStep{25 * kNs, 520},
                                        MemoryStep{50 * kNs, 400}));
}

// Simulated, the second operation takes no time: it counts where the first one starts.
TEST(MemoryOverTimeTest, OfASimulatedTimelineTheTimesAreTheSimulatedOnes) {
  const Trace trace = ThreeOps();
  const absl::StatusOr<JobTimeline> job = SimulatedTimeline(
      trace, 1000,
      {{.start_ps = 100, .end_ps = 200, .node = 0}, {.start_ps = 300, .end_ps = 400, .node = 2}},
      {});
  ASSERT_TRUE(job.ok());
  const std::vector<MemoryUse> got = MemoryOverTime(job->ranks[0], 100);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_THAT(got[0].steps, ElementsAre(MemoryStep{100, 520}, MemoryStep{400, 400}));
}

TEST(MemoryOverTimeTest, WithoutArgumentTextsThereIsNothingToSay) {
  RankSketch sketch;
  sketch.Kernel("k", 0, 1);
  const Trace trace = SketchTrace({sketch.Build()});
  const absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
  ASSERT_TRUE(job.ok());
  EXPECT_THAT(MemoryOverTime(job->ranks[0], 100), IsEmpty());
}

}  // namespace
}  // namespace chakrad
