// Algorithms written as execution traces.
#include "sim/collective/custom_algorithm.h"

#include <gtest/gtest.h>

#include "common/status_matchers.h"
#include "sim/collective/test_run.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

using absl::StatusCode;

// Builds the traces of an algorithm node by node.
class Maker {
 public:
  explicit Maker(int32_t ranks_count) : builders_(ranks_count) {}
  void Comm(int32_t rank, uint64_t id, NodeType type, int32_t peer, int64_t bytes,
            std::vector<uint64_t> deps = {}, int64_t tag = 0) {
    CommOp op;
    op.peer = peer;
    op.bytes = bytes;
    op.tag = tag;
    NodeSpec spec;
    spec.id = id;
    spec.type = type;
    spec.comm = &op;
    Add(rank, spec, deps);
  }
  void Comp(int32_t rank, uint64_t id, int64_t work_ns, std::vector<uint64_t> deps = {}) {
    NodeSpec spec;
    spec.id = id;
    spec.type = NodeType::kComp;
    spec.work_ns = work_ns;
    Add(rank, spec, deps);
  }
  void Add(int32_t rank, const NodeSpec& spec, const std::vector<uint64_t>& deps = {}) {
    const uint32_t node = builders_[rank].AddNode(spec);
    for (const uint64_t dep : deps) builders_[rank].AddEdgeById(node, dep, EdgeKind::kData);
  }
  std::vector<RankTrace> Make() {
    std::vector<RankTrace> ranks;
    for (size_t rank = 0; rank < builders_.size(); ++rank) {
      builders_[rank].header().rank = static_cast<int32_t>(rank);
      ranks.push_back(*builders_[rank].Build(nullptr));
    }
    return ranks;
  }

 private:
  std::vector<RankTraceBuilder> builders_;
};

constexpr NodeType kSend = NodeType::kCommSend;
constexpr NodeType kReceive = NodeType::kCommRecv;

// A ring all-reduce of `bytes`, step by step: a send goes when the receipt before it is there.
std::vector<RankTrace> RingAllReduce(int32_t n, int64_t bytes) {
  Maker maker(n);
  for (int32_t rank = 0; rank < n; ++rank) {
    for (int step = 0; step < 2 * (n - 1); ++step) {
      std::vector<uint64_t> deps;
      if (step > 0) deps.push_back(10 * step - 9);
      maker.Comm(rank, 10 * step, kSend, (rank + 1) % n, bytes / n, deps);
      maker.Comm(rank, 10 * step + 1, kReceive, (rank + n - 1) % n, bytes / n, deps);
    }
  }
  return maker.Make();
}

SystemDescription System(Semantics semantics, int32_t npus_count, CollectiveScript script) {
  SystemDescription system;
  system.semantics = semantics;
  system.dims = {{TopologyKind::kRing, npus_count, 50, 500}};
  const CollectiveImplementation all{false, {{AlgorithmKind::kRing, -1}}};
  system.all_reduce = system.all_gather = system.reduce_scatter = system.all_to_all = all;
  system.endpoint_delay_ns = 0;
  system.scripts.push_back(std::move(script));
  return system;
}

OneCollective Custom(int64_t bytes) {
  OneCollective one;
  one.call.bytes = bytes;
  one.call.script = 0;
  return one;
}

TEST(CustomAlgorithmTest, ARingWrittenOutIsTheRing) {
  for (const int32_t n : {2, 3, 8}) {
    ASSERT_OK_AND_ASSIGN(const CollectiveScript script,
                         ScriptFromTraces("ring", RingAllReduce(n, 1000 * n), 1000 * n));
    const SystemDescription system = System(Semantics::kPhysical, n, script);
    for (const int64_t bytes : {1000 * n, 77777, 0}) {
      const OneRun custom = RunOne(system, Custom(bytes));
      OneCollective ring;
      ring.call.bytes = bytes;
      const OneRun want = RunOne(system, ring);
      EXPECT_EQ(custom.end_ps, want.end_ps) << n << " " << bytes;
      EXPECT_EQ(custom.network_bytes, want.network_bytes) << n << " " << bytes;
    }
  }
}

TEST(CustomAlgorithmTest, AstraTakesTheSizesOfTheTracesAndAtLeastANanosecondOfCompute) {
  Maker maker(2);
  maker.Comm(0, 1, kSend, 1, 5000);
  maker.Comm(1, 1, kReceive, 0, 5000);
  maker.Comp(1, 2, 0, {1});
  maker.Comm(1, 3, kSend, 0, 100, {2}, 7);
  maker.Comm(0, 2, kReceive, 1, 100, {}, 7);
  ASSERT_OK_AND_ASSIGN(const CollectiveScript script, ScriptFromTraces("x", maker.Make(), 10));
  SystemDescription system = System(Semantics::kAstra, 2, script);
  system.endpoint_delay_ns = 10;  // Not charged.
  system.splits = 4;
  const OneRun run = RunOne(system, Custom(123456));
  // 500 + 100, 1, 500 + 2.
  EXPECT_EQ(run.end_ps, (std::vector<int64_t>{1'103'000, 1'103'000}));
  EXPECT_EQ(run.network_bytes, (std::vector<int64_t>{5000, 100}));
  // Physical: scaled (20 bytes are twice 10), and compute as recorded.
  SystemDescription physical = System(Semantics::kPhysical, 2, script);
  EXPECT_EQ(RunOne(physical, Custom(20)).end_ps, (std::vector<int64_t>{1'204'000, 1'204'000}));
  EXPECT_EQ(RunOne(physical, Custom(20)).network_bytes, (std::vector<int64_t>{10000, 200}));
}

