// Broadcast, reduce, gather, scatter and barrier: their steps, and what they take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "sim/collective/rooted_scripts.h"
#include "sim/collective/script_builder.h"
#include "sim/collective/test_run.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;

constexpr PhaseOp kOps[] = {PhaseOp::kBroadcast, PhaseOp::kReduce, PhaseOp::kGather,
                            PhaseOp::kScatter};
constexpr ScriptShape kShapes[] = {ScriptShape::kChain, ScriptShape::kStar,
                                   ScriptShape::kBinomialTree};

// Every place but the root has one edge towards it; what goes over it is what the places behind
// it need or have.
TEST(RootedScriptsTest, EveryPlaceHangsFromTheRootByOneMessage) {
  for (const PhaseOp op : kOps) {
    const bool down = op == PhaseOp::kBroadcast || op == PhaseOp::kScatter;
    const bool parts = op == PhaseOp::kGather || op == PhaseOp::kScatter;
    for (const ScriptShape shape : kShapes) {
      for (int32_t n = 2; n <= 40; ++n) {
        const CollectiveScript script = MakeRootedScript(op, shape, n);
        EXPECT_EQ(FindStuckStep(script).place, -1);
        ASSERT_EQ(script.steps.size(), 2 * size_t(n - 1));
        std::vector<int32_t> parent(n, -1);
        std::vector<int64_t> above(n, 0);
        for (int32_t place = 0; place < n; ++place) {
          for (uint32_t i = script.step_begin[place]; i < script.step_begin[place + 1]; ++i) {
            const ScriptStep& step = script.steps[i];
            if ((step.kind == ScriptStep::Kind::kSend) == down) continue;
            EXPECT_EQ(parent[place], -1);
            parent[place] = step.peer;
            above[place] = step.units;
          }
        }
        std::vector<int64_t> subtree(n, 1);
        for (int32_t place = n - 1; place > 0; --place) {
          ASSERT_LT(parent[place], place);
          subtree[parent[place]] += subtree[place];
          EXPECT_EQ(above[place], parts ? subtree[place] : 1);
        }
        EXPECT_EQ(subtree[0], n);
      }
    }
  }
}

SystemDescription Switch(int32_t npus_count, AlgorithmKind kind) {
  SystemDescription system;
  system.semantics = Semantics::kPhysical;
  system.dims = {{TopologyKind::kSwitch, npus_count, 50, 500}};  // 1,000 ns from NPU to NPU.
  const CollectiveImplementation all{false, {{kind, -1}}};
  system.all_reduce = system.all_gather = system.reduce_scatter = system.all_to_all = all;
  system.endpoint_delay_ns = 0;
  return system;
}

OneRun RunIt(const SystemDescription& system, CollectiveType type, int64_t bytes,
             int32_t root = kNoRank) {
  OneCollective one;
  one.call.type = type;
  one.call.bytes = bytes;
  one.call.root = root;
  const OneRun run = RunOne(system, one);
  EXPECT_TRUE(run.waits.empty());
  return run;
}

constexpr int64_t kNs = 1000;  // Picoseconds.

TEST(RootedTest, ABroadcastInAStarQueuesAtTheRootsPort) {
  // 500 bytes are 10 ns at the port; the root has sent all when the last one has come.
  SystemDescription system = Switch(4, AlgorithmKind::kDirect);
  system.splits = 5;  // Nothing is passed on: no chunks.
  EXPECT_THAT(RunIt(system, CollectiveType::kBroadcast, 500).end_ps,
              ElementsAre(1030 * kNs, 1010 * kNs, 1020 * kNs, 1030 * kNs));
  EXPECT_THAT(RunIt(system, CollectiveType::kBroadcast, 500, 2).end_ps,
              ElementsAre(1020 * kNs, 1030 * kNs, 1030 * kNs, 1010 * kNs));
  EXPECT_THAT(RunIt(system, CollectiveType::kBroadcast, 500).network_bytes,
              ElementsAre(1500, 0, 0, 0));
}

TEST(RootedTest, ABroadcastInAChainPipelinesItsChunks) {
  SystemDescription system = Switch(4, AlgorithmKind::kRing);
  // A piece a place: 100 bytes, 2 ns each, one behind the other. A place is through when it has
  // passed on all of them.
  EXPECT_THAT(RunIt(system, CollectiveType::kBroadcast, 400).end_ps,
              ElementsAre(1008 * kNs, 2010 * kNs, 3012 * kNs, 3012 * kNs));
  system.splits = 5;  // More than places.
  EXPECT_THAT(RunIt(system, CollectiveType::kBroadcast, 500).end_ps,
              ElementsAre(1010 * kNs, 2012 * kNs, 3014 * kNs, 3014 * kNs));
  EXPECT_THAT(RunIt(system, CollectiveType::kBroadcast, 500).network_bytes,
              ElementsAre(500, 500, 500, 0));
}

