// Times that are worked out by hand. 50 GB/s is 50 * 2^30 / 1e9 = 53.6870912 bytes a ns.
#include "sim/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/status_matchers.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMib = 1 << 20;

SystemDescription Ring(int32_t npus_count) {
  return TestSystem({{TopologyKind::kRing, npus_count, 50, 500}});
}

TEST(SimulateTest, RingAllReduceOfFourRanks) {
  // 4 MiB in one chunk: messages of 1 MiB. D = trunc(500 + 1048576 / 53.6870912) =
  // trunc(500 + 19531.25) = 20031 ns. Endpoint delay e = 10, then 2 * 3 = 6 steps of e + D:
  //   10 + 6 * (10 + 20031) = 120256 ns.
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, 4 * kMib);
  EXPECT_THAT(EndsNs(maker.Make(), Ring(4)), ElementsAre(120'256, 120'256, 120'256, 120'256));
}

TEST(SimulateTest, ReductionsCostThreePassesOverLocalMemory) {
  // As above with local memory of 100 GB/s (100 bytes a ns): P = 3 * trunc(10485.76) = 31455
  // for each of the 3 receipts that are reduced: 120256 + 94365.
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, 4 * kMib);
  SystemDescription system = Ring(4);
  system.local_mem_bytes_per_ns = 100;
  EXPECT_EQ(EndsNs(maker.Make(), system)[0], 214'621);
}

