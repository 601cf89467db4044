// Collectives over both back ends: what nothing disturbs takes the same, and what links carry
// adds up to what the formulas of collectives say.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "sim/collective/test_run.h"

namespace chakrad {
namespace {

SystemDescription System(TopologyKind topology, int32_t npus_count, AlgorithmKind algorithm) {
  SystemDescription system;
  system.semantics = Semantics::kPhysical;
  NetworkDim dim;
  dim.topology = topology;
  dim.npus_count = npus_count;
  dim.bytes_per_ns = 12.5;
  dim.latency_ns = 300;
  system.dims = {dim};
  system.endpoint_delay_ns = 0;
  const CollectiveImplementation all{false, {{algorithm, -1}}};
  system.all_reduce = system.all_gather = system.reduce_scatter = system.all_to_all = all;
  return system;
}

OneRun RunOn(SystemDescription system, NetworkBackEnd back_end, CollectiveType type,
             int64_t bytes) {
  system.back_end = back_end;
  OneCollective one;
  one.call.type = type;
  one.call.bytes = bytes;
  return RunOne(system, one);
}

OneRun RunOn(const SystemDescription& system, CollectiveType type, int64_t bytes) {
  return RunOn(system, NetworkBackEnd::kLink, type, bytes);
}

double SumBytes(const OneRun& run, bool (*which)(const LinkUse&)) {
  double sum = 0;
  for (const LinkUse& use : run.uses) sum += which(use) ? use.bytes : 0;
  return sum;
}

// In step, no two messages meet on a link: neighbours on a ring; one peer at a time through a
// switch, each another; pairs.
TEST(BackEndsTest, CollectivesInStepTakeTheSameOnLinksAndPorts) {
  struct Case {
    TopologyKind topology;
    AlgorithmKind algorithm;
  };
  for (const Case& c : {Case{TopologyKind::kRing, AlgorithmKind::kRing},
                        Case{TopologyKind::kMesh, AlgorithmKind::kRing},
                        Case{TopologyKind::kSwitch, AlgorithmKind::kRing},
                        Case{TopologyKind::kFullyConnected, AlgorithmKind::kRing},
                        Case{TopologyKind::kSwitch, AlgorithmKind::kDirect},
                        Case{TopologyKind::kSwitch, AlgorithmKind::kHalvingDoubling},
                        Case{TopologyKind::kFullyConnected, AlgorithmKind::kHalvingDoubling}}) {
    for (const int32_t npus_count : {2, 4, 8, 16}) {
      std::mt19937_64 random(npus_count);
      for (int round = 0; round < 5; ++round) {
        SystemDescription system = System(c.topology, npus_count, c.algorithm);
        system.dims[0].message_ns = round % 2 * 77;
        // Fully connected, links have a bucket a pair.
        if (round % 3 == 2 && c.topology != TopologyKind::kFullyConnected) {
          system.dims[0].bucket = {3, 50'000};
        }
        const int64_t bytes = static_cast<int64_t>(random() % (int64_t{1} << 30));
        for (const CollectiveType type : {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                          CollectiveType::kReduceScatter}) {
          EXPECT_EQ(RunOn(system, NetworkBackEnd::kLink, type, bytes).end_ps,
                    RunOn(system, NetworkBackEnd::kAnalytical, type, bytes).end_ps)
              << TopologyKindName(c.topology) << " " << npus_count << " "
              << AlgorithmKindName(c.algorithm) << " " << CollectiveTypeName(type) << " " << bytes;
        }
      }
    }
  }
}

// Peers n/2 away at once: 2 links of each direction would do, but all go up.
TEST(BackEndsTest, SharedLinksTakeLonger) {
  const SystemDescription system = System(TopologyKind::kRing, 8, AlgorithmKind::kHalvingDoubling);
  const int64_t free_ps =
      RunOn(system, NetworkBackEnd::kAnalytical, CollectiveType::kAllReduce, 1 << 20).end_ps[0];
  const int64_t shared_ps =
      RunOn(system, NetworkBackEnd::kLink, CollectiveType::kAllReduce, 1 << 20).end_ps[0];
  EXPECT_GT(shared_ps, free_ps + free_ps / 2);
}

TEST(BackEndsTest, ARingAllReducePutsItsShareOnEveryLink) {
  constexpr int32_t kRanks = 6;
  constexpr int64_t kBytes = 1'000'001;
  const OneRun run = RunOn(System(TopologyKind::kRing, kRanks, AlgorithmKind::kRing),
                           CollectiveType::kAllReduce, kBytes);
  ASSERT_EQ(run.uses.size(), size_t{kRanks});
  const double message = double(kBytes) / kRanks;
  for (int32_t npu = 0; npu < kRanks; ++npu) {
    const LinkUse& use = run.uses[npu];
    EXPECT_EQ(use.src, npu);
    EXPECT_EQ(use.dst, (npu + 1) % kRanks);
    EXPECT_EQ(use.messages_count, 2 * (kRanks - 1));
    EXPECT_NEAR(use.bytes, 2 * (kRanks - 1) * message, 1e-6);
    EXPECT_EQ(use.busy_ps, 2 * (kRanks - 1) * std::llround(message / 12.5 * 1000));
    EXPECT_EQ(use.queue_ps, 0);
  }
}

// Sent by each rank, of S bytes: all-reduce 2 (n-1)/n S; reduce-scatter and all-to-all (n-1)/n S;
// all-gather (n-1) S. Through a switch all of it goes up once and comes down once.
TEST(BackEndsTest, LinksOfASwitchCarryWhatTheFormulasSay) {
  constexpr int32_t kRanks = 8;
  constexpr double kBytes = 1 << 20;
  const std::map<CollectiveType, double> sent_by_each = {
      {CollectiveType::kAllReduce, 2 * (kRanks - 1) * kBytes / kRanks},
      {CollectiveType::kReduceScatter, (kRanks - 1) * kBytes / kRanks},
      {CollectiveType::kAllGather, (kRanks - 1) * kBytes}};
  for (const AlgorithmKind algorithm :
       {AlgorithmKind::kRing, AlgorithmKind::kDirect, AlgorithmKind::kHalvingDoubling}) {
    for (const auto& [type, sent] : sent_by_each) {
      for (const Semantics semantics : {Semantics::kAstra, Semantics::kPhysical}) {
        SystemDescription system = System(TopologyKind::kSwitch, kRanks, algorithm);
        system.semantics = semantics;
        system.local_mem_bytes_per_ns = 1000;
        const OneRun run = RunOn(system, type, static_cast<int64_t>(kBytes));
        ASSERT_EQ(run.uses.size(), size_t{2 * kRanks});
        for (const LinkUse& use : run.uses) EXPECT_EQ(use.bytes, sent);
        EXPECT_EQ(SumBytes(run, [](const LinkUse& use) { return use.dst == -1; }),
                  std::accumulate(run.network_bytes.begin(), run.network_bytes.end(), 0.0));
        const OneRun ports =
            RunOn(system, NetworkBackEnd::kAnalytical, type, static_cast<int64_t>(kBytes));
        ASSERT_EQ(ports.uses.size(), size_t{kRanks});
        for (const LinkUse& use : ports.uses) EXPECT_EQ(use.bytes, sent);
      }
    }
  }
}

// A torus, hierarchical: what is left after each dimension goes over the next.
TEST(BackEndsTest, DimensionsOfATorusCarryWhatIsLeft) {
  SystemDescription system = System(TopologyKind::kRing, 4, AlgorithmKind::kRing);
  system.dims.push_back(system.dims[0]);
  system.dims[1].npus_count = 2;
  const CollectiveImplementation all{false,
                                     {{AlgorithmKind::kRing, -1}, {AlgorithmKind::kRing, -1}}};
  system.all_reduce = system.all_gather = system.reduce_scatter = system.all_to_all = all;
  constexpr double kBytes = 1 << 20;
  const OneRun run = RunOn(system, CollectiveType::kAllReduce, static_cast<int64_t>(kBytes));
  // 8 NPUs: 3/4 of all bytes there and back along rings of 4; then half of a quarter, twice.
  EXPECT_EQ(SumBytes(run, [](const LinkUse& use) { return use.dim == 0; }), 8 * 1.5 * kBytes);
  EXPECT_EQ(SumBytes(run, [](const LinkUse& use) { return use.dim == 1; }), 8 * 0.25 * kBytes);
}

}  // namespace
}  // namespace chakrad
