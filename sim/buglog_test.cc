// What users of simulators report as wrong, each as what is right here. "B46" and the like are
// the entries of our list of such reports. All times are in closed form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/status_matchers.h"
#include "sim/simulate.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

// `bytes_per_ns`: numerically GB/s with GB = 1e9 bytes. `hop_ns`: of a switch a step has two.
SystemDescription Physical(TopologyKind topology, int32_t npus_count, double bytes_per_ns,
                           double hop_ns, AlgorithmKind algorithm = AlgorithmKind::kRing) {
  SystemDescription system;
  system.semantics = Semantics::kPhysical;
  system.dims.push_back({topology, npus_count, bytes_per_ns, hop_ns});
  SetAlgorithm(&system, {algorithm, -1});
  system.endpoint_delay_ns = 0;
  return system;
}

Trace OneCollective(int32_t ranks_count, CollectiveType type, int64_t bytes) {
  TraceMaker maker(ranks_count);
  maker.OnAll(1, type, bytes);
  return maker.Make();
}

int64_t EndNs(const Trace& trace, const SystemDescription& system) {
  const absl::StatusOr<SimResult> result = Simulate(trace, system, SimOptions(), nullptr);
  EXPECT_THAT(result, IsOk());
  if (!result.ok()) return -1;
  EXPECT_EQ(result->end_ps % 1000, 0);
  return result->end_ps / 1000;
}

// ---- The run.

TEST(BuglogTest, ARunWithoutWorkSaysSo) {  // B33
  TraceMaker maker(2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    maker.Add(rank, NodeSpec{.id = 1, .type = NodeType::kMetadata, .name = "label_only"});
    maker.Comp(rank, 2, 0, {1});
    maker.Comp(rank, 3, 0, {2});
  }
  ASSERT_OK_AND_ASSIGN(
      const SimResult result,
      Simulate(maker.Make(), Physical(TopologyKind::kRing, 2, 50, 500), SimOptions(), nullptr));
  EXPECT_EQ(result.end_ps, 0);
  EXPECT_EQ(result.network_bytes, 0);
  EXPECT_EQ(result.nodes_count, 6);
  ASSERT_FALSE(result.notices.empty());
  EXPECT_THAT(result.notices[0], HasSubstr("no work was simulated"));
}

TEST(BuglogTest, ACollectiveOfNoBytesTakesItsLatenciesAndSaysSo) {  // B33
  for (int type = 0; type < kCollectiveTypesCount; ++type) {
    ASSERT_OK_AND_ASSIGN(
        const SimResult result,
        Simulate(OneCollective(4, static_cast<CollectiveType>(type), 0),
                 Physical(TopologyKind::kRing, 4, 50, 500), SimOptions(), nullptr));
    EXPECT_GT(result.end_ps, 0) << type;
    EXPECT_EQ(result.network_bytes, 0) << type;
    ASSERT_FALSE(result.notices.empty()) << type;
    EXPECT_THAT(result.notices[0], HasSubstr("no work was simulated")) << type;
  }
}

TEST(BuglogTest, ASubgroupMayRunACollectiveFirst) {  // B35
  TraceMaker maker(4);
  const uint32_t all = maker.AddGroup("1", {0, 1, 2, 3});
  const uint32_t some = maker.AddGroup("2", {2, 3});
  for (int32_t rank = 0; rank < 4; ++rank) {
    if (rank < 2) {
      maker.Collective(rank, 2, CollectiveType::kAllReduce, 1024, all);
      continue;
    }
    maker.Collective(rank, 1, CollectiveType::kAllReduce, 1024, some);
    maker.Collective(rank, 2, CollectiveType::kAllReduce, 1024, all, {1});
  }
  ASSERT_OK_AND_ASSIGN(
      const SimResult result,
      Simulate(maker.Make(), Physical(TopologyKind::kSwitch, 4, 1, 500), SimOptions(), nullptr));
  // 2(n-1)(L + S/(nB)) of two, then of four: 6 T after they joined, the last ranks are through.
  // Ranks 0 and 1 were there before, so that ranks 2 and 3 need not wait for their first messages:
  // rank 2 sends three at once (256 ns each at the port), and they make up one circle less.
  const int64_t some_ps = 2 * (1'000'000 + 512'000), all_ps = 6 * (1'000'000 + 256'000);
  ASSERT_EQ(result.collectives.size(), 2u);
  EXPECT_EQ(result.collectives[0].end_ps, some_ps);
  EXPECT_EQ(result.ranks[0].end_ps, some_ps + all_ps);
  EXPECT_EQ(result.ranks[1].end_ps, some_ps + all_ps);
  EXPECT_EQ(result.ranks[2].end_ps, some_ps + 4 * 1'256'000 + 2 * 256'000);
  EXPECT_EQ(result.ranks[3].end_ps, some_ps + 5 * 1'256'000 + 256'000);
  EXPECT_EQ(result.nodes_count, 6);
}

TEST(BuglogTest, MessagesOfDifferentSizesAreAnErrorThatNamesBothNodes) {  // B36
  TraceMaker maker(2);
  maker.Send(0, 10, 1, 1024, 7);
  maker.Receive(1, 20, 0, 2048, 7);
  EXPECT_THAT(
      Simulate(maker.Make(), Physical(TopologyKind::kRing, 2, 50, 500), SimOptions(), nullptr),
      StatusIs(StatusCode::kFailedPrecondition,
               "rank 0, node 10 (send) sends 1024 bytes (tag 7) to rank 1, but rank 1, node 20 "
               "(recv) waits for 2048 bytes (tag 7) from rank 0"));
}

TEST(BuglogTest, BothSidesReceivingFirstIsADeadlockOnEveryBackEnd) {  // B37
  for (const NetworkBackEnd back_end : {NetworkBackEnd::kAnalytical, NetworkBackEnd::kLink}) {
    TraceMaker maker(2);
    for (int32_t rank = 0; rank < 2; ++rank) {
      maker.Receive(rank, 1, 1 - rank, 64, 1);
      maker.Send(rank, 2, 1 - rank, 64, 1, {1});
    }
    SystemDescription system = Physical(TopologyKind::kRing, 2, 50, 500);
    system.back_end = back_end;
    const absl::Status status = Simulate(maker.Make(), system, SimOptions(), nullptr).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("rank 0, node 1 (recv) waits for"),
                                                     HasSubstr("rank 1, node 1 (recv) waits for")));
  }
}