TEST(CustomAlgorithmTest, PlacesWithoutStepsAreThroughAtOnce) {
  Maker maker(3);
  maker.Comm(0, 1, kSend, 1, 500);
  maker.Comm(1, 1, kReceive, 0, 500);
  ASSERT_OK_AND_ASSIGN(const CollectiveScript script, ScriptFromTraces("x", maker.Make(), 0));
  EXPECT_EQ(RunOne(System(Semantics::kPhysical, 3, script), Custom(1)).end_ps,
            (std::vector<int64_t>{510'000, 510'000, 0}));
}

TEST(CustomAlgorithmTest, ATypeOrANodeRunsItsScript) {
  SystemDescription system = System(Semantics::kPhysical, 2, {});
  system.scripts.resize(3);
  system.script_by_type[CollectiveType::kAllGather] = 1;
  system.script_by_node_id[17] = 2;
  EXPECT_EQ(ScriptOf(system, CollectiveType::kAllReduce, 3), -1);
  EXPECT_EQ(ScriptOf(system, CollectiveType::kAllGather, 3), 1);
  EXPECT_EQ(ScriptOf(system, CollectiveType::kAllGather, 17), 2);
}

TEST(CustomAlgorithmTest, AGroupOfAnotherSizeIsRefused) {
  ASSERT_OK_AND_ASSIGN(const CollectiveScript script,
                       ScriptFromTraces("mine", RingAllReduce(4, 400), 400));
  const SystemDescription system = System(Semantics::kPhysical, 8, script);
  EXPECT_EQ(PlanFault(system, CollectiveType::kAllReduce, WholeShape(system), 0),
            "the custom algorithm \"mine\" is for 4 ranks, and the group has 8");
  EXPECT_EQ(PlanFault(system, CollectiveType::kAllReduce, ShapeOf(system, {0, 1, 2, 3}), 0), "");
}

absl::Status Fault(Maker* maker) { return ScriptFromTraces("bad", maker->Make(), 0).status(); }

TEST(CustomAlgorithmTest, FaultsNameTheNode) {
  {
    Maker maker(2);
    maker.Comm(0, 4, kSend, 1, 8);
    maker.Comm(0, 5, kSend, 1, 8);
    maker.Comm(1, 4, kReceive, 0, 8);
    EXPECT_THAT(Fault(&maker),
                StatusIs(StatusCode::kInvalidArgument,
                         "custom algorithm \"bad\": rank 0, node 5 (): 8 bytes with tag 0 to rank "
                         "1, which has no receive for it"));
  }
  {
    Maker maker(2);
    maker.Comm(0, 4, kSend, 1, 8);
    maker.Comm(1, 4, kReceive, 0, 9);
    EXPECT_THAT(Fault(&maker), StatusIs(StatusCode::kInvalidArgument, "has no receive for it"));
  }
  {
    Maker maker(2);
    maker.Comm(1, 4, kReceive, 0, 9);
    EXPECT_THAT(Fault(&maker), StatusIs(StatusCode::kInvalidArgument,
                                        "rank 1, node 4 (): 9 bytes with tag 0 from rank 0, which "
                                        "has no send for it"));
  }
  {
    Maker maker(2);
    maker.Comm(0, 1, kSend, 2, 8);
    EXPECT_THAT(Fault(&maker), StatusIs(StatusCode::kInvalidArgument, "peer: 2 is not in [0, 2)"));
  }
  {
    Maker maker(2);
    maker.Comm(0, 1, kSend, 0, 8);
    EXPECT_THAT(Fault(&maker),
                StatusIs(StatusCode::kInvalidArgument, "peer: 0 is the rank itself"));
  }
  {
    Maker maker(2);
    maker.Comm(0, 1, kSend, 1, int64_t{1} << 62);
    EXPECT_THAT(Fault(&maker), StatusIs(StatusCode::kInvalidArgument, "is not in [0, "));
  }
  {
    Maker maker(2);
    maker.Comm(1, 1, NodeType::kCommColl, 0, 8);
    EXPECT_THAT(Fault(&maker), StatusIs(StatusCode::kInvalidArgument,
                                        "rank 1, node 1 (): COMM_COLL_NODE has no place"));
  }
  Maker one(1);
  EXPECT_THAT(Fault(&one), StatusIs(StatusCode::kInvalidArgument, "ranks: 1 is not in [2, "));
  std::vector<RankTrace> swapped = RingAllReduce(2, 8);
  std::swap(swapped[0], swapped[1]);
  EXPECT_THAT(ScriptFromTraces("bad", swapped, 0),
              StatusIs(StatusCode::kInvalidArgument, "rank: 1 stands at place 0"));
  EXPECT_THAT(ScriptFromTraces("bad", RingAllReduce(2, 8), -1),
              StatusIs(StatusCode::kInvalidArgument, "total bytes: -1 is not in [0, "));
}

// Each waits for what the other sends only after it has received.
TEST(CustomAlgorithmTest, ACircleOverRanksIsFound) {
  Maker maker(2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    maker.Comm(rank, 1, kReceive, 1 - rank, 8);
    maker.Comm(rank, 2, kSend, 1 - rank, 8, {1});
  }
  EXPECT_THAT(Fault(&maker),
              StatusIs(StatusCode::kInvalidArgument, "rank 0, node 1 (): it can never run"));
}

}  // namespace
}  // namespace chakrad
