#include "sim/compute/node_costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/status_matchers.h"
#include "sim/engine/semantics.h"
#include "trace/operators/test_operators.h"

namespace chakrad {
namespace {

SystemDescription Astra(ComputeBasis basis) {
  SystemDescription system;
  system.compute.basis = basis;
  system.compute.peak_flops_per_ns = 1000;   // 1 TFLOP/s.
  system.compute.memory_bytes_per_ns = 100;  // 100 GB/s.
  return system;
}

SystemDescription Physical(ComputeBasis basis) {
  SystemDescription system = Astra(basis);
  system.semantics = Semantics::kPhysical;
  return system;
}

// A device operation, unless `flags` say otherwise.
RankTrace OneNode(int64_t work_ns, const WorkSize* size, uint8_t flags = 0) {
  OpMaker maker;
  maker.Add({.id = 1,
             .type = NodeType::kComp,
             .flags = flags,
             .name = "kernel",
             .work_ns = work_ns,
             .work_size = size});
  return maker.Make();
}

ComputeCosts CostOf(const SystemDescription& system, const RankTrace& trace) {
  absl::StatusOr<ComputeCosts> costs = CostComputeNodes(system, trace);
  EXPECT_TRUE(costs.ok()) << costs.status().ToString();
  return costs.ok() ? *std::move(costs) : ComputeCosts();
}

TEST(NodeCostsTest, RecordedTimesAreChargedAsTheyAre) {
  const ComputeCosts costs = CostOf(Astra(ComputeBasis::kRecorded), OneNode(17, nullptr));
  EXPECT_EQ(costs.takes_ps[0], 17'000);
  EXPECT_EQ(costs.recorded_count, 1);
  EXPECT_TRUE(costs.charged_any_time);
}

TEST(NodeCostsTest, AstraChargesANanosecondAtLeastAndPhysicalDoesNot) {
  for (const int64_t work_ns : {int64_t{0}, kUnknownNs}) {
    const RankTrace trace = OneNode(work_ns, nullptr);
    const ComputeCosts astra = CostOf(Astra(ComputeBasis::kRecorded), trace);
    EXPECT_EQ(astra.takes_ps[0], 1000);
    EXPECT_FALSE(astra.charged_any_time);
    EXPECT_EQ(CostOf(Physical(ComputeBasis::kRecorded), trace).takes_ps[0], 0);
    EXPECT_EQ(astra.unknown_count, work_ns == kUnknownNs ? 1 : 0);
  }
}

TEST(NodeCostsTest, AstraCutsTheRooflineToANanosecond) {
  const WorkSize bound_by_peak{5'050, 101};  // 5.05 ns at the peak, 1.01 ns of memory.
  EXPECT_EQ(CostOf(Astra(ComputeBasis::kRoofline), OneNode(9, &bound_by_peak)).takes_ps[0], 5'000);
  EXPECT_EQ(CostOf(Physical(ComputeBasis::kRoofline), OneNode(9, &bound_by_peak)).takes_ps[0],
            5'050);
  const WorkSize bound_by_memory{10, 777};  // 7.77 ns of memory.
  EXPECT_EQ(CostOf(Astra(ComputeBasis::kRoofline), OneNode(9, &bound_by_memory)).takes_ps[0],
            7'000);
  EXPECT_EQ(CostOf(Physical(ComputeBasis::kRoofline), OneNode(9, &bound_by_memory)).takes_ps[0],
            7'770);
}

TEST(NodeCostsTest, AstraSkipsANodeOfNoBytesAndPhysicalChargesItsOperations) {
  const WorkSize no_bytes{5'000, 0};
  const ComputeCosts astra = CostOf(Astra(ComputeBasis::kRoofline), OneNode(9, &no_bytes));
  EXPECT_EQ(astra.takes_ps[0], ComputeCosts::kSkipped);
  EXPECT_EQ(astra.skipped_count, 1);
  const ComputeCosts physical = CostOf(Physical(ComputeBasis::kRoofline), OneNode(9, &no_bytes));
  EXPECT_EQ(physical.takes_ps[0], 5'000);
  EXPECT_EQ(physical.roofline_count, 1);
}

TEST(NodeCostsTest, WithoutASizeTheRooflineFallsBackToTheRecordedTime) {
  const ComputeCosts costs = CostOf(Astra(ComputeBasis::kRoofline), OneNode(9, nullptr));
  EXPECT_EQ(costs.takes_ps[0], 9'000);
  EXPECT_EQ(costs.without_size_count, 1);
  const WorkSize nothing{0, 0};
  EXPECT_EQ(CostOf(Physical(ComputeBasis::kRoofline), OneNode(9, &nothing)).without_size_count, 1);
}

TEST(NodeCostsTest, HostOperationsBesideADeviceNeverTakeTheRoofline) {
  const WorkSize size{1'000'000, 1'000'000};
  const ComputeCosts costs =
      CostOf(Astra(ComputeBasis::kRoofline), OneNode(9, &size, RankTrace::kHostOp));
  EXPECT_EQ(costs.takes_ps[0], 9'000);
  EXPECT_EQ(costs.roofline_count, 0);
}

TEST(NodeCostsTest, NodesThatDoNotComputeCostNothingHere) {
  OpMaker maker;
  maker.Add({.id = 1, .type = NodeType::kMemLoad, .name = "load", .work_ns = 5});
  maker.Add({.id = 2, .type = NodeType::kMetadata, .name = "mark", .work_ns = 5});
  const ComputeCosts costs = CostOf(Astra(ComputeBasis::kRecorded), maker.Make());
  EXPECT_EQ(costs.takes_ps, std::vector<int64_t>(2, 0));
  EXPECT_FALSE(costs.charged_any_time);
}

// Section 8 of ASTRA-sim's cost model, written down once more; -1: skipped.
int64_t AstraTakesNs(const ComputeModel& model, const RankTrace& trace, uint32_t node) {
  const WorkSize* size = trace.WorkSizeOf(node);
  const bool roofline =
      model.basis == ComputeBasis::kRoofline && !trace.is_host(node) && size != nullptr;
  if (!roofline) return std::max<int64_t>(trace.work_ns[node], 1);
  if (size->tensor_bytes == 0) return -1;
  const double num_ops = static_cast<double>(size->num_ops);
  const double intensity = num_ops / static_cast<double>(size->tensor_bytes);
  const double per_sec = std::min(model.memory_bytes_per_ns * 1e9 * intensity,  //
                                  model.peak_flops_per_ns * 1e9);
  if (per_sec <= 0) return 1;
  return std::max<int64_t>(static_cast<int64_t>(num_ops / per_sec * 1e9), 1);
}

TEST(NodeCostsTest, AgreesWithTheStatedCostModelOverRandomTraces) {
  std::mt19937_64 random(7);
  const auto upto = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
  for (int round = 0; round < 200; ++round) {
    SystemDescription system =
        Astra(round % 2 == 0 ? ComputeBasis::kRecorded : ComputeBasis::kRoofline);
    system.compute.peak_flops_per_ns = 1 + static_cast<double>(upto(1'000'000)) / 7;
    system.compute.memory_bytes_per_ns = 1 + static_cast<double>(upto(1'000'000)) / 3;
    OpMaker maker;
    for (uint64_t id = 0; id < 50; ++id) {
      const WorkSize size{upto(int64_t{1} << (1 + upto(50))), upto(4) == 0 ? 0 : upto(1 << 30)};
      maker.Add({.id = id,
                 .type = NodeType::kComp,
                 .flags = upto(3) == 0 ? RankTrace::kHostOp : uint8_t{0},
                 .name = "op",
                 .work_ns = upto(5) - 1,
                 .work_size = upto(3) == 0 ? nullptr : &size});
    }
    const RankTrace trace = maker.Make();
    const ComputeCosts costs = CostOf(system, trace);
    for (uint32_t node = 0; node < trace.size(); ++node) {
      const int64_t want_ns = AstraTakesNs(system.compute, trace, node);
      EXPECT_EQ(costs.takes_ps[node], want_ns < 0 ? ComputeCosts::kSkipped : want_ns * 1000)
          << "round " << round << " node " << node;
    }
  }
}

TEST(NodeCostsTest, RecordedCommunicationHasTheSameFloor) {
  const RankTrace trace = OneNode(kUnknownNs, nullptr);
  EXPECT_EQ(RecordedCommPs(Semantics::kAstra, trace, 0), 1000);
  EXPECT_EQ(RecordedCommPs(Semantics::kPhysical, trace, 0), 0);
  EXPECT_EQ(RecordedCommPs(Semantics::kPhysical, OneNode(12, nullptr), 0), 12'000);
}

// ---- Operator shapes. The machine: 1,000 FLOPs and 100 bytes a nanosecond.

constexpr char kMmName[] = "aten::mm";
// [10, 100] x [100, 50]: 100,000 FLOPs, 100 ns; 4 * (1,000 + 5,000 + 500) = 26,000 bytes, 260 ns.
const std::string& MmCold() {
  static const std::string cold =
      ColdOf({"", "[[10, 100], [100, 50]]", "[\"Tensor(float)\", \"Tensor(float)\"]", "",
              "[[10, 50]]", "[\"Tensor(float)\"]"});
  return cold;
}
constexpr int64_t kMmPs = 260'000;

NodeSpec Host(uint64_t id, absl::string_view name, absl::string_view cold, int64_t work_ns,
              int64_t start_ns = kUnknownNs, int64_t dur_ns = kUnknownNs) {
  return {.id = id,
          .type = NodeType::kComp,
          .flags = RankTrace::kHostOp,
          .name = name,
          .start_ns = start_ns,
          .dur_ns = dur_ns,
          .work_ns = work_ns,
          .cold = cold};
}
NodeSpec Kernel(uint64_t id, absl::string_view name, int64_t work_ns) {
  return {.id = id,
          .type = NodeType::kComp,
          .name = name,
          .queue = {Queue::Kind::kDeviceStream, 0, 7},
          .work_ns = work_ns};
}

// aten::linear [0, 100) calls aten::t [5, 10) and aten::mm [10, 90), which calls
// aten::resolve_conj [20, 30).
TEST(NodeCostsTest, OfNestedOperatorsOneIsChargedForTheWork) {
  OpMaker maker;
  maker.Add(Host(1, "aten::linear", MmCold(), 5, 0, 100));
  maker.Add(Host(2, "aten::t", "", 5, 5, 5));
  maker.Add(Host(3, kMmName, MmCold(), 10, 10, 80));
  maker.Add(Host(4, "aten::resolve_conj", "", 80, 20, 10));
  for (const auto& [node, parent] : {std::pair{1, 0}, {2, 0}, {3, 2}}) maker.Nest(node, parent);
  const ComputeCosts costs = CostOf(Physical(ComputeBasis::kOperatorShapes), maker.Make());
  EXPECT_EQ(costs.takes_ps, (std::vector<int64_t>{5'000, 5'000, kMmPs, 0}));
  EXPECT_EQ(costs.shapes_count, 1);
  EXPECT_EQ(costs.inside_count, 1);
  EXPECT_EQ(costs.recorded_count, 2);
  EXPECT_EQ(costs.without_size_count, 0);
}

TEST(NodeCostsTest, AWrapperIsChargedWhereNothingKnownIsInside) {
  // aten::matmul calls aten::linear (oddly), which calls something new.
  OpMaker maker;
  maker.Add(Host(1, "aten::matmul", MmCold(), 5));
  maker.Add(Host(2, "aten::matmul", MmCold(), 6));
  maker.Add(Host(3, "aten::new_gemm", "", 7));
  maker.Nest(1, 0);
  maker.Nest(2, 1);
  const ComputeCosts costs = CostOf(Physical(ComputeBasis::kOperatorShapes), maker.Make());
  EXPECT_EQ(costs.takes_ps, (std::vector<int64_t>{5'000, kMmPs, 0}));
}

TEST(NodeCostsTest, AControlEdgeBetweenOperatorsOneAfterTheOtherIsNoNesting) {
  OpMaker maker;
  maker.Add(Host(1, kMmName, MmCold(), 5, 0, 10));
  maker.Add(Host(2, kMmName, MmCold(), 5, 10, 10));
  maker.Nest(1, 0);
  const ComputeCosts costs = CostOf(Physical(ComputeBasis::kOperatorShapes), maker.Make());
  EXPECT_EQ(costs.takes_ps, (std::vector<int64_t>{kMmPs, kMmPs}));
}

TEST(NodeCostsTest, WithoutArgumentsAnOperatorKeepsItsRecordedTimeAndCounts) {
  OpMaker maker;
  maker.Add(Host(1, kMmName, "", 5, 0, 10));
  maker.Add(Host(2, "aten::t", "", 6, 2, 3));
  maker.Nest(1, 0);
  const ComputeCosts costs = CostOf(Physical(ComputeBasis::kOperatorShapes), maker.Make());
  EXPECT_EQ(costs.takes_ps, (std::vector<int64_t>{5'000, 6'000}));
  EXPECT_EQ(costs.without_size_count, 1);
}

// The host prepares work for a device: it keeps its own time, and the kernels that
// aten::mm launched share its work as they shared the recorded time.
TEST(NodeCostsTest, KernelsShareTheWorkOfTheOperatorThatLaunchedThem) {
  OpMaker maker;
  maker.Add(Host(1, kMmName, MmCold(), 5));
  maker.Add(Host(2, "aten::fill_", "", 6));
  maker.Nest(1, 0);
  maker.Add(Kernel(3, "splitK", 30));
  maker.Add(Kernel(4, "gemm", 10));
  maker.Launch(2, 0);
  maker.Launch(3, 1);
  const ComputeCosts costs = CostOf(Physical(ComputeBasis::kOperatorShapes), maker.Make());
  EXPECT_EQ(costs.takes_ps, (std::vector<int64_t>{5'000, 6'000, kMmPs * 3 / 4, kMmPs / 4}));
  EXPECT_EQ(costs.shapes_count, 2);
  EXPECT_EQ(costs.recorded_count, 2);
}

TEST(NodeCostsTest, KernelsWithoutRecordedTimesShareEqually) {
  OpMaker maker;
  maker.Add(Host(1, kMmName, MmCold(), 5));
  maker.Add(Kernel(2, "a", kUnknownNs));
  maker.Add(Kernel(3, "b", 10));
  maker.Launch(1, 0);
  maker.Launch(2, 0);
  const ComputeCosts costs = CostOf(Physical(ComputeBasis::kOperatorShapes), maker.Make());
  EXPECT_EQ(costs.takes_ps, (std::vector<int64_t>{5'000, kMmPs / 2, kMmPs / 2}));
}

TEST(NodeCostsTest, ShapesFallBackToTheRooflineAndThenToTheRecordedTime) {
  OpMaker maker;
  const WorkSize size{500'000, 100};
  NodeSpec sized = Kernel(1, "mystery", 10);
  sized.work_size = &size;
  maker.Add(sized);
  maker.Add(Kernel(2, "mystery", 10));
  const ComputeCosts costs = CostOf(Physical(ComputeBasis::kOperatorShapes), maker.Make());
  EXPECT_EQ(costs.takes_ps, (std::vector<int64_t>{500'000, 10'000}));
  EXPECT_EQ(costs.roofline_count, 1);
  EXPECT_EQ(costs.without_size_count, 1);
}

TEST(NodeCostsTest, ShapesTimesFallInProportionToTheMachine) {
  OpMaker maker;
  maker.Add(Host(1, kMmName, MmCold(), 5));
  const RankTrace trace = maker.Make();
  SystemDescription system = Physical(ComputeBasis::kOperatorShapes);
  for (const double factor : {0.5, 2.0, 4.0, 8.0}) {
    system.compute.peak_flops_per_ns = 1000 * factor;
    system.compute.memory_bytes_per_ns = 100 * factor;
    EXPECT_EQ(CostOf(system, trace).takes_ps[0],
              static_cast<int64_t>(static_cast<double>(kMmPs) / factor));
  }
}

// ---- Factors.

TEST(NodeCostsTest, RecordedTimesOfWhatComputesAreScaled) {
  OpMaker maker;
  maker.Add(Host(1, "aten::t", "", 100));
  maker.Add(Kernel(2, "gemm", 100));
  SystemDescription system = Physical(ComputeBasis::kRecorded);
  system.compute.recorded_scale = 0.25;
  EXPECT_EQ(CostOf(system, maker.Make()).takes_ps, (std::vector<int64_t>{100'000, 25'000}));
  OpMaker host_only;
  host_only.Add(Host(1, "aten::t", "", 100));
  EXPECT_EQ(CostOf(system, host_only.Make()).takes_ps[0], 25'000);
}

TEST(NodeCostsTest, AClassIsScaledWhateverItsTimeComesFrom) {
  OpMaker maker;
  maker.Add(Host(1, kMmName, MmCold(), 5, 0, 10));
  maker.Add(Host(2, "aten::t", "", 40, 2, 3));  // Holds the rest of aten::mm's recorded time.
  maker.Nest(1, 0);
  maker.Add(Host(3, "aten::gelu", "", 20, 50, 20));
  const RankTrace trace = maker.Make();
  SystemDescription system = Physical(ComputeBasis::kRecorded);
  system.compute.scale_by_class = {{"matmul", 2}, {"elementwise", 0.5}};
  EXPECT_EQ(CostOf(system, trace).takes_ps, (std::vector<int64_t>{10'000, 80'000, 10'000}));
  system.compute.basis = ComputeBasis::kOperatorShapes;
  EXPECT_EQ(CostOf(system, trace).takes_ps, (std::vector<int64_t>{2 * kMmPs, 0, 10'000}));
}

TEST(NodeCostsTest, WhatRunsInAnOptimisersStepIsItsClass) {
  OpMaker maker;
  maker.Add({.id = 1,
             .type = NodeType::kMetadata,
             .flags = RankTrace::kHostOp | RankTrace::kAnnotation,
             .name = "Optimizer.step#SGD.step"});
  maker.Add(Host(2, "aten::add_", "", 100));
  maker.Add(Host(3, "aten::mm", "", 100));
  maker.Nest(1, 0);
  maker.Nest(2, 0);
  SystemDescription system = Physical(ComputeBasis::kRecorded);
  system.compute.scale_by_class = {{"optimiser", 3}};
  EXPECT_EQ(CostOf(system, maker.Make()).takes_ps, (std::vector<int64_t>{0, 300'000, 100'000}));
}

TEST(NodeCostsTest, FactorsThatCannotBeAreRefusedByName) {
  const RankTrace trace = OneNode(1, nullptr);
  SystemDescription system = Physical(ComputeBasis::kRecorded);
  system.compute.scale_by_class = {{"gemm", 2}};
  EXPECT_THAT(CostComputeNodes(system, trace).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "\"gemm\" is no class of operators; there are matmul"));
  system.compute.scale_by_class = {{"matmul", -1}};
  EXPECT_THAT(CostComputeNodes(system, trace).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "scale_by_class.matmul: -1"));
  system.compute.scale_by_class.clear();
  system.compute.recorded_scale = 0;
  EXPECT_THAT(CostComputeNodes(system, trace).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "recorded_scale: 0"));
}

}  // namespace
}  // namespace chakrad
