// Whole runs of every type of collective, in physical semantics: roots, groups on dimensions,
// sizes that differ by rank, algorithms of one's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/status_matchers.h"
#include "sim/collective/custom_algorithm.h"
#include "sim/simulate.h"
#include "sim/test_traces.h"

namespace chakrad {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 50 bytes/ns, 500 ns a hop, everything else free.
SystemDescription Physical(std::vector<int32_t> npus_counts, AlgorithmChoice choice) {
  SystemDescription system;
  system.semantics = Semantics::kPhysical;
  for (const int32_t npus_count : npus_counts) {
    system.dims.push_back({TopologyKind::kSwitch, npus_count, 50, 500});
  }
  SetAlgorithm(&system, choice);
  system.endpoint_delay_ns = 0;
  return system;
}

void Add(TraceMaker* maker, int32_t rank, uint64_t id, const CommOp& op) {
  NodeSpec spec;
  spec.id = id;
  spec.type = NodeType::kCommColl;
  spec.name = "coll";
  spec.work_ns = 77;  // Recorded, and not asked for.
  spec.comm = &op;
  maker->Add(rank, spec);
}

CommOp Op(CollectiveType type, int64_t bytes, int32_t root = kNoRank,
          uint32_t group = kWorldGroup) {
  CommOp op;
  op.collective = type;
  op.bytes = bytes;
  op.root = root;
  op.group = group;
  return op;
}

std::vector<int64_t> Ends(const SimResult& result) {
  std::vector<int64_t> ends_ns;
  for (const RankEnd& rank : result.ranks) ends_ns.push_back(rank.end_ps / 1000);
  return ends_ns;
}

TEST(AllTypesTest, EveryTypeRunsOnItsModelAndNotAsRecorded) {
  for (int type = 0; type < kCollectiveTypesCount; ++type) {
    for (const AlgorithmKind kind : {AlgorithmKind::kRing, AlgorithmKind::kDirect}) {
      TraceMaker maker(4);
      for (int32_t rank = 0; rank < 4; ++rank) {
        Add(&maker, rank, 1, Op(static_cast<CollectiveType>(type), 5000));
      }
      ASSERT_OK_AND_ASSIGN(const SimResult result, Simulate(maker.Make(), Physical({4}, {kind, -1}),
                                                            SimOptions(), nullptr));
      EXPECT_GE(result.end_ps, 1'000'000) << type;
      ASSERT_EQ(result.collectives.size(), 1u);
      EXPECT_EQ(result.collectives[0].end_ps, result.end_ps);
      // A job that is a barrier only sends nothing, which a notice says.
      const bool barrier = static_cast<CollectiveType>(type) == CollectiveType::kBarrier;
      EXPECT_EQ(result.notices.size(), barrier ? 1u : 0u) << type;
      EXPECT_EQ(result.network_bytes > 0, !barrier) << type;
    }
  }
}

TEST(AllTypesTest, RootsAreGlobalRanks) {
  TraceMaker maker(6);
  const uint32_t group = maker.AddGroup("odd", {1, 3, 5});
  for (const int32_t rank : {1, 3, 5}) {
    Add(&maker, rank, 1, Op(CollectiveType::kBroadcast, 500, 3, group));
  }
  ASSERT_OK_AND_ASSIGN(
      const SimResult result,
      Simulate(maker.Make(), Physical({6}, {AlgorithmKind::kDirect, -1}), SimOptions(), nullptr));
  // Rank 3 sends to 5, then to 1.
  EXPECT_THAT(Ends(result), ElementsAre(0, 1020, 0, 1020, 0, 1010));
}

TEST(AllTypesTest, ARootOutsideTheGroupIsRefused) {
  TraceMaker maker(4);
  const uint32_t group = maker.AddGroup("low", {0, 1});
  for (const int32_t rank : {0, 1}) {
    Add(&maker, rank, 1, Op(CollectiveType::kReduce, 500, 2, group));
  }
  EXPECT_THAT(Simulate(maker.Make(), Physical({4}, {}), SimOptions(), nullptr),
              StatusIs(StatusCode::kInvalidArgument,
                       "rank 0, node 1 (coll): root: 2 is not in group \"low\""));
}

// Recorders give the root of a scatter its buffer and the others their share; of a barrier
// anything.
TEST(AllTypesTest, SizesMayDifferWhereMembersMeanDifferentThings) {
  TraceMaker maker(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    Add(&maker, rank, 1, Op(CollectiveType::kScatter, rank == 1 ? 1200 : 400, 1));
  }
  ASSERT_OK_AND_ASSIGN(
      const SimResult scatter,
      Simulate(maker.Make(), Physical({3}, {AlgorithmKind::kDirect, -1}), SimOptions(), nullptr));
  EXPECT_THAT(Ends(scatter), ElementsAre(1016, 1016, 1008));
  ASSERT_EQ(scatter.notices.size(), 1u);
  EXPECT_THAT(scatter.notices[0], HasSubstr("2 ALL_TO_ALL, GATHER or SCATTER nodes"));
  TraceMaker barrier(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    Add(&barrier, rank, 1, Op(CollectiveType::kBarrier, rank));
  }
  ASSERT_OK_AND_ASSIGN(
      const SimResult result,
      Simulate(barrier.Make(), Physical({3}, {AlgorithmKind::kRing, -1}), SimOptions(), nullptr));
  EXPECT_THAT(Ends(result), ElementsAre(4000, 4000, 4000));
}

TEST(AllTypesTest, TheResultSaysWhichGroupsRanFlat) {
  TraceMaker maker(8);  // 4 x 2.
  const uint32_t box = maker.AddGroup("box", {0, 1, 4, 5});
  const uint32_t crooked = maker.AddGroup("crooked", {2, 7});
  for (const int32_t rank : {0, 1, 4, 5}) {
    Add(&maker, rank, 1, Op(CollectiveType::kAllReduce, 1000, kNoRank, box));
  }
  for (const int32_t rank : {2, 7}) {
    Add(&maker, rank, 1, Op(CollectiveType::kAllReduce, 1000, kNoRank, crooked));
  }
  ASSERT_OK_AND_ASSIGN(
      const SimResult result,
      Simulate(maker.Make(), Physical({4, 2}, {AlgorithmKind::kRing, -1}), SimOptions(), nullptr));
  ASSERT_EQ(result.collectives.size(), 2u);
  for (const CollectiveResult& collective : result.collectives) {
    EXPECT_EQ(collective.flat, collective.group == crooked);
  }
  // Box: halves along dimension 0, an all-reduce of 500 along 1, and back: 4 messages. Crooked:
  // 2 messages of 500 bytes over both switches.
  EXPECT_THAT(Ends(result), ElementsAre(4030, 4030, 4020, 0, 4030, 4030, 0, 4020));
}

// Two ranks that swap 500 bytes, then think for 9 ns.
CollectiveScript Swap() {
  std::vector<RankTrace> ranks;
  for (int32_t rank = 0; rank < 2; ++rank) {
    RankTraceBuilder builder;
    builder.header().rank = rank;
    CommOp op;
    op.peer = 1 - rank;
    op.bytes = 500;
    NodeSpec spec;
    spec.comm = &op;
    spec.id = 1;
    spec.type = NodeType::kCommSend;
    builder.AddNode(spec);
    spec.id = 2;
    spec.type = NodeType::kCommRecv;
    builder.AddNode(spec);
    spec = NodeSpec();
    spec.id = 3;
    spec.type = NodeType::kComp;
    spec.work_ns = 9;
    builder.AddEdgeById(builder.AddNode(spec), 2, EdgeKind::kData);
    ranks.push_back(*builder.Build(nullptr));
  }
  return *ScriptFromTraces("swap", ranks, 0);
}

TEST(AllTypesTest, ATypeOrASingleNodeRunsAnAlgorithmOfItsOwn) {
  for (const bool by_type : {true, false}) {
    TraceMaker maker(2);
    for (int32_t rank = 0; rank < 2; ++rank) {
      Add(&maker, rank, 1, Op(CollectiveType::kAllGather, 100));
      Add(&maker, rank, 2, Op(CollectiveType::kAllReduce, 100));
    }
    SystemDescription system = Physical({2}, {AlgorithmKind::kRing, -1});
    system.scripts.push_back(Swap());
    if (by_type) {
      system.script_by_type[CollectiveType::kAllReduce] = 0;
    } else {
      system.script_by_node_id[2] = 0;
    }
    ASSERT_OK_AND_ASSIGN(const SimResult result,
                         Simulate(maker.Make(), system, SimOptions(), nullptr));
    // 100 bytes gathered; then 500 swapped.
    EXPECT_THAT(Ends(result), ElementsAre(1002 + 1010 + 9, 1002 + 1010 + 9));
  }
}

TEST(AllTypesTest, AnAlgorithmForAnotherNumberOfRanksIsRefused) {
  TraceMaker maker(4);
  maker.OnAll(1, CollectiveType::kAllReduce, 100);
  SystemDescription system = Physical({4}, {AlgorithmKind::kRing, -1});
  system.scripts.push_back(Swap());
  system.script_by_type[CollectiveType::kAllReduce] = 0;
  EXPECT_THAT(Simulate(maker.Make(), system, SimOptions(), nullptr),
              StatusIs(StatusCode::kInvalidArgument,
                       "ALL_REDUCE in group \"world\" (entry 0): the custom algorithm \"swap\" is "
                       "for 2 ranks, and the group has 4"));
}

}  // namespace
}  // namespace chakrad