TEST(SimulateTest, FourChunksOneAtATimeRunAfterEachOther) {
  // Messages of 256 KiB: D = trunc(500 + 4882.8125) = 5382; a chunk 10 + 6 * 5392 = 32362.
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, 4 * kMib);
  const Trace trace = maker.Make();
  SystemDescription system = Ring(4);
  system.splits = 4;
  EXPECT_EQ(EndsNs(trace, system)[0], 4 * 32'362);
  // Two at a time share nothing in these semantics: half the time.
  system.active_chunks_per_dim = 2;
  EXPECT_EQ(EndsNs(trace, system)[0], 2 * 32'362);
}

TEST(SimulateTest, TailOfATransferIsAChunkOfFullSize) {
  // 1001 bytes in 4 splits: chunks of 250, and ceil(1001 / 250) = 5 of them. Messages of
  // 250 / 4 = 62 bytes: D = trunc(500 + 1.15) = 501; a chunk 10 + 6 * 511 = 3076.
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, 1001);
  SystemDescription system = Ring(4);
  system.splits = 4;
  EXPECT_EQ(EndsNs(maker.Make(), system)[0], 5 * 3'076);
}

TEST(SimulateTest, OtherCollectivesOnARing) {
  // 3 steps of messages of 1 MiB each: 10 + 3 * 20041 = 60133. An all-gather states the
  // shard; an all-to-all by neighbours takes 4 * 3 / 2 = 6 steps: 120256.
  const auto time_ns = [](CollectiveType type, int64_t bytes) {
    TraceMaker maker(4);
    maker.OnAll(1, type, bytes);
    return EndsNs(maker.Make(), Ring(4))[0];
  };
  EXPECT_EQ(time_ns(CollectiveType::kReduceScatter, 4 * kMib), 60'133);
  EXPECT_EQ(time_ns(CollectiveType::kReduceScatterBlock, 4 * kMib), 60'133);
  EXPECT_EQ(time_ns(CollectiveType::kAllGather, kMib), 60'133);
  EXPECT_EQ(time_ns(CollectiveType::kAllToAll, 4 * kMib), 120'256);
}

TEST(SimulateTest, AllReduceOverTwoDimensions) {
  // Ring 2 (50 GB/s, 500 ns) x switch 2 (25 GB/s = 26.8435456 B/ns, 100 ns a hop), 4 MiB.
  //   reduce-scatter on 0: messages of 2 MiB, D = trunc(500 + 39062.5) = 39562:
  //                        10 + 10 + 39562 = 39582
  //   all-reduce on 1:     2 MiB left, messages of 1 MiB over 2 hops,
  //                        D = trunc(200 + 39062.5) = 39262: 10 + 2 * (10 + 39262) = 78554
  //   all-gather on 0:     messages of 2 MiB, as the first: 39582
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, 4 * kMib);
  const Trace trace = maker.Make();
  SystemDescription system =
      TestSystem({{TopologyKind::kRing, 2, 50, 500}, {TopologyKind::kSwitch, 2, 25, 100}});
  EXPECT_EQ(EndsNs(trace, system)[0], 39'582 + 78'554 + 39'582);
  // Baseline: all 4 MiB all-reduced on both. On 0: messages of 2 MiB, 10 + 2 * 39572 = 79154;
  // on 1: 2 MiB, D = trunc(200 + 78125) = 78325: 10 + 2 * 78335 = 156680.
  system.local_bw_aware = false;
  EXPECT_EQ(EndsNs(trace, system)[0], 79'154 + 156'680);
}

TEST(SimulateTest, InvolvedDimensionsAreTheOnlyOnesUsed) {
  // Dimension 1 alone: the all-reduce on 1 of the baseline above.
  TraceMaker maker(4);
  const CommOp op{.bytes = 4 * kMib, .involved_dims = 2};
  for (int32_t rank = 0; rank < 4; ++rank) {
    maker.Add(rank, NodeSpec{.id = 1, .type = NodeType::kCommColl, .name = "coll", .comm = &op});
  }
  EXPECT_EQ(EndsNs(maker.Make(), TestSystem({{TopologyKind::kRing, 2, 50, 500},
                                             {TopologyKind::kSwitch, 2, 25, 100}}))[0],
            156'680);
}

TEST(SimulateTest, OtherAlgorithmsOnASwitch) {
  // 4 MiB among 4 ranks on a switch of 50 GB/s and 100 ns a hop (200 in all).
  //   direct            messages of 1 MiB: D = trunc(200 + 19531.25) = 19731;
  //                     3 * 10 + 2 * 19731 = 39492
  //   halving-doubling  2 MiB then 1 MiB, and back: D = 39262 and 19731;
  //                     10 + 2 * (10 + 39262) + 2 * (10 + 19731) = 118036
  //   double tree       root 3; a chain leaf 0 -> 1 -> 3 -> 1 -> 0 of 4 MiB,
  //                     D = trunc(200 + 78125) = 78325; 10 before the first message and 10
  //                     after each of the 4: 10 + 4 * 78335 = 313350
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, 4 * kMib);
  const Trace trace = maker.Make();
  SystemDescription system = TestSystem({{TopologyKind::kSwitch, 4, 50, 100}});
  SetAlgorithm(&system, {AlgorithmKind::kDirect, -1});
  EXPECT_EQ(EndsNs(trace, system)[0], 39'492);
  SetAlgorithm(&system, {AlgorithmKind::kHalvingDoubling, -1});
  EXPECT_EQ(EndsNs(trace, system)[0], 118'036);
  SetAlgorithm(&system, {AlgorithmKind::kDoubleBinaryTree, -1});
  // The root (3) and the inner node (1) end when they have sent down.
  EXPECT_THAT(EndsNs(trace, system),
              ElementsAre(313'350, 10 + 3 * 78'335, 313'350, 10 + 2 * 78'335));
}

TEST(SimulateTest, AMessageArrivesAfterLatencyAndBytes) {
  // Ring of 4: rank 0 to 1, 1 MiB, one hop: 20031 ns. The receiver then computes for 5 ns.
  TraceMaker maker(4);
  maker.Send(0, 1, 1, kMib, 7);
  maker.Receive(1, 1, 0, kMib, 7);
  maker.Comp(1, 2, 5, {1});
  EXPECT_THAT(EndsNs(maker.Make(), Ring(4)), ElementsAre(20'031, 20'036, 0, 0));
}

TEST(SimulateTest, AReceivePostedAfterTheMessageCameTakesNoTime) {
  TraceMaker maker(2);
  maker.Send(0, 1, 1, kMib);
  maker.Comp(1, 1, 30'000);
  maker.Receive(1, 2, 0, kMib, 0, {1});
  const Trace trace = maker.Make();
  EXPECT_THAT(EndsNs(trace, Ring(2)), ElementsAre(20'031, 30'000));
}

TEST(SimulateTest, ASendHoldsCollectivesBackUntilItArrives) {
  // Rank 0: send (20031 ns) and then the all-reduce of 2 ranks, 2 steps of 512 KiB:
  // D = trunc(500 + 9765.625) = 10265; 10 + 2 * 10275 = 20560. Rank 1 is there at 0, and
  // gets the first message only after rank 0 has begun.
  TraceMaker maker(2);
  maker.Send(0, 1, 1, kMib);
  maker.Receive(1, 1, 0, kMib);
  maker.OnAll(2, CollectiveType::kAllReduce, kMib);
  EXPECT_EQ(EndsNs(maker.Make(), Ring(2))[0], 20'031 + 20'560);
}

TEST(SimulateTest, TenMicrosecondsAreTenThousandNanoseconds) {
  TraceMaker maker(1);
  maker.Comp(0, 1, 7'000);
  maker.Comp(0, 2, 3'000, {1});
  ASSERT_OK_AND_ASSIGN(const SimResult result,
                       Simulate(maker.Make(), Ring(1), SimOptions(), nullptr));
  EXPECT_EQ(result.end_ps, 10'000 * kPsPerNs);
  EXPECT_EQ(result.semantics, "astra");
  EXPECT_THAT(result.notices, IsEmpty());
}

TEST(SimulateTest, HalvingTheBandwidthDoublesTheBandwidthTerm) {
  TraceMaker maker(8);
  maker.OnAll(1, CollectiveType::kAllReduce, 64 * kMib);
  const Trace trace = maker.Make();
  SystemDescription fast = Ring(8), slow = Ring(8);
  slow.dims[0].bytes_per_ns = BytesPerNsOfGibPerSec(25);
  // 14 steps of 8 MiB: 156250 ns each at 50 GB/s, with 500 + 10 of fixed cost; 10 at first.
  EXPECT_EQ(EndsNs(trace, fast)[0], 10 + 14 * (510 + 156'250));
  EXPECT_EQ(EndsNs(trace, slow)[0], 10 + 14 * (510 + 2 * 156'250));
}

TEST(SimulateTest, OneRankRunsOneDeviceNodeOneHostNodeAndOneCollectiveAtATime) {
  // Device 1 and 2 one after the other, host 3 beside them.
  TraceMaker maker(1);
  maker.Comp(0, 2, 100);
  maker.Comp(0, 1, 10);
  maker.HostComp(0, 3, 50);
  const Trace trace = maker.Make();
  RecordingObserver observer;
  ASSERT_OK_AND_ASSIGN(const SimResult result, Simulate(trace, Ring(1), SimOptions(), &observer));
  EXPECT_EQ(result.end_ps, 110'000);
  // Node 1 (index 1) has the lower id and goes first.
  EXPECT_THAT(observer.intervals,
              ElementsAre(TimelineInterval{0, 10'000, 0, 1, 0, IntervalKind::kCompute},
                          TimelineInterval{0, 50'000, 0, 2, 0, IntervalKind::kHost},
                          TimelineInterval{10'000, 110'000, 0, 0, 0, IntervalKind::kCompute}));
}

TEST(SimulateTest, HostOperationsAreTheComputeOfARankWithoutDevice) {
  TraceMaker maker(1);
  maker.HostComp(0, 1, 50);
  RecordingObserver observer;
  ASSERT_THAT(Simulate(maker.Make(), Ring(1), SimOptions(), &observer), IsOk());
  ASSERT_EQ(observer.intervals.size(), 1u);
  EXPECT_EQ(observer.intervals[0].kind, IntervalKind::kCompute);
}

TEST(SimulateTest, AnEmptyComputeNodeTakesOneNanosecondAndMetadataNone) {
  TraceMaker maker(1);
  maker.Add(0, NodeSpec{.id = 1, .type = NodeType::kMetadata, .name = "label"});
  maker.Comp(0, 2, 0, {1});
  maker.Add(0, NodeSpec{.id = 3, .type = NodeType::kInvalid, .name = "bad"}, {2});
  maker.Comp(0, 4, 0, {3});
  RecordingObserver observer;
  ASSERT_OK_AND_ASSIGN(const SimResult result,
                       Simulate(maker.Make(), Ring(1), SimOptions(), &observer));
  EXPECT_EQ(result.end_ps, 2 * kPsPerNs);
  EXPECT_EQ(observer.intervals.size(), 2u);
  ASSERT_EQ(result.notices.size(), 1u);
  EXPECT_THAT(result.notices[0], HasSubstr("no work was simulated"));
}

TEST(SimulateTest, UnknownDurationsAreChargedNothingAndCounted) {
  TraceMaker maker(1);
  maker.Comp(0, 1, kUnknownNs);
  maker.Comp(0, 2, 500, {1});
  ASSERT_OK_AND_ASSIGN(const SimResult result,
                       Simulate(maker.Make(), Ring(1), SimOptions(), nullptr));
  EXPECT_EQ(result.end_ps, 501 * kPsPerNs);
  ASSERT_EQ(result.notices.size(), 1u);
  EXPECT_THAT(result.notices[0], HasSubstr("1 compute nodes have no recorded duration"));
}

TEST(SimulateTest, AGapDelaysANodeAndHoldsNothing) {
  // Node 2 waits 300 ns after node 1; node 3 runs meanwhile.
  TraceMaker maker(1);
  maker.Comp(0, 1, 100);
  maker.Add(
      0, NodeSpec{.id = 2, .type = NodeType::kComp, .name = "late", .work_ns = 10, .gap_ns = 300},
      {1});
  maker.Comp(0, 3, 50, {1});
  RecordingObserver observer;
  ASSERT_OK_AND_ASSIGN(const SimResult result,
                       Simulate(maker.Make(), Ring(1), SimOptions(), &observer));
  EXPECT_EQ(result.end_ps, 410'000);
  ASSERT_EQ(observer.intervals.size(), 3u);
  EXPECT_EQ(observer.intervals[1].start_ps, 100'000);
  EXPECT_EQ(observer.intervals[2].start_ps, 400'000);
}

TEST(SimulateTest, CopiesTakeTheirTimeBesideComputeAndMakeMemoryIntervals) {
  TraceMaker maker(1);
  maker.Comp(0, 1, 100);
  maker.Add(0, NodeSpec{.id = 2, .type = NodeType::kMemStore, .name = "Memcpy", .work_ns = 40});
  RecordingObserver observer;
  ASSERT_THAT(Simulate(maker.Make(), Ring(1), SimOptions(), &observer), IsOk());
  EXPECT_THAT(observer.intervals,
              ElementsAre(TimelineInterval{0, 40'000, 0, 1, 0, IntervalKind::kMemory},
                          TimelineInterval{0, 100'000, 0, 0, 0, IntervalKind::kCompute}));
}

TEST(SimulateTest, RooflineTakesTheSlowerOfMemoryAndPeak) {
  // Memory 1000 GB/s, peak 10 TFLOPS. 1e9 operations on 1e6 bytes: OI 1000, memory allows
  // 1e15 a second, so the peak decides: 1e9 / 1e13 s = 100 us. On 1e9 bytes: OI 1, 1e12 a
  // second: 1 ms. No bytes: skipped. No work size: as recorded, 7 ns.
  TraceMaker maker(1);
  const WorkSize sizes[] = {{1'000'000'000, 1'000'000}, {1'000'000'000, 1'000'000'000}, {5, 0}};
  for (uint64_t i = 0; i < 3; ++i) {
    maker.Add(
        0,
        NodeSpec{
            .id = i, .type = NodeType::kComp, .name = "mm", .work_ns = 7, .work_size = &sizes[i]});
  }
  maker.Comp(0, 3, 7);
  SystemDescription system = Ring(1);
  system.compute.basis = ComputeBasis::kRoofline;
  system.compute.memory_bytes_per_ns = 1000;
  system.compute.peak_flops_per_ns = 10'000;
  const Trace trace = maker.Make();
  ASSERT_OK_AND_ASSIGN(const SimResult result, Simulate(trace, system, SimOptions(), nullptr));
  EXPECT_EQ(result.end_ps, (100'000 + 1'000'000 + 7) * kPsPerNs);
  EXPECT_EQ(result.notices.size(), 3u);
  system.compute.basis = ComputeBasis::kRecorded;
  EXPECT_EQ(EndsNs(trace, system)[0], 4 * 7);
}

TEST(SimulateTest, CollectivesWithoutAModelTakeTheirRecordedTime) {
  TraceMaker maker(2);
  const CommOp op{.collective = CollectiveType::kBroadcast, .bytes = kMib};
  for (int32_t rank = 0; rank < 2; ++rank) {
    maker.Add(rank, NodeSpec{.id = 1,
                             .type = NodeType::kCommColl,
                             .name = "bcast",
                             .work_ns = 100 + rank,
                             .comm = &op});
  }
  const Trace trace = maker.Make();
  EXPECT_THAT(EndsNs(trace, Ring(2)), ElementsAre(100, 101));
  ASSERT_OK_AND_ASSIGN(const SimResult result, Simulate(trace, Ring(2), SimOptions(), nullptr));
  ASSERT_EQ(result.notices.size(), 1u);
  EXPECT_THAT(result.notices[0], HasSubstr("2 BROADCAST nodes have no cost model"));
}

TEST(SimulateTest, AGroupOfOneRankIsDoneAtOnce) {
  TraceMaker maker(2);
  const uint32_t alone = maker.AddGroup("alone", {0});
  maker.Collective(0, 1, CollectiveType::kAllReduce, kMib, alone);
  maker.Comp(0, 2, 10, {1});
  maker.Comp(1, 1, 20);
  ASSERT_OK_AND_ASSIGN(const SimResult result,
                       Simulate(maker.Make(), Ring(2), SimOptions(), nullptr));
  EXPECT_EQ(result.ranks[0].end_ps, 10'000);
  EXPECT_EQ(result.network_bytes, 0);
  ASSERT_EQ(result.notices.size(), 1u);
  EXPECT_THAT(result.notices[0], HasSubstr("1 collectives had nothing to move"));
}

TEST(SimulateTest, SubgroupsRunFirstOnSomeRanksOnly) {
  // Ranks 2 and 3 all-reduce among themselves before all four gather: matching is by group
  // and order in it. Subgroup: 2 steps of 512 B, D = trunc(500 + 9.5) = 509:
  // 10 + 2 * 519 = 1048. Then the all-gather, which ranks 0 and 1 have begun at 0: 3 steps of
  // 1024 B, D = 519. Rank 2 sends first at 1058, and the last to hear of it is rank 1, by
  // three steps of 10 + 519: 1058 + 519 + 10 + 2 * 529 = 2645.
  TraceMaker maker(4);
  const uint32_t pair = maker.AddGroup("2", {2, 3});
  for (int32_t rank = 2; rank < 4; ++rank) {
    maker.Collective(rank, 1, CollectiveType::kAllReduce, 1024, pair);
  }
  for (int32_t rank = 0; rank < 4; ++rank) {
    maker.Collective(rank, 2, CollectiveType::kAllGather, 1024, kWorldGroup,
                     rank < 2 ? std::vector<uint64_t>{} : std::vector<uint64_t>{1});
  }
  const std::vector<int64_t> ends_ns = EndsNs(maker.Make(), Ring(4));
  EXPECT_EQ(*std::max_element(ends_ns.begin(), ends_ns.end()), 2'645);
}

TEST(SimulateTest, ASubgroupIsARingInListOrderWithADelayOfTen) {
  // Group {0, 2} of a ring of 4 with an endpoint delay of 99: 2 hops apart, messages of
  // 1 KiB: D = trunc(1000 + 19.07) = 1019; 10 + 2 * 1029 = 2068.
  TraceMaker maker(4);
  const uint32_t far = maker.AddGroup("far", {2, 0});
  for (const int32_t rank : {0, 2}) {
    maker.Collective(rank, 1, CollectiveType::kAllReduce, 2048, far);
  }
  SystemDescription system = Ring(4);
  system.endpoint_delay_ns = 99;
  EXPECT_THAT(EndsNs(maker.Make(), system), ElementsAre(2'068, 0, 2'068, 0));
}

TEST(SimulateTest, UnevenAllToAllsAreChargedAtTheLargestSize) {
  const auto run = [](int64_t second_bytes) {
    TraceMaker maker(2);
    maker.Collective(0, 1, CollectiveType::kAllToAll, 8 * kMib);
    maker.Collective(1, 1, CollectiveType::kAllToAll, second_bytes);
    return Simulate(maker.Make(), Ring(2), SimOptions(), nullptr);
  };
  ASSERT_OK_AND_ASSIGN(const SimResult even, run(8 * kMib));
  ASSERT_OK_AND_ASSIGN(const SimResult uneven, run(kMib));
  EXPECT_EQ(even.end_ps, uneven.end_ps);
  EXPECT_THAT(even.notices, IsEmpty());
  ASSERT_EQ(uneven.notices.size(), 1u);
  EXPECT_THAT(uneven.notices[0], HasSubstr("1 ALL_TO_ALL, GATHER or SCATTER nodes state fewer"));
}

TEST(SimulateTest, BytesOnTheNetworkAreThoseOfTheAlgorithm) {
  // Ring all-reduce: each of 4 ranks sends 6 messages of a quarter. Then one send.
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, 4 * kMib);
  maker.Send(0, 2, 1, 100);
  maker.Receive(1, 2, 0, 100);
  ASSERT_OK_AND_ASSIGN(const SimResult result,
                       Simulate(maker.Make(), Ring(4), SimOptions(), nullptr));
  EXPECT_EQ(result.ranks[0].network_bytes, 6 * kMib + 100);
  EXPECT_EQ(result.ranks[1].network_bytes, 6 * kMib);
  EXPECT_EQ(result.network_bytes, 24 * kMib + 100);
}

}  // namespace
}  // namespace chakrad
