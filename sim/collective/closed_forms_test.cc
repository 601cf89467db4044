// Every algorithm on one dimension against its closed form, in both semantics.
#include "sim/collective/closed_forms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "sim/collective/test_run.h"

namespace chakrad {
namespace {

constexpr CollectiveType kTypes[] = {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                     CollectiveType::kReduceScatter, CollectiveType::kAllToAll};

std::vector<int32_t> RankCounts() {
  std::vector<int32_t> counts;
  for (int32_t n = 2; n <= 17; ++n) counts.push_back(n);
  counts.push_back(32);
  counts.push_back(64);
  return counts;
}

struct Pick {
  std::mt19937_64 random;
  int64_t operator()(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
};

SystemDescription RandomSystem(Semantics semantics, TopologyKind topology, int32_t npus_count,
                               AlgorithmKind kind, Pick* pick) {
  SystemDescription system;
  system.semantics = semantics;
  system.dims = {{topology, npus_count, static_cast<double>((*pick)(1, 4000)) / 8,
                  static_cast<double>((*pick)(0, 8000)) / 4}};
  const CollectiveImplementation all{false, {{kind, -1}}};
  system.all_reduce = system.all_gather = system.reduce_scatter = system.all_to_all = all;
  system.splits = static_cast<int32_t>((*pick)(1, 6));
  system.active_chunks_per_dim = static_cast<int32_t>((*pick)(1, 4));
  system.endpoint_delay_ns = (*pick)(0, 1) * (*pick)(1, 40);
  system.local_mem_bytes_per_ns = static_cast<double>((*pick)(1, 3000));
  if (semantics == Semantics::kPhysical) {
    system.dims[0].message_ns = static_cast<double>((*pick)(0, 1) * (*pick)(1, 9000)) / 8;
    if ((*pick)(0, 1) == 0) system.local_mem_bytes_per_ns = 0;
  }
  return system;
}

// Whether the link back end has to agree in physical semantics: no link carries messages of two
// NPUs at once. (In each turn of a direct exchange everybody sends to somebody else. But a fully
// connected NPU has a link to each peer there, and no port that they share.)
bool LinksAreNotShared(TopologyKind topology, AlgorithmKind kind) {
  if (kind == AlgorithmKind::kDirect) return topology == TopologyKind::kSwitch;
  return true;
}

// Every type, `rounds` random systems and sizes for each.
void Compare(Semantics semantics, TopologyKind topology, AlgorithmKind kind, int32_t npus_count,
             int rounds) {
  Pick pick{std::mt19937_64(static_cast<uint64_t>(npus_count))};
  for (const CollectiveType type : kTypes) {
    if (kind == AlgorithmKind::kHalvingDoubling && type == CollectiveType::kAllToAll &&
        semantics == Semantics::kAstra) {
      continue;  // Refused: PlanFault.
    }
    for (int round = 0; round < rounds; ++round) {
      const SystemDescription system = RandomSystem(semantics, topology, npus_count, kind, &pick);
      const int64_t bytes = pick(1, int64_t{1} << pick(1, 34)) | round % 2;
      OneCollective one;
      one.call.type = type;
      one.call.bytes = bytes;
      const OneRun run = RunOne(system, one);
      const auto where = [&] {
        return testing::Message() << SemanticsName(semantics) << " " << AlgorithmKindName(kind)
                                  << " " << TopologyKindName(topology) << " " << npus_count << ", "
                                  << CollectiveTypeName(type) << " of " << bytes;
      };
      EXPECT_EQ(run.end_ps,
                std::vector<int64_t>(npus_count, ClosedFormPs(system, type, kind, bytes)))
          << where();
      if (semantics == Semantics::kPhysical && LinksAreNotShared(topology, kind)) {
        SystemDescription links = system;
        links.back_end = NetworkBackEnd::kLink;
        EXPECT_EQ(RunOne(links, one).end_ps, run.end_ps) << where();
      }
      EXPECT_EQ(run.network_bytes,
                std::vector<int64_t>(npus_count, ClosedFormSentBytes(system, type, kind, bytes)))
          << where();
    }
  }
}

class ClosedFormsTest : public testing::TestWithParam<Semantics> {};

TEST_P(ClosedFormsTest, RingsTakeTheirClosedForm) {
  for (const int32_t n : RankCounts()) {
    for (const TopologyKind topology :
         {TopologyKind::kRing, TopologyKind::kFullyConnected, TopologyKind::kSwitch}) {
      Compare(GetParam(), topology, AlgorithmKind::kRing, n, n > 17 ? 2 : 6);
    }
  }
}

TEST_P(ClosedFormsTest, DirectTakesItsClosedForm) {
  for (const int32_t n : RankCounts()) {
    for (const TopologyKind topology : {TopologyKind::kFullyConnected, TopologyKind::kSwitch}) {
      Compare(GetParam(), topology, AlgorithmKind::kDirect, n, n > 17 ? 2 : 6);
    }
  }
}

TEST_P(ClosedFormsTest, HalvingDoublingTakesItsClosedForm) {
  for (const int32_t n : {2, 4, 8, 16, 32, 64}) {
    for (const TopologyKind topology : {TopologyKind::kFullyConnected, TopologyKind::kSwitch}) {
      Compare(GetParam(), topology, AlgorithmKind::kHalvingDoubling, n, 6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Semantics, ClosedFormsTest,
                         testing::Values(Semantics::kAstra, Semantics::kPhysical),
                         [](const auto& info) { return std::string(SemanticsName(info.param)); });

SystemDescription Physical(TopologyKind topology, int32_t npus_count, AlgorithmChoice choice) {
  SystemDescription system;
  system.semantics = Semantics::kPhysical;
  system.dims = {{topology, npus_count, 50, 500}};
  const CollectiveImplementation all{false, {choice}};
  system.all_reduce = system.all_gather = system.reduce_scatter = system.all_to_all = all;
  system.endpoint_delay_ns = 0;
  return system;
}

std::vector<int64_t> EndsPs(const SystemDescription& system, CollectiveType type, int64_t bytes) {
  OneCollective one;
  one.call.type = type;
  one.call.bytes = bytes;
  return RunOne(system, one).end_ps;
}

// By hand: 2 (n-1) (L + S/(n B)), and splits change nothing.
TEST(PhysicalTest, RingAllReduceOfAnOddSizeIsExact) {
  for (const int32_t splits : {1, 7}) {
    SystemDescription system = Physical(TopologyKind::kRing, 4, {AlgorithmKind::kRing, -1});
    system.splits = splits;
    // 1001 / 4 = 250.25 bytes at 50 bytes/ns: 5.005 ns.
    EXPECT_EQ(EndsPs(system, CollectiveType::kAllReduce, 1001),
              std::vector<int64_t>(4, 6 * (500'000 + 5'005)));
  }
}

// 2 ((n-1) m / B + 2 L).
TEST(PhysicalTest, DirectOnASwitchPaysAllItsMessagesAtThePort) {
  const SystemDescription system = Physical(TopologyKind::kSwitch, 4, {AlgorithmKind::kDirect, -1});
  EXPECT_EQ(EndsPs(system, CollectiveType::kAllReduce, 1000),
            std::vector<int64_t>(4, 2 * (3 * 5'000 + 1'000'000)));
}

// One message outstanding: each waits for the one before to arrive and be reduced.
TEST(PhysicalTest, ADirectWindowOfOneIsASequenceOfExchanges) {
  SystemDescription system = Physical(TopologyKind::kSwitch, 5, {AlgorithmKind::kDirect, 1});
  system.endpoint_delay_ns = 7;
  system.local_mem_bytes_per_ns = 30;  // 200 bytes: three passes in 20 ns.
  const int64_t message_ps = 1'004'000, e = 7'000, reduce_ps = 20'000;
  EXPECT_EQ(EndsPs(system, CollectiveType::kReduceScatter, 1000),
            std::vector<int64_t>(5, e + 4 * (message_ps + e + reduce_ps)));
  EXPECT_EQ(EndsPs(system, CollectiveType::kAllReduce, 1000),
            std::vector<int64_t>(5, e + 4 * (message_ps + e + reduce_ps) + 4 * (message_ps + e)));
}

// Every edge of a tree carries each of its chunks up and down once.
TEST(PhysicalTest, TreesOfAnyNumberOfRanksMoveTheBytesOfTheirEdges) {
  for (const int32_t n : RankCounts()) {
    SystemDescription system =
        Physical(TopologyKind::kSwitch, n, {AlgorithmKind::kDoubleBinaryTree, -1});
    system.splits = 3;
    const int64_t bytes = 1000 * std::max(4, n + n % 2);  // 1,000 a chunk.
    OneCollective one;
    one.call.bytes = bytes;
    const OneRun run = RunOne(system, one);
    int64_t sum = 0;
    for (const int64_t bytes : run.network_bytes) sum += bytes;
    EXPECT_EQ(sum, 2 * (n - 1) * bytes) << n;
    EXPECT_TRUE(run.waits.empty()) << n;
    for (const int64_t end_ps : run.end_ps) EXPECT_GT(end_ps, 0) << n;
  }
}

// Two ranks, two trees of one edge each: both halves go up at once and come down again.
TEST(PhysicalTest, ATreeOfTwoIsAnExchangeUpAndDown) {
  EXPECT_EQ(EndsPs(Physical(TopologyKind::kSwitch, 2, {AlgorithmKind::kDoubleBinaryTree, -1}),
                   CollectiveType::kAllReduce, 1000),
            std::vector<int64_t>(2, 2 * (1'000'000 + 10'000)));
}

// The pieces pipeline: for large sizes both trees together get near what a ring takes for its
// bytes, 2 S/B, in twice the depth of a tree.
TEST(PhysicalTest, DoubleBinaryTreesPipeline) {
  for (const int32_t n : {8, 64, 100, 1024}) {
    SystemDescription system =
        Physical(TopologyKind::kSwitch, n, {AlgorithmKind::kDoubleBinaryTree, -1});
    const double transfer_ps = 1e9 / 50 * 1000;
    const std::vector<int64_t> ends_ps = EndsPs(system, CollectiveType::kAllReduce, 1'000'000'000);
    const double end_ps = static_cast<double>(*std::max_element(ends_ps.begin(), ends_ps.end()));
    EXPECT_GT(end_ps, 1.99 * (n - 1) / n * transfer_ps) << n;
    EXPECT_LT(end_ps, 2.5 * transfer_ps) << n;
    const std::vector<int64_t> small_ps = EndsPs(system, CollectiveType::kAllReduce, 0);
    EXPECT_LE(*std::max_element(small_ps.begin(), small_ps.end()),
              2 * (std::bit_width(uint32_t(n - 1)) + 1) * int64_t{1'000'000})
        << n;
  }
}

// Eight ranks with one link each into one switch, 50 bytes/ns, 10 ns from rank to rank, 10^8
// bytes: ring and direct pay the same for their bytes, however many chunks are asked for.
TEST(PhysicalTest, RingAndDirectDifferInLatenciesOnly) {
  for (const int32_t splits : {1, 2, 4, 8}) {
    for (const AlgorithmKind kind : {AlgorithmKind::kRing, AlgorithmKind::kDirect}) {
      SystemDescription system = Physical(TopologyKind::kSwitch, 8, {kind, -1});
      system.dims[0].latency_ns = 5;
      system.splits = splits;
      const int64_t bytes = 100'000'000;
      const bool ring = kind == AlgorithmKind::kRing;
      EXPECT_EQ(EndsPs(system, CollectiveType::kAllReduce, bytes)[0],
                ring ? 3'500'140'000 : 3'500'020'000);
      EXPECT_EQ(EndsPs(system, CollectiveType::kReduceScatter, bytes)[0],
                ring ? 1'750'070'000 : 1'750'010'000);
      EXPECT_EQ(EndsPs(system, CollectiveType::kAllGather, bytes / 8)[0],
                ring ? 1'750'070'000 : 1'750'010'000);
    }
  }
}

// Over several dimensions chunks pipeline: all dimensions once, and for each further chunk the
// slowest.
TEST(PhysicalTest, ChunksPipelineOverDimensions) {
  SystemDescription system = Physical(TopologyKind::kSwitch, 4, {AlgorithmKind::kRing, -1});
  system.dims.push_back({TopologyKind::kRing, 2, 10, 300});
  system.dims.push_back({TopologyKind::kFullyConnected, 5, 200, 50});
  for (CollectiveImplementation* all :
       {&system.all_reduce, &system.all_gather, &system.reduce_scatter, &system.all_to_all}) {
    all->per_dim.resize(3, {AlgorithmKind::kRing, -1});
  }
  for (const int32_t splits : {1, 2, 5}) {
    system.splits = splits;
    const int64_t bytes = 4'000'000 * splits;  // A chunk: 4,000,000 bytes, then 1/4, then 1/8.
    const int64_t dims_ns[] = {3 * (1000 + 20'000), 300 + 50'000, 4 * (50 + 500)};
    const int64_t total_ns = dims_ns[0] + dims_ns[1] + dims_ns[2];
    EXPECT_EQ(EndsPs(system, CollectiveType::kReduceScatter, bytes),
              std::vector<int64_t>(40, (total_ns + (splits - 1) * dims_ns[0]) * 1000));
    EXPECT_EQ(EndsPs(system, CollectiveType::kAllGather, bytes / 40),
              std::vector<int64_t>(40, (total_ns + (splits - 1) * dims_ns[0]) * 1000));
    // An all-to-all keeps its size: 3 shares of 1/4, one of 1/2, 4 of 1/5,
    // sent directly.
    system.all_to_all.per_dim.assign(3, {AlgorithmKind::kDirect, -1});
    const int64_t all_to_all_ns[] = {3 * 20'000 + 1000, 200'000 + 300, 4 * 4'000 + 50};
    EXPECT_EQ(EndsPs(system, CollectiveType::kAllToAll, bytes),
              std::vector<int64_t>(
                  40, (all_to_all_ns[0] + splits * all_to_all_ns[1] + all_to_all_ns[2]) * 1000));
  }
}

TEST(PhysicalTest, NothingToSendTakesOnlyLatencies) {
  EXPECT_EQ(EndsPs(Physical(TopologyKind::kRing, 3, {}), CollectiveType::kAllReduce, 0),
            std::vector<int64_t>(3, 4 * 500'000));
}

}  // namespace
}  // namespace chakrad
