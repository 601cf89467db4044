#include "sim/workload/rank_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/status_matchers.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Nodes with the given ids, in this order; edges are (node, dependency) indices.
RankTrace Make(const std::vector<uint64_t>& ids,
               const std::vector<std::pair<uint32_t, uint32_t>>& edges) {
  RankTraceBuilder builder;
  for (const uint64_t id : ids) {
    builder.AddNode(NodeSpec{.id = id, .type = NodeType::kComp, .name = "op"});
  }
  for (const auto& [node, dependency] : edges) {
    builder.AddEdge(node, dependency, EdgeKind::kData);
    if (node == 3) builder.AddEdge(node, dependency, EdgeKind::kControl);
  }
  return *builder.Build(nullptr);
}

TEST(RankGraphTest, EdgesAreTurnedRoundAndCountedByKind) {
  //  0 -> 1 -> 3 (twice, by two kinds), 0 -> 2.
  ASSERT_OK_AND_ASSIGN(const RankGraph graph,
                       BuildRankGraph(Make({30, 10, 40, 20}, {{1, 0}, {2, 0}, {3, 1}})));
  EXPECT_THAT(graph.dependent_begin, ElementsAre(0, 2, 4, 4, 4));
  EXPECT_THAT(graph.dependent, ElementsAre(1, 2, 3, 3));
  EXPECT_THAT(graph.deps_count, ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(graph.by_order, ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(graph.order_of, ElementsAre(2, 0, 3, 1));
  EXPECT_THAT(graph.roots, ElementsAre(0));
  EXPECT_THAT(graph.gap_ns, IsEmpty());
}

// Collectives of one group with the given start times (ids in the order given).
RankTrace Collectives(const std::vector<int64_t>& starts_ns,
                      const std::vector<std::pair<uint32_t, uint32_t>>& edges) {
  RankTraceBuilder builder;
  const CommOp all_reduce{.bytes = 8};
  for (size_t i = 0; i < starts_ns.size(); ++i) {
    builder.AddNode(NodeSpec{.id = i,
                             .type = NodeType::kCommColl,
                             .name = "all_reduce",
                             .start_ns = starts_ns[i],
                             .comm = &all_reduce});
  }
  for (const auto& [node, dependency] : edges) {
    builder.AddEdge(node, dependency, EdgeKind::kData);
  }
  return *builder.Build(nullptr);
}

TEST(RankGraphTest, CollectivesOfAGroupRunInTheirRecordedOrder) {
  ASSERT_OK_AND_ASSIGN(const RankGraph graph, BuildRankGraph(Collectives({30, 10, 20}, {})));
  EXPECT_THAT(graph.roots, ElementsAre(1));  // 1 at 10, then 2 at 20, then 0 at 30.
  EXPECT_THAT(graph.dependent_begin, ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(graph.dependent, ElementsAre(2, 0));
  EXPECT_THAT(graph.deps_count, ElementsAre(1, 0, 1));
}

TEST(RankGraphTest, WithoutTimesOrAgainstTheDependenciesNoOrderIsAdded) {
  ASSERT_OK_AND_ASSIGN(const RankGraph untimed,
                       BuildRankGraph(Collectives({30, kUnknownNs, 20}, {})));
  EXPECT_THAT(untimed.roots, ElementsAre(0, 1, 2));
  // 1 waits for 0, which started later.
  ASSERT_OK_AND_ASSIGN(const RankGraph against, BuildRankGraph(Collectives({30, 10}, {{1, 0}})));
  EXPECT_THAT(against.roots, ElementsAre(0));
  EXPECT_THAT(against.deps_count, ElementsAre(0, 1));
}

// Launches at 1, 2, 3, of three collectives of which one started late and one lacks its times:
// their order is that of the launches.
TEST(RankGraphTest, WhereACollectiveLostItsTimesTheLaunchesTellTheOrder) {
  RankTraceBuilder builder;
  const CommOp all_reduce{.bytes = 8};
  const int64_t starts_ns[] = {10, 40, kUnknownNs};
  for (uint64_t i = 0; i < 3; ++i) {
    builder.AddNode(NodeSpec{.id = i,
                             .type = NodeType::kComp,
                             .flags = RankTrace::kHostOp,
                             .start_ns = static_cast<int64_t>(i) + 1});
  }
  for (uint64_t i = 0; i < 3; ++i) {
    const uint32_t node = builder.AddNode(NodeSpec{
        .id = 3 + i, .type = NodeType::kCommColl, .start_ns = starts_ns[i], .comm = &all_reduce});
    builder.AddEdge(node, static_cast<uint32_t>(i), EdgeKind::kLaunch);
  }
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, builder.Build(nullptr));
  ASSERT_OK_AND_ASSIGN(const RankGraph graph, BuildRankGraph(trace));
  EXPECT_THAT(graph.deps_count, ElementsAre(0, 0, 0, 1, 2, 2));
  EXPECT_THAT(graph.dependent, ElementsAre(3, 4, 5, 4, 5));
}

TEST(RankGraphTest, ASelfDependencyIsACycle) {
  EXPECT_THAT(BuildRankGraph(Make({5, 6}, {{1, 1}})),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "a dependency cycle: node 6 (op) waits for node 6 (op)"));
}

TEST(RankGraphTest, LongCyclesAreCutInTheMessageAndNeedNoStack) {
  constexpr uint32_t kLength = 200'000;
  std::vector<uint64_t> ids;
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  for (uint32_t i = 0; i < kLength; ++i) {
    ids.push_back(i);
    edges.emplace_back(i, (i + 1) % kLength);
  }
  const absl::Status status = BuildRankGraph(Make(ids, edges)).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               "and so on, back to node 0 (op) after 200000 steps"));
  EXPECT_LT(status.message().size(), 500u);
  edges.pop_back();  // A chain.
  EXPECT_THAT(BuildRankGraph(Make(ids, edges)), IsOk());
}

TEST(RankGraphTest, AnEmptyTraceHasAnEmptyGraph) {
  ASSERT_OK_AND_ASSIGN(const RankGraph graph, BuildRankGraph(Make({}, {})));
  EXPECT_THAT(graph.dependent_begin, ElementsAre(0));
  EXPECT_THAT(graph.roots, IsEmpty());
}

}  // namespace
}  // namespace chakrad