// When the last of the `size` places in the subtree of a place has it, from when that place had:
// its children get it one behind the other at its port, the largest subtree first.
int64_t BinomialPs(int32_t size, int64_t port_ps, int64_t message_ps) {
  int64_t last_ps = 0, sent_ps = 0;
  for (int32_t child = static_cast<int32_t>(std::bit_floor(uint32_t(size))); child > 0;
       child /= 2) {
    if (child >= size) continue;
    const int32_t below = std::min(child, size - child);
    last_ps = std::max(last_ps, sent_ps + message_ps + BinomialPs(below, port_ps, message_ps));
    sent_ps += port_ps;
  }
  return last_ps;
}

// A piece a place, and each to all of the root's children before the next.
TEST(RootedTest, ABroadcastInABinomialTreeServesTheLargestSubtreeFirst) {
  for (int32_t n = 2; n <= 80; ++n) {
    const int64_t pieces_count = std::min(n, 64);
    const OneRun run = RunIt(Switch(n, AlgorithmKind::kHalvingDoubling), CollectiveType::kBroadcast,
                             50'000 * pieces_count, n / 3);
    const int64_t children_count = std::bit_width(uint32_t(n - 1));
    EXPECT_EQ(
        *std::max_element(run.end_ps.begin(), run.end_ps.end()),
        (pieces_count - 1) * children_count * 1000 * kNs + BinomialPs(n, 1000 * kNs, 2000 * kNs))
        << n;
  }
}

TEST(RootedTest, AReduceInABinomialTreeReducesEveryReceipt) {
  SystemDescription system = Switch(8, AlgorithmKind::kHalvingDoubling);
  system.endpoint_delay_ns = 3;
  system.local_mem_bytes_per_ns = 75;  // 500 bytes: 20 ns.
  // 8 pieces of 500 bytes. Leaves send after 3 ns; the last piece waits for 7 at the port; a
  // receipt is dealt with in 23 ns; the root has three levels below.
  const int64_t first = 3 + 7 * 10, hop = 1010 + 23;
  const OneRun run = RunIt(system, CollectiveType::kReduce, 4000);
  EXPECT_EQ(run.end_ps[0], (first + 3 * hop) * kNs);
  EXPECT_EQ(run.end_ps[7], (first + 1010) * kNs);
  EXPECT_EQ(run.end_ps[6], (first + hop + 1010) * kNs);
  EXPECT_THAT(run.network_bytes, ElementsAre(0, 4000, 4000, 4000, 4000, 4000, 4000, 4000));
}

TEST(RootedTest, AGatherBringsEachContributionToTheRoot) {
  // Star: all at once. Binomial: 1, 2 and 4 contributions up the tree, in 8 pieces of 500 bytes.
  EXPECT_EQ(RunIt(Switch(8, AlgorithmKind::kDirect), CollectiveType::kGather, 500).end_ps,
            std::vector<int64_t>(8, 1010 * kNs));
  const OneRun tree =
      RunIt(Switch(8, AlgorithmKind::kHalvingDoubling), CollectiveType::kGather, 4000);
  EXPECT_EQ(tree.end_ps[0], (1010 + 1020 + 1040 + 7 * 40) * kNs);
  EXPECT_THAT(tree.network_bytes, ElementsAre(0, 4000, 8000, 4000, 16000, 4000, 8000, 4000));
}

TEST(RootedTest, AScatterSendsEachItsShare) {
  // 1,200 bytes among 3: 400 each, 8 ns at the port.
  EXPECT_THAT(RunIt(Switch(3, AlgorithmKind::kDirect), CollectiveType::kScatter, 1200, 1).end_ps,
              ElementsAre(1016 * kNs, 1016 * kNs, 1008 * kNs));
  // Chain: two shares, then one. 1,000 bytes are no whole shares: 2/3, rounded down once.
  const OneRun chain = RunIt(Switch(3, AlgorithmKind::kRing), CollectiveType::kScatter, 1000);
  EXPECT_THAT(chain.network_bytes, ElementsAre(666, 333, 0));
}

TEST(RootedTest, ABarrierIsAnAllReduceOfNothing) {
  EXPECT_EQ(RunIt(Switch(4, AlgorithmKind::kRing), CollectiveType::kBarrier, 12345).end_ps,
            std::vector<int64_t>(4, 6 * 1000 * kNs));
  const OneRun run = RunIt(Switch(4, AlgorithmKind::kHalvingDoubling), CollectiveType::kBarrier, 0);
  EXPECT_EQ(run.end_ps, std::vector<int64_t>(4, 4 * 1000 * kNs));
  EXPECT_EQ(run.network_bytes, std::vector<int64_t>(4, 0));
}

TEST(RootedTest, TypesHaveTheirOwnImplementationWhereOneIsGiven) {
  SystemDescription system = Switch(4, AlgorithmKind::kRing);
  system.broadcast = {false, {{AlgorithmKind::kDirect, -1}}};
  EXPECT_EQ(RunIt(system, CollectiveType::kBroadcast, 500).end_ps[3], 1030 * kNs);
  EXPECT_EQ(RunIt(system, CollectiveType::kReduce, 400).end_ps[0], 3012 * kNs);
}

// On 4 x 3 NPUs a broadcast goes along dimension 1 from the root, then along dimension 0 from
// each of those; a gather comes back that way.
TEST(RootedTest, SeveralDimensionsAreWalkedOneByOne) {
  SystemDescription system = Switch(4, AlgorithmKind::kDirect);
  system.dims.push_back({TopologyKind::kFullyConnected, 3, 10, 300});
  for (CollectiveImplementation* all :
       {&system.all_reduce, &system.all_gather, &system.reduce_scatter, &system.all_to_all}) {
    all->per_dim.push_back(all->per_dim[0]);
  }
  const OneRun broadcast = RunIt(system, CollectiveType::kBroadcast, 500, 5);  // At (1, 1).
  // Dimension 1: 50 ns at the port, to (1, 2), then (1, 0). Dimension 0: 10 ns each.
  EXPECT_EQ(broadcast.end_ps[9], (350 + 1030) * kNs);
  EXPECT_EQ(broadcast.end_ps[10], (350 + 1010) * kNs);
  EXPECT_EQ(broadcast.end_ps[2], (400 + 1010) * kNs);
  EXPECT_EQ(broadcast.end_ps[0], (400 + 1030) * kNs);
  EXPECT_EQ(broadcast.network_bytes[5], 5 * 500);
  EXPECT_EQ(broadcast.network_bytes[9], 3 * 500);
  EXPECT_EQ(broadcast.network_bytes[0], 0);
  const OneRun gather = RunIt(system, CollectiveType::kGather, 500, 5);
  EXPECT_EQ(gather.network_bytes[0], 500);
  EXPECT_EQ(gather.network_bytes[9], 4 * 500);
  EXPECT_EQ(gather.network_bytes[5], 0);
  EXPECT_EQ(gather.end_ps[5], (1010 + 300 + 200) * kNs);
  const OneRun scatter = RunIt(system, CollectiveType::kScatter, 1200, 5);
  EXPECT_EQ(scatter.network_bytes[5], 800 + 300);
  EXPECT_EQ(scatter.network_bytes[9], 300);
}

// Whenever the ranks join, however many chunks: all end, later joins never make anything
// earlier, and the bytes are those of the steps.
TEST(RootedTest, RanksThatJoinLateAreWaitedFor) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    const int32_t n = static_cast<int32_t>(pick(2, 12));
    SystemDescription system = Switch(n, static_cast<AlgorithmKind>(pick(0, 2)));
    if (pick(0, 1) == 1) {
      system.dims.push_back({TopologyKind::kRing, 3, 7, 11});
      for (CollectiveImplementation* all :
           {&system.all_reduce, &system.all_gather, &system.reduce_scatter}) {
        all->per_dim.push_back({static_cast<AlgorithmKind>(pick(0, 1)), -1});
      }
    }
    system.splits = static_cast<int32_t>(pick(1, 5));
    system.endpoint_delay_ns = pick(0, 20);
    const int32_t ranks_count = static_cast<int32_t>(NpusCount(system));
    constexpr CollectiveType kTypes[] = {CollectiveType::kBroadcast, CollectiveType::kReduce,
                                         CollectiveType::kGather, CollectiveType::kScatter};
    OneCollective one;
    one.call.type = kTypes[pick(0, 3)];
    one.call.bytes = pick(0, 100'000);
    one.call.root = static_cast<int32_t>(pick(0, ranks_count - 1));
    const OneRun together = RunOne(system, one);
    for (int32_t i = 0; i < ranks_count; ++i) one.join_ps.push_back(pick(0, 3'000'000));
    const OneRun apart = RunOne(system, one);
    EXPECT_TRUE(together.waits.empty() && apart.waits.empty()) << seed;
    EXPECT_EQ(together.network_bytes, apart.network_bytes) << seed;
    for (int32_t i = 0; i < ranks_count; ++i) {
      EXPECT_GE(apart.end_ps[i], one.join_ps[i]) << seed;
    }
    const bool down =
        one.call.type == CollectiveType::kBroadcast || one.call.type == CollectiveType::kScatter;
    if (down) {
      for (const int64_t end_ps : apart.end_ps) EXPECT_GE(end_ps, one.join_ps[one.call.root]);
    } else {
      for (const int64_t join_ps : one.join_ps) {
        EXPECT_GE(apart.end_ps[one.call.root], join_ps) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace chakrad
