#include "trace/writers/graph_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "common/status_matchers.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr uint8_t kHidden = GraphEdge::kThroughHidden;
constexpr auto kDataKind = static_cast<uint8_t>(EdgeKind::kData);

// 'D' device compute, 'H' host, 'C' collective, 'M' memory, 'Z' compute without
// work, 'a' annotation, 'm' metadata. Node i has id 100 + i and starts at 10 * i.
class GraphMaker {
 public:
  explicit GraphMaker(const std::string& kinds) {
    builder_.header().rank = 3;
    for (const char kind : kinds) {
      NodeSpec spec;
      spec.id = 100 + builder_.size();
      spec.name = "n";
      spec.start_ns = int64_t{10} * builder_.size();
      spec.dur_ns = 5;
      spec.work_ns = kind == 'Z' ? 0 : 5;
      spec.type = kind == 'C'   ? NodeType::kCommColl
                  : kind == 'M' ? NodeType::kMemLoad
                  : kind == 'm' ? NodeType::kMetadata
                                : NodeType::kComp;
      if (kind == 'H') spec.flags = RankTrace::kHostOp;
      if (kind == 'a') spec.flags = RankTrace::kAnnotation | RankTrace::kHostOp;
      builder_.AddNode(spec);
    }
  }
  GraphMaker& Edge(uint32_t node, uint32_t dependency, EdgeKind kind = EdgeKind::kData) {
    builder_.AddEdge(node, dependency, kind);
    return *this;
  }
  RankTrace Make() { return *builder_.Build(nullptr); }

 private:
  RankTraceBuilder builder_;
};

TEST(GraphViewTest, TheFullGraphHasEveryNodeAndEveryKindOfEdge) {
  const RankTrace rank =
      GraphMaker("HDm").Edge(1, 0, EdgeKind::kLaunch).Edge(1, 0).Edge(2, 1).Make();
  ASSERT_OK_AND_ASSIGN(const GraphView view, ViewGraph(rank, {.full = true}));
  EXPECT_THAT(view.nodes, ElementsAre(0, 1, 2));
  EXPECT_THAT(view.edges, ElementsAre(GraphEdge{1, 0, kDataKind},
                                      GraphEdge{1, 0, static_cast<uint8_t>(EdgeKind::kLaunch)},
                                      GraphEdge{2, 1, kDataKind}));
  EXPECT_EQ(DescribeView(rank, view), "rank 3: 3 of 3 nodes");
}

// D0 <- H1 <- m2 <- D3: one edge through two hidden ones.
TEST(GraphViewTest, ChainsOfHiddenNodesBecomeOneEdge) {
  const RankTrace rank = GraphMaker("DHmDZ").Edge(1, 0).Edge(2, 1).Edge(3, 2).Edge(4, 3).Make();
  ASSERT_OK_AND_ASSIGN(const GraphView view, ViewGraph(rank, {}));
  EXPECT_THAT(view.nodes, ElementsAre(0, 3));
  EXPECT_THAT(view.edges, ElementsAre(GraphEdge{3, 0, kHidden}));
  EXPECT_EQ(DescribeView(rank, view),
            "rank 3: 2 of 5 nodes; not shown: 1 host operations, 1 without work, 1 metadata and "
            "annotations");
}

