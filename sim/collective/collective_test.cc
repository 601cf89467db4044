// Plans and steps: pure functions, so their whole domain is small enough to walk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "absl/strings/str_cat.h"
#include "sim/collective/collective_plan.h"
#include "sim/collective/segment_pool.h"
#include "sim/collective/steps.h"

namespace chakrad {
namespace {

SystemDescription System(std::vector<NetworkDim> dims, AlgorithmChoice choice = {}) {
  SystemDescription system;
  system.dims = std::move(dims);
  system.local_mem_bytes_per_ns = 1600;
  const CollectiveImplementation all{false,
                                     std::vector<AlgorithmChoice>(system.dims.size(), choice)};
  system.all_reduce = system.all_gather = system.reduce_scatter = system.all_to_all = all;
  return system;
}

NetworkDim Dim(int32_t npus_count) { return {TopologyKind::kRing, npus_count, 50, 500}; }

CollectivePlan Plan(const SystemDescription& system, CollectiveType type, int64_t bytes,
                    int32_t ranks_count, uint32_t involved_dims = UINT32_MAX) {
  CollectivePlan plan;
  PlanCollective(system, type, bytes, ranks_count, involved_dims, &plan);
  return plan;
}

// "op places/stride bytes" of each phase.
std::string Outline(const CollectivePlan& plan) {
  std::string text;
  for (const CollectivePhase& phase : plan.phases) {
    absl::StrAppend(&text,
                    phase.op == PhaseOp::kAllReduce       ? "AR "
                    : phase.op == PhaseOp::kReduceScatter ? "RS "
                    : phase.op == PhaseOp::kAllGather     ? "AG "
                                                          : "A2A ",
                    phase.places_count, "/", phase.stride, " ", phase.chunk_bytes, "; ");
  }
  return text;
}

TEST(CollectivePlanTest, ChunksAreWholeDivisionsAndTheTailIsAChunk) {
  SystemDescription system = System({Dim(4)});
  system.splits = 4;
  const CollectivePlan plan = Plan(system, CollectiveType::kAllReduce, 1001, 4);
  EXPECT_EQ(plan.chunks_count, 5);
  EXPECT_EQ(plan.phases[0].chunk_bytes, 250);
  EXPECT_EQ(plan.phases[0].message_bytes, 62);
}

TEST(CollectivePlanTest, SmallCollectivesGrowToAByteANpu) {
  SystemDescription system = System({Dim(16)});
  system.splits = 4;
  const CollectivePlan plan = Plan(system, CollectiveType::kReduceScatter, 1, 16);
  EXPECT_EQ(plan.chunks_count, 4);
  EXPECT_EQ(plan.phases[0].chunk_bytes, 16);
  EXPECT_EQ(Plan(system, CollectiveType::kAllReduce, 0, 16).phases[0].chunk_bytes, 16);
  // All-gathers do not; below one byte a chunk they are cut into single bytes.
  EXPECT_EQ(Plan(system, CollectiveType::kAllGather, 3, 16).chunks_count, 3);
  EXPECT_EQ(Plan(system, CollectiveType::kAllGather, 0, 16).chunks_count, 1);
  EXPECT_EQ(Plan(system, CollectiveType::kAllGather, 0, 16).phases[0].message_bytes, 0);
}

TEST(CollectivePlanTest, PhasesFollowTheDimensions) {
  const SystemDescription system = System({Dim(4), Dim(1), Dim(2), Dim(8)});
  const int64_t bytes = 6400;
  EXPECT_EQ(Outline(Plan(system, CollectiveType::kAllReduce, bytes, 64)),
            "RS 4/1 6400; RS 2/4 1600; AR 8/8 800; AG 2/4 800; AG 4/1 1600; ");
  EXPECT_EQ(Outline(Plan(system, CollectiveType::kReduceScatter, bytes, 64)),
            "RS 4/1 6400; RS 2/4 1600; RS 8/8 800; ");
  EXPECT_EQ(Outline(Plan(system, CollectiveType::kAllGather, 100, 64)),
            "AG 8/8 100; AG 2/4 800; AG 4/1 1600; ");
  EXPECT_EQ(Outline(Plan(system, CollectiveType::kAllToAll, bytes, 64)),
            "A2A 4/1 6400; A2A 2/4 6400; A2A 8/8 6400; ");
  EXPECT_EQ(Outline(Plan(system, CollectiveType::kAllReduce, bytes, 64, 0b0101)),
            "RS 4/1 6400; AR 2/4 1600; AG 4/1 1600; ");
  EXPECT_EQ(Outline(Plan(system, CollectiveType::kAllReduce, bytes, 64, 0b0010)), "");
  SystemDescription baseline = system;
  baseline.local_bw_aware = false;
  EXPECT_EQ(Outline(Plan(baseline, CollectiveType::kAllReduce, bytes, 64)),
            "AR 4/1 6400; AR 2/4 6400; AR 8/8 6400; ");
  SystemDescription flat = system;
  flat.all_reduce = {true, {{AlgorithmKind::kDirect, -1}}};
  EXPECT_EQ(Outline(Plan(flat, CollectiveType::kAllReduce, bytes, 64)), "AR 64/1 6400; ");
}

TEST(CollectivePlanTest, SubgroupsAreOnePhaseWithADelayOfTenNanoseconds) {
  SystemDescription system = System({Dim(8)}, {AlgorithmKind::kDirect, -1});
  system.endpoint_delay_ns = 77;
  const CollectivePlan whole = Plan(system, CollectiveType::kAllReduce, 800, 8);
  const CollectivePlan part = Plan(system, CollectiveType::kAllReduce, 800, 4);
  EXPECT_EQ(whole.phases[0].endpoint_delay_ps, 77'000);
  EXPECT_EQ(part.phases[0].endpoint_delay_ps, 10'000);
  EXPECT_EQ(part.phases[0].algorithm, AlgorithmKind::kDirect);
  EXPECT_EQ(Outline(part), "AR 4/1 800; ");
  EXPECT_EQ(Outline(Plan(system, CollectiveType::kAllReduce, 800, 1)), "");
  const SystemDescription two_dims = System({Dim(4), Dim(2)}, {AlgorithmKind::kDirect, -1});
  EXPECT_EQ(Plan(two_dims, CollectiveType::kAllReduce, 800, 4).phases[0].algorithm,
            AlgorithmKind::kRing);
}

TEST(CollectivePlanTest, QueuesAreSharedOutByHalves) {
  SystemDescription system = System({Dim(4), Dim(2)});
  system.num_queues_per_dim = 4;
  system.active_chunks_per_dim = 6;
  const CollectivePlan plan = Plan(system, CollectiveType::kAllReduce, 800, 8);
  EXPECT_EQ(plan.lanes_count, 8);
  EXPECT_EQ(plan.lane_chunks_count, 2);  // ceil(6 / 4)
  ASSERT_EQ(plan.phases.size(), 3u);
  EXPECT_EQ(plan.phases[0].first_lane, 0);  // RS on 0: lanes 0, 1.
  EXPECT_EQ(plan.phases[1].first_lane, 4);  // AR on 1: lanes 4, 5.
  EXPECT_EQ(plan.phases[2].first_lane, 2);  // AG on 0: lanes 2, 3.
  EXPECT_EQ(plan.phases[2].lanes_count, 2);
  EXPECT_EQ(Plan(system, CollectiveType::kAllToAll, 800, 8).phases[0].lanes_count, 4);
}

TEST(CollectivePlanTest, PhysicalChunksAreExactSharesAndOnlyOfSeveralPhases) {
  SystemDescription system = System({Dim(3)});
  system.semantics = Semantics::kPhysical;
  system.splits = 4;
  system.endpoint_delay_ns = 77;
  const CollectivePlan one = Plan(system, CollectiveType::kAllReduce, 1001, 3);
  EXPECT_EQ(one.chunks_count, 1);
  EXPECT_EQ(one.phases[0].chunk_bytes, 1001);
  EXPECT_EQ(one.phases[0].message_bytes, 1001.0 / 3);
  EXPECT_EQ(Plan(system, CollectiveType::kAllReduce, 1, 3).phases[0].message_bytes, 1.0 / 3);
  EXPECT_EQ(Plan(system, CollectiveType::kAllReduce, 0, 3).phases[0].message_bytes, 0);
  EXPECT_EQ(Plan(system, CollectiveType::kAllReduce, 8, 2).phases[0].endpoint_delay_ps, 77'000);

  SystemDescription two = System({Dim(3), Dim(5)});
  two.semantics = Semantics::kPhysical;
  two.splits = 4;
  const CollectivePlan plan = Plan(two, CollectiveType::kAllReduce, 1001, 15);
  EXPECT_EQ(plan.chunks_count, 4);
  EXPECT_EQ(Outline(plan), "RS 3/1 250.25; AR 5/3 83.4167; AG 3/1 83.4167; ");
  EXPECT_EQ(plan.phases[2].message_bytes, 1001.0 / 12);
  EXPECT_EQ(SentBytes(plan.phases[0], 4, 0), 2 * 1001 / 3);   // 2 of 3 thirds.
  EXPECT_EQ(SentBytes(plan.phases[1], 4, 0), 8 * 1001 / 15);  // 2 * 4 of 5 fifths of a third.
  EXPECT_EQ(SentBytes(plan.phases[2], 4, 0), 2 * 1001 / 3);
}

TEST(CollectivePlanTest, PhysicalTreesAreCutIntoAnEvenNumberOfChunks) {
  SystemDescription system = System({Dim(6)}, {AlgorithmKind::kDoubleBinaryTree, -1});
  system.semantics = Semantics::kPhysical;
  for (const auto& [splits, chunks_count] : {std::pair(1, 6), std::pair(6, 6), std::pair(7, 8)}) {
    system.splits = splits;
    const CollectivePlan plan = Plan(system, CollectiveType::kAllReduce, 999, 6);
    EXPECT_EQ(plan.chunks_count, chunks_count);
    EXPECT_EQ(plan.lane_chunks_count, chunks_count);
    EXPECT_EQ(plan.phases[0].chunk_bytes, 999.0 / chunks_count);
  }
}

TEST(CollectivePlanTest, PhysicalRefusesTreesThatAreNoAllReduce) {
  SystemDescription system = System({Dim(6)}, {AlgorithmKind::kDoubleBinaryTree, -1});
  system.semantics = Semantics::kPhysical;
  EXPECT_EQ(PlanFault(system, CollectiveType::kAllReduce, 6), "");
  EXPECT_EQ(PlanFault(system, CollectiveType::kAllReduce, 3), "");
  EXPECT_THAT(PlanFault(system, CollectiveType::kAllGather, 6),
              testing::HasSubstr("doubleBinaryTree is an all-reduce: configure ring"));
  SystemDescription two = System({Dim(2), Dim(3)}, {AlgorithmKind::kDoubleBinaryTree, -1});
  two.semantics = Semantics::kPhysical;
  EXPECT_THAT(PlanFault(two, CollectiveType::kAllReduce, 6),
              testing::HasSubstr("with localBWAware dimension 0 runs a reduce-scatter"));
  two.all_reduce.per_dim[0].kind = AlgorithmKind::kRing;
  EXPECT_EQ(PlanFault(two, CollectiveType::kAllReduce, 6), "");
  SystemDescription astra = System({Dim(2), Dim(4)}, {AlgorithmKind::kDoubleBinaryTree, -1});
  EXPECT_EQ(PlanFault(astra, CollectiveType::kAllGather, 8), "");
  astra.all_to_all.per_dim[0].kind = AlgorithmKind::kHalvingDoubling;
  EXPECT_EQ(PlanFault(astra, CollectiveType::kAllToAll, 8), "halvingDoubling has no all-to-all");
}

CollectivePhase Phase(AlgorithmKind algorithm, PhaseOp op, int32_t places_count, int64_t bytes) {
  const CollectiveType types[] = {CollectiveType::kAllReduce, CollectiveType::kReduceScatter,
                                  CollectiveType::kAllGather, CollectiveType::kAllToAll};
  return Plan(System({Dim(places_count)}, {algorithm, -1}), types[static_cast<int>(op)], bytes,
              places_count)
      .phases[0];
}

// Who holds which part after each step, followed through an all-gather and the
// reduce-scatter's mirror: every place must end with everything.
TEST(StepsTest, RingAllGatherBringsEveryShardEverywhere) {
  for (const int32_t direction : {1, -1}) {
    const CollectivePhase phase = Phase(AlgorithmKind::kRing, PhaseOp::kAllGather, 5, 100);
    ASSERT_EQ(phase.sends_count, 4);
    std::vector<std::set<int>> held(5);
    std::vector<int> newest(5);
    for (int place = 0; place < 5; ++place) held[place].insert(newest[place] = place);
    for (int64_t step = 0; step < phase.sends_count; ++step) {
      std::vector<int> next(5, -1);
      for (int place = 0; place < 5; ++place) {
        next[PairStepAt(phase, place, step, direction).peer] = newest[place];
      }
      newest = next;
      for (int place = 0; place < 5; ++place) held[place].insert(newest[place]);
    }
    for (int place = 0; place < 5; ++place) EXPECT_EQ(held[place].size(), 5u);
  }
}

TEST(StepsTest, HalvingDoublingPeersMeetAndSizesHalveAndDouble) {
  const CollectivePhase phase = Phase(AlgorithmKind::kHalvingDoubling, PhaseOp::kAllReduce, 8, 800);
  ASSERT_EQ(phase.sends_count, 6);
  const int64_t bytes[] = {400, 200, 100, 100, 200, 400};
  const int distances[] = {1, 2, 4, 4, 2, 1};
  const int64_t reduced[] = {200, 100, 0, 0, 0, 0};
  for (int step = 0; step < 6; ++step) {
    for (int place = 0; place < 8; ++place) {
      const PairStep there = PairStepAt(phase, place, step, 1);
      EXPECT_EQ(there.bytes, bytes[step]);
      EXPECT_EQ(there.reduce_bytes, reduced[step]);
      EXPECT_EQ(there.peer ^ place, distances[step]);
      EXPECT_EQ(PairStepAt(phase, there.peer, step, 1).peer, place);
    }
  }
  CollectivePhase physical = phase;  // Every receipt is reduced, by its own size.
  physical.semantics = Semantics::kPhysical;
  const double reduced_physical[] = {400, 200, 100, 0, 0, 0};
  for (int step = 0; step < 6; ++step) {
    EXPECT_EQ(PairStepAt(physical, 3, step, 1).reduce_bytes, reduced_physical[step]);
  }
  const CollectivePhase gather =
      Phase(AlgorithmKind::kHalvingDoubling, PhaseOp::kAllGather, 8, 100);
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(PairStepAt(gather, 0, step, 1).peer, 4 >> step);
    EXPECT_EQ(PairStepAt(gather, 0, step, 1).bytes, 100 << step);
  }
}

TEST(StepsTest, DirectReachesEveryPeerOnceAHalf) {
  const CollectivePhase phase = Phase(AlgorithmKind::kDirect, PhaseOp::kAllReduce, 6, 600);
  ASSERT_EQ(phase.sends_count, 10);
  for (const int32_t direction : {1, -1}) {
    for (int place = 0; place < 6; ++place) {
      std::multiset<int> peers;
      for (int number = 0; number < 10; ++number) {
        peers.insert(DirectPeer(phase, place, number, direction));
      }
      for (int peer = 0; peer < 6; ++peer) EXPECT_EQ(peers.count(peer), peer == place ? 0u : 2u);
    }
  }
}

TEST(StepsTest, DirectReceiptsReduceByTurns) {
  // Window 2 of 5 places: turns of 2 that reduce and 2 that do not; of an all-reduce every
  // second turn that may.
  CollectivePhase phase = Phase(AlgorithmKind::kDirect, PhaseOp::kReduceScatter, 5, 500);
  phase.window = phase.reduce_run = 2;
  const auto pattern = [&](PhaseOp op) {
    phase.op = op;
    std::string text;
    for (int i = 0; i < 12; ++i) text += DirectReceiptReduces(phase, i) ? 'P' : '.';
    return text;
  };
  EXPECT_EQ(pattern(PhaseOp::kReduceScatter), "PP..PP..PP..");
  EXPECT_EQ(pattern(PhaseOp::kAllReduce), "PP......PP..");
  EXPECT_EQ(pattern(PhaseOp::kAllGather), "............");
  EXPECT_EQ(pattern(PhaseOp::kAllToAll), "............");
}

// Each tree reaches all places from the root, children name their parent, and the two
// trees have opposite roots.
TEST(StepsTest, TreesSpanAllPlaces) {
  for (int32_t n = 2; n <= 130; ++n) {
    for (const bool root_is_last : {true, false}) {
      const int32_t root = root_is_last ? n - 1 : 0;
      EXPECT_EQ(TreePlaceOf(n, root_is_last, root).parent, -1);
      EXPECT_EQ(TreePlaceOf(n, root_is_last, root).children_count, 1);
      std::vector<int32_t> reached{root};
      for (size_t i = 0; i < reached.size(); ++i) {
        const TreePlace place = TreePlaceOf(n, root_is_last, reached[i]);
        for (int child = 0; child < place.children_count; ++child) {
          EXPECT_EQ(TreePlaceOf(n, root_is_last, place.children[child]).parent, reached[i]);
          reached.push_back(place.children[child]);
        }
      }
      EXPECT_EQ(std::set<int32_t>(reached.begin(), reached.end()).size(), static_cast<size_t>(n));
      EXPECT_EQ(reached.size(), static_cast<size_t>(n));
    }
  }
}

// So that the two trees together use every place's links both ways.
TEST(StepsTest, LeavesOfOneTreeAreInsideTheOther) {
  for (int32_t n = 3; n <= 130; ++n) {
    for (int32_t place = 0; place < n; ++place) {
      EXPECT_TRUE(TreePlaceOf(n, false, place).children_count > 0 ||
                  TreePlaceOf(n, true, place).children_count > 0)
          << n << " " << place;
    }
  }
  // Its depth is that of a balanced tree.
  for (const int32_t n : {2, 3, 17, 100, 1000, 1 << 20}) {
    int32_t depth_max = 0;
    for (int32_t place = 0; place<n; place += n> 1000 ? 997 : 1) {
      int32_t depth = 0;
      for (int32_t at = place; at >= 0; at = TreePlaceOf(n, true, at).parent) ++depth;
      depth_max = std::max(depth_max, depth);
    }
    EXPECT_LE(depth_max, std::bit_width(uint32_t(n - 1)) + 1) << n;
  }
}

TEST(SegmentPoolTest, SegmentsComeBackCleanAndNeverOverlap) {
  SegmentPool<int> pool;
  const size_t five = pool.Take(5), four = pool.Take(4), one = pool.Take(1);
  for (size_t i = 0; i < 5; ++i) pool[five + i] = 5;
  for (size_t i = 0; i < 4; ++i) pool[four + i] = 4;
  pool[one] = 1;
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(pool[five + i], 5);
  const size_t size = pool.size();
  pool.GiveBack(four, 4);
  pool.GiveBack(five, 5);
  // 8 fits where 5 was (both are of the class of 8), not where 4 was.
  EXPECT_EQ(pool.Take(8), five);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(pool[five + i], 0);
  EXPECT_EQ(pool.Take(3), four);
  EXPECT_EQ(pool[four], 0);
  EXPECT_EQ(pool.size(), size);
}

}  // namespace
}  // namespace chakrad
