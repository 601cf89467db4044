// Ranks simulated as one that share a trace, a moment or a memory, against the same ranks alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "sim/engine/semantics.h"
#include "sim/simulate.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

constexpr int32_t kRanks = 4;

SystemDescription UnevenRing() {
  SystemDescription system = TestSystem({{TopologyKind::kRing, kRanks, 10, 100}});
  system.semantics = Semantics::kPhysical;
  system.local_mem_bytes_per_ns = 0;
  system.endpoint_delay_ns = 0;
  system.link_overrides.push_back({0, 2, -1, system.dims[0].bytes_per_ns / 4, -1});
  return system;
}

SimResult RunOnce(const Trace& trace, const SystemDescription& system, bool fold) {
  SimOptions options;
  options.fold = fold;
  options.critical_path = true;
  absl::StatusOr<SimResult> result = Simulate(trace, system, options, nullptr);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : SimResult();
}

void ExpectFoldingChangesNothing(const Trace& trace, const SystemDescription& system,
                                 const std::string& where) {
  SimOptions options;
  options.critical_path = true;
  const absl::StatusOr<SimResult> fold = Simulate(trace, system, options, nullptr);
  options.fold = false;
  const absl::StatusOr<SimResult> alone = Simulate(trace, system, options, nullptr);
  ASSERT_EQ(fold.ok(), alone.ok()) << where << fold.status() << alone.status();
  if (!fold.ok()) return;
  const SimResult &folded = *fold, &single = *alone;
  EXPECT_EQ(folded.ranks, single.ranks) << where;
  EXPECT_EQ(folded.times, single.times) << where;
  EXPECT_EQ(folded.critical_path, single.critical_path) << where;
}

TEST(FoldExactTest, OperatorsOfOtherClassesAreOtherTraces) {
  TraceMaker maker(2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    NodeSpec spec{.id = 1, .type = NodeType::kComp, .work_ns = 1000};
    spec.name = rank == 0 ? "ampere_sgemm_128x64_tn" : "vectorized_elementwise_kernel";
    maker.Add(rank, spec);
  }
  const Trace trace = maker.Make();
  SystemDescription system = TestSystem({{TopologyKind::kRing, 2, 10, 100}});
  system.compute.scale_by_class = {{"matmul", 3.0}};
  EXPECT_EQ(EndsNs(trace, system), (std::vector<int64_t>{3000, 1000}));
}

// Two slots in flight that end at one moment, begun in the other order than that of the slots.
TEST(FoldExactTest, APartKeepsTheOrderOfWhatIsInFlight) {
  TraceMaker maker(kRanks);
  const uint32_t low = maker.AddGroup("pair", {0, 1}), high = maker.AddGroup("pair", {2, 3});
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    maker.Comp(rank, 2, 10'000);
    maker.HostComp(rank, 3, 1000);
    maker.HostComp(rank, 4, 9000, {3});
    maker.Collective(rank, 5, CollectiveType::kAllReduce, 1000, rank < 2 ? low : high, {3});
    maker.HostComp(rank, 20, 5000, {2});
    maker.HostComp(rank, 30, 3000, {3});
    maker.Comp(rank, 40, 7000, {20});
  }
  ExpectFoldingChangesNothing(maker.Make(), UnevenRing(), "");
}

TEST(FoldExactTest, APartKeepsItsOwnMemoryBusy) {
  TraceMaker maker(kRanks);
  const uint32_t low = maker.AddGroup("pair", {0, 1}), high = maker.AddGroup("pair", {2, 3});
  const WorkSize size{0, 100'000};
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    const Queue one{Queue::Kind::kDeviceStream, 0, 1}, two{Queue::Kind::kDeviceStream, 0, 2};
    maker.HostComp(rank, 1, rank == 0 ? 2000 : 1000);  // Rank 1 waits for it, 2 and 3 do not.
    maker.Add(
        rank,
        {.id = 2, .type = NodeType::kMemLoad, .name = "load", .queue = one, .work_size = &size});
    maker.Collective(rank, 5, CollectiveType::kAllReduce, 1000, rank < 2 ? low : high, {1});
    maker.Add(
        rank,
        {.id = 6, .type = NodeType::kMemLoad, .name = "load", .queue = two, .work_size = &size},
        {5});
  }
  SystemDescription system = TestSystem({{TopologyKind::kRing, kRanks, 10, 100}});
  system.issue_rule = IssueRule::kRecordedQueues;
  system.remote_memory = {RemoteMemory::Kind::kPerNode, 100, 3, 1};
  ExpectFoldingChangesNothing(maker.Make(), system, "");
}

TEST(FoldExactTest, MessagesOfAMillionRanksAreCountedWithoutOverflow) {
  constexpr int32_t kMany = 1 << 20;
  TraceMaker maker(1);
  for (uint64_t id = 1; id <= 20; ++id) {
    maker.Collective(0, id, CollectiveType::kAllToAll, 1 << 20, kWorldGroup,
                     id > 1 ? std::vector<uint64_t>{id - 1} : std::vector<uint64_t>{});
  }
  Trace trace = maker.Make();
  trace.world_size = kMany;
  trace.groups[0].ranks.resize(kMany);
  std::iota(trace.groups[0].ranks.begin(), trace.groups[0].ranks.end(), 0);
  SystemDescription system = TestSystem({{TopologyKind::kRing, kMany, 100, 0}});
  system.endpoint_delay_ns = 0;
  system.splits = 64;
  SimOptions options;
  options.replicate_missing_ranks = true;
  ASSERT_OK_AND_ASSIGN(const SimResult result, Simulate(trace, system, options, nullptr));
  EXPECT_GT(result.dims[0].messages_count, int64_t{1} << 60);
}