TEST(BuglogTest, TenMicrosecondsAreTenThousandNanoseconds) {  // B39
  TraceMaker maker(1);
  maker.Comp(0, 1, 10'000);
  EXPECT_EQ(EndNs(maker.Make(), Physical(TopologyKind::kRing, 1, 50, 500)), 10'000);
}

// ---- The network.

TEST(BuglogTest, TheNetworkDecidesTheTime) {  // B41
  constexpr int64_t kBytes = int64_t{64} << 20;
  const auto run = [](TopologyKind topology, double bytes_per_ns) {
    absl::StatusOr<SimResult> result =
        Simulate(OneCollective(8, CollectiveType::kAllReduce, kBytes),
                 Physical(topology, 8, bytes_per_ns, 500), SimOptions(), nullptr);
    EXPECT_THAT(result, IsOk());
    return result.ok() ? result->end_ps : -1;
  };
  // 14 (L + S/(8 B)): 8 MiB a step.
  EXPECT_EQ(run(TopologyKind::kRing, 50), 14 * (500'000 + int64_t{8} * 1048576 * 20));
  EXPECT_EQ(run(TopologyKind::kSwitch, 50), 14 * (1'000'000 + int64_t{8} * 1048576 * 20));
  EXPECT_EQ(run(TopologyKind::kRing, 25), 14 * (500'000 + int64_t{8} * 1048576 * 40));
  // A machine of another size is not this trace's.
  EXPECT_THAT(Simulate(OneCollective(8, CollectiveType::kAllReduce, kBytes),
                       Physical(TopologyKind::kRing, 64, 50, 500), SimOptions(), nullptr)
                  .status(),
              StatusIs(StatusCode::kInvalidArgument, "8 ranks and the topology has 64 NPUs"));
}

TEST(BuglogTest, BytesOfTheLinksAddUpToTheFormula) {  // B45
  constexpr int64_t kBytes = int64_t{64} << 20;
  for (const AlgorithmKind algorithm : {AlgorithmKind::kRing, AlgorithmKind::kDirect}) {
    for (const TopologyKind topology : {TopologyKind::kRing, TopologyKind::kSwitch}) {
      if (algorithm == AlgorithmKind::kDirect && topology == TopologyKind::kRing) continue;
      SystemDescription system = Physical(topology, 8, 50, 500, algorithm);
      system.back_end = NetworkBackEnd::kLink;
      ASSERT_OK_AND_ASSIGN(const SimResult result,
                           Simulate(OneCollective(8, CollectiveType::kAllReduce, kBytes), system,
                                    SimOptions(), nullptr));
      int64_t sum = 0;
      for (const LinkResult& link : result.links) {
        sum += link.bytes;
        EXPECT_EQ(link.busy_ps, link.bytes * 20);
      }
      // 2(n-1)S; through a switch each byte takes two links.
      const int64_t links_a_message = topology == TopologyKind::kSwitch ? 2 : 1;
      EXPECT_EQ(sum, 2 * 7 * kBytes * links_a_message);
      EXPECT_EQ(result.network_bytes, 2 * 7 * kBytes);
    }
  }
}

// ---- Collectives.

TEST(BuglogTest, AlgorithmsTakeTheirClosedFormsHoweverTheyAreChunked) {  // B46
  for (const int32_t splits : {1, 2, 4, 8}) {
    const auto run = [&](AlgorithmKind algorithm, CollectiveType type, int64_t bytes) {
      SystemDescription system = Physical(TopologyKind::kSwitch, 8, 50, 5, algorithm);
      system.splits = splits;
      return EndNs(OneCollective(8, type, bytes), system);
    };
    constexpr int64_t kBytes = 100'000'000;
    EXPECT_EQ(run(AlgorithmKind::kRing, CollectiveType::kAllReduce, kBytes), 3'500'140);
    EXPECT_EQ(run(AlgorithmKind::kDirect, CollectiveType::kAllReduce, kBytes), 3'500'020);
    EXPECT_EQ(run(AlgorithmKind::kRing, CollectiveType::kReduceScatter, kBytes), 1'750'070);
    // An all-gather's size is what each rank contributes (B50).
    EXPECT_EQ(run(AlgorithmKind::kRing, CollectiveType::kAllGather, kBytes / 8), 1'750'070);
  }
}

TEST(BuglogTest, AllGatherAndReduceScatterOfTheSameWholeSendTheSame) {  // B50
  // A whole of 16,384 bytes over four ranks: 12,288 sent by each.
  for (const CollectiveType type : {CollectiveType::kAllGather, CollectiveType::kReduceScatter}) {
    const int64_t bytes = type == CollectiveType::kAllGather ? 4096 : 16384;
    ASSERT_OK_AND_ASSIGN(const SimResult result, Simulate(OneCollective(4, type, bytes),
                                                          Physical(TopologyKind::kRing, 4, 50, 500),
                                                          SimOptions(), nullptr));
    for (const RankEnd& rank : result.ranks) EXPECT_EQ(rank.network_bytes, 12'288);
  }
}

}  // namespace
}  // namespace chakrad