TEST(GraphViewTest, WithoutADeviceTheHostsOperationsAreShown) {
  const RankTrace rank = GraphMaker("HaHCM").Edge(1, 0).Edge(2, 1).Make();
  ASSERT_OK_AND_ASSIGN(const GraphView view, ViewGraph(rank, {}));
  EXPECT_THAT(view.nodes, ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(view.edges, ElementsAre(GraphEdge{2, 0, kHidden}));
}

TEST(GraphViewTest, APathThroughHiddenNodesIsNoEdgeWhereThereIsADirectOne) {
  const RankTrace rank = GraphMaker("DHD").Edge(1, 0).Edge(2, 1).Edge(2, 0).Make();
  ASSERT_OK_AND_ASSIGN(const GraphView view, ViewGraph(rank, {}));
  EXPECT_THAT(view.edges, ElementsAre(GraphEdge{2, 0, kDataKind}));
}

// D0 D1 -> H2 -> D3 D4: the hidden one stays as a point.
TEST(GraphViewTest, AHiddenNodeBetweenSeveralAndSeveralIsAJunction) {
  const RankTrace rank = GraphMaker("DDHDD")
                             .Edge(2, 0)
                             .Edge(2, 1)
                             .Edge(3, 2)
                             .Edge(4, 2)
                             .Edge(4, 2, EdgeKind::kSync)
                             .Make();
  ASSERT_OK_AND_ASSIGN(const GraphView view, ViewGraph(rank, {}));
  EXPECT_THAT(view.junctions, ElementsAre(2));
  EXPECT_THAT(view.nodes, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(view.edges, ElementsAre(GraphEdge{2, 0, kHidden}, GraphEdge{2, 1, kHidden},
                                      GraphEdge{3, 2, kHidden}, GraphEdge{4, 2, kHidden}));
  EXPECT_EQ(DescribeView(rank, view),
            "rank 3: 4 of 5 nodes; not shown: 1 host operations (1 of them as points)");
}

TEST(GraphViewTest, AThousandBeforeAndAThousandBehindStayLinear) {
  constexpr uint32_t kMany = 1000;
  GraphMaker maker(std::string(kMany, 'D') + "HH" + std::string(kMany, 'D'));
  for (uint32_t i = 0; i < kMany; ++i) {
    maker.Edge(kMany + i % 2, i);
    maker.Edge(kMany + 2 + i, kMany).Edge(kMany + 2 + i, kMany + 1);
  }
  ASSERT_OK_AND_ASSIGN(const GraphView view, ViewGraph(maker.Make(), {}));
  EXPECT_EQ(view.nodes.size(), 2 * kMany + 2);
  EXPECT_EQ(view.edges.size(), 3 * kMany);
}

// A long chain of hidden nodes, each with a shown dependency of its own, as on a
// host thread: the set that is handed on grows to the end.
TEST(GraphViewTest, ALongChainThatGathersIsQuick) {
  constexpr uint32_t kMany = 50000;
  GraphMaker maker(std::string(kMany, 'D') + std::string(kMany, 'H') + "D");
  for (uint32_t i = 0; i < kMany; ++i) {
    maker.Edge(kMany + i, i);
    maker.Edge(kMany + i + 1, kMany + i);
  }
  ASSERT_OK_AND_ASSIGN(const GraphView view, ViewGraph(maker.Make(), {}));
  EXPECT_THAT(view.junctions, IsEmpty());
  EXPECT_EQ(view.edges.size(), kMany);
}

// D0 <- D1 <- H2 <- D3 <- D4, D5 apart.
TEST(GraphViewTest, AWindowAroundANodeGoesBothWays) {
  const RankTrace rank = GraphMaker("DDHDDD").Edge(1, 0).Edge(2, 1).Edge(3, 2).Edge(4, 3).Make();
  ASSERT_OK_AND_ASSIGN(GraphView view, ViewGraph(rank, {.around_id = 101, .depth = 1}));
  EXPECT_THAT(view.nodes, ElementsAre(0, 1, 3));
  EXPECT_EQ(view.outside_window, 2);
  ASSERT_OK_AND_ASSIGN(view, ViewGraph(rank, {.around_id = 101, .depth = 0}));
  EXPECT_THAT(view.nodes, ElementsAre(1));
  EXPECT_THAT(view.edges, IsEmpty());
  ASSERT_OK_AND_ASSIGN(view, ViewGraph(rank, {.around_id = 105, .depth = 9}));
  EXPECT_THAT(view.nodes, ElementsAre(5));
  EXPECT_THAT(ViewGraph(rank, {.around_id = 7}), StatusIs(kInvalid, "rank 3 has no node 7"));
  EXPECT_THAT(ViewGraph(rank, {.around_id = 102}),
              StatusIs(kInvalid, "node 102 (n) is not in the reduced graph"));
}

TEST(GraphViewTest, ATimeRangeIsHalfOpen) {
  const RankTrace rank = GraphMaker("DDDD").Edge(1, 0).Edge(2, 1).Edge(3, 2).Make();
  // Node i runs over [10 i, 10 i + 5).
  ASSERT_OK_AND_ASSIGN(const GraphView view, ViewGraph(rank, {.from_ns = 14, .to_ns = 30}));
  EXPECT_THAT(view.nodes, ElementsAre(1, 2));
  ASSERT_OK_AND_ASSIGN(const GraphView later, ViewGraph(rank, {.from_ns = 15}));
  EXPECT_THAT(later.nodes, ElementsAre(2, 3));
  EXPECT_THAT(ViewGraph(rank, {.from_ns = 5, .to_ns = 5}), StatusIs(kInvalid, "to_ns: 5 is not"));
  EXPECT_THAT(ViewGraph(rank, {.around_id = 100, .from_ns = 15}),
              StatusIs(kInvalid, "outside the time range"));
}

TEST(GraphViewTest, TooManyNodesAreRefusedWithBothNumbers) {
  const RankTrace rank = GraphMaker("DDDHH").Make();
  EXPECT_THAT(ViewGraph(rank, {.max_nodes = 2}),
              StatusIs(kInvalid, "graph: 3 nodes are more than 2: ask for those around one node"));
  EXPECT_THAT(ViewGraph(rank, {.full = true, .max_nodes = 2}),
              StatusIs(kInvalid, "5 nodes are more than 2"));
  EXPECT_THAT(ViewGraph(rank, {.max_nodes = 3}), IsOk());
  EXPECT_THAT(ViewGraph(rank, {.depth = -1}), StatusIs(kInvalid, "depth: -1"));
}

TEST(GraphViewTest, ACycleCanOnlyBeDrawnInFull) {
  const RankTrace rank = GraphMaker("DHD").Edge(0, 1).Edge(1, 0).Make();
  EXPECT_THAT(ViewGraph(rank, {}), StatusIs(kInvalid, "draw the full graph"));
  EXPECT_THAT(ViewGraph(rank, {.full = true}), IsOk());
}

std::vector<std::set<uint32_t>> Reachable(uint32_t size,
                                          const std::vector<std::pair<uint32_t, uint32_t>>& edges) {
  std::vector<std::vector<uint32_t>> deps(size);
  for (const auto& [node, dependency] : edges) deps[node].push_back(dependency);
  std::vector<std::set<uint32_t>> reachable(size);
  for (uint32_t node = 0; node < size; ++node) {  // Dependencies have lower indices.
    for (const uint32_t dependency : deps[node]) {
      reachable[node].insert(dependency);
      reachable[node].insert(reachable[dependency].begin(), reachable[dependency].end());
    }
  }
  return reachable;
}

// Random graphs: shown nodes wait for the same shown nodes as before, nothing is
// shown twice, and taking nodes out never adds an edge.
TEST(GraphViewTest, WhoWaitsForWhomIsKept) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const uint32_t size = 2 + random() % 40;
    std::string kinds;
    for (uint32_t i = 0; i < size; ++i) kinds.push_back("DHHmZC"[random() % 6]);
    GraphMaker maker(kinds + "D");  // The rank has a device.
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (uint32_t i = random() % (3 * size); i > 0; --i) {
      const uint32_t node = 1 + random() % (size - 1);
      edges.push_back({node, static_cast<uint32_t>(random() % node)});
      maker.Edge(edges.back().first, edges.back().second, static_cast<EdgeKind>(random() % 7));
    }
    const RankTrace rank = maker.Make();
    ASSERT_OK_AND_ASSIGN(const GraphView view, ViewGraph(rank, {}));
    EXPECT_LE(view.edges.size(), rank.dep_node.size());
    std::vector<std::pair<uint32_t, uint32_t>> left;
    std::vector<int> in(size + 1), out(size + 1);
    for (const GraphEdge& edge : view.edges) {
      left.push_back({edge.node, edge.dependency});
      ++in[edge.node];
      ++out[edge.dependency];
    }
    const auto before = Reachable(size + 1, edges), after = Reachable(size + 1, left);
    std::set<uint32_t> junctions(view.junctions.begin(), view.junctions.end());
    std::set<uint32_t> shown;
    for (const uint32_t node : view.nodes) {
      ASSERT_TRUE(shown.insert(node).second);
      EXPECT_EQ(junctions.count(node) == 0,
                kinds[node] == 'D' || kinds[node] == 'C' || node == size);
      EXPECT_TRUE(junctions.count(node) == 0 || (in[node] > 1 && out[node] > 0)) << node;
    }
    for (const uint32_t a : shown) {
      for (const uint32_t b : shown) {
        if (junctions.count(a) + junctions.count(b) > 0) continue;
        EXPECT_EQ(before[a].count(b), after[a].count(b)) << a << " on " << b;
      }
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace chakrad