TEST(FoldExactTest, WaitsOnManyQueuesDoNotOverflow) {
  TraceMaker maker(2);
  const int64_t work_ns = int64_t{2'000'000'000'000'000};  // 23 days.
  for (int32_t rank = 0; rank < 2; ++rank) {
    if (rank == 1) maker.Comp(rank, 1, work_ns);
    for (int64_t i = 0; i < 8; ++i) {
      const uint32_t group = rank == 0 ? maker.AddGroup("g", {0, 1}) : static_cast<uint32_t>(i + 1);
      const CommOp op{.collective = CollectiveType::kAllReduce, .bytes = 1000, .group = group};
      NodeSpec spec{.id = uint64_t(10 + i),
                    .type = NodeType::kCommColl,
                    .name = "coll",
                    .queue = {Queue::Kind::kDeviceStream, 0, 10 + i}};
      spec.comm = &op;
      maker.Add(rank, spec, rank == 1 ? std::vector<uint64_t>{1} : std::vector<uint64_t>{});
    }
  }
  SystemDescription system = TestSystem({{TopologyKind::kRing, 2, 10, 100}});
  system.issue_rule = IssueRule::kRecordedQueues;
  const SimResult result = RunOnce(maker.Make(), system, true);
  EXPECT_GE(result.times[0].wait_ps, work_ns * kPsPerNs);
}

// Of two copies, one's original runs an equal trace: its groups have not moved.
TEST(FoldExactTest, ACopyOfAnEqualTraceKeepsItsRoot) {
  TraceMaker maker(5);
  const uint32_t a = maker.AddGroup("a", {0, 2, 3}), b = maker.AddGroup("b", {1, 2, 4});
  const auto broadcast = [&](int32_t rank, uint64_t id, uint32_t group,
                             std::vector<uint64_t> deps) {
    const CommOp op{
        .collective = CollectiveType::kBroadcast, .bytes = 1000, .group = group, .root = 2};
    maker.Add(rank, {.id = id, .type = NodeType::kCommColl, .name = "bc", .comm = &op}, deps);
  };
  broadcast(0, 1, a, {});
  broadcast(1, 1, b, {});
  broadcast(2, 1, a, {});
  broadcast(2, 2, b, {1});
  Trace trace = maker.Make({3, 4});
  trace.copies = {{.rank = 3, .of = 0, .groups = {}}, {.rank = 4, .of = 1, .groups = {}}};
  SystemDescription system = TestSystem({{TopologyKind::kSwitch, 5, 10, 100}});
  system.semantics = Semantics::kPhysical;
  SimOptions options;
  options.replicate_missing_ranks = true;
  const absl::StatusOr<SimResult> result = Simulate(trace, system, options, nullptr);
  EXPECT_TRUE(result.ok()) << result.status();
}

// A job of ranks of two kinds whose times are often equal.
Trace JobOfTies(std::mt19937* random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(*random);
  };
  TraceMaker maker(kRanks);
  const uint32_t low = maker.AddGroup("pair", {0, 1}), high = maker.AddGroup("pair", {2, 3});
  for (uint64_t id = 1; id <= 24; ++id) {
    std::vector<uint64_t> deps;
    if (id > 1 && pick(0, 2) > 0) deps.push_back(static_cast<uint64_t>(pick(1, id - 1)));
    const int64_t what = pick(0, 6), work_ns = 1000 * pick(0, 4);
    const int64_t gap_ns = pick(0, 3) == 0 ? 1000 * pick(1, 3) : 0;
    const bool world = pick(0, 1) == 0;
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      NodeSpec spec{
          .id = id, .type = NodeType::kComp, .name = "x", .work_ns = work_ns, .gap_ns = gap_ns};
      CommOp op;
      if (what < 3) spec.flags = RankTrace::kHostOp;
      if (what == 5) spec.type = NodeType::kMemLoad, spec.work_ns = work_ns + 1000;
      if (what == 6) {
        spec.type = NodeType::kCommColl;
        op.bytes = 4;
        op.group = world ? kWorldGroup : rank < 2 ? low : high;
        spec.comm = &op;
      }
      maker.Add(rank, spec, deps);
    }
  }
  return maker.Make();
}

// Messages take whole microseconds, as everything else in these jobs.
SystemDescription EqualMoments() {
  SystemDescription system = UnevenRing();
  system.semantics = Semantics::kPhysical;
  system.dims[0].bytes_per_ns = 1e6;
  system.dims[0].latency_ns = 500;
  system.link_overrides = {{0, 2, -1, 0, 1500}};
  return system;
}

TEST(FoldExactTest, JobsOfManyEqualMomentsAgree) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const Trace trace = JobOfTies(&random);
    ExpectFoldingChangesNothing(trace, UnevenRing(), absl::StrCat("seed ", seed));
    ExpectFoldingChangesNothing(trace, EqualMoments(), absl::StrCat("seed ", seed, ", equal"));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace chakrad
