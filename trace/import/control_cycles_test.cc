#include "trace/import/control_cycles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "common/status_matchers.h"
#include "trace/check/cycles.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

using Edge = std::tuple<uint32_t, uint32_t, EdgeKind>;  // Node, dependency.

RankTrace Graph(uint32_t size, const std::vector<Edge>& edges) {
  RankTraceBuilder builder;
  for (uint32_t id = 0; id < size; ++id) {
    NodeSpec spec;
    spec.id = id;
    spec.type = NodeType::kComp;
    builder.AddNode(spec);
  }
  for (const auto& [node, dependency, kind] : edges) builder.AddEdge(node, dependency, kind);
  return *builder.Build(nullptr);
}

constexpr EdgeKind kData = EdgeKind::kData, kControl = EdgeKind::kControl;

TEST(ControlCyclesTest, AControlEdgeThatContradictsADataEdgeGoes) {
  // 1 needs 0's data; 0 claims to be called by 1. 2 is called by 1.
  RankTrace rank = Graph(3, {{1, 0, kData}, {0, 1, kControl}, {2, 1, kControl}});
  Ledger ledger;
  DropCyclicControlEdges(&rank, &ledger);
  EXPECT_THAT(rank.dep_begin, ::testing::ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(rank.dep_node, ::testing::ElementsAre(0, 1));
  EXPECT_EQ(ledger.flaws_by_rule["cyclic_control_dependency"], 1);
}

TEST(ControlCyclesTest, ACycleOfDataStays) {
  RankTrace rank = Graph(2, {{1, 0, kData}, {0, 1, kData}});
  Ledger ledger;
  DropCyclicControlEdges(&rank, &ledger);
  EXPECT_EQ(rank.dep_node.size(), 2u);
  EXPECT_TRUE(ledger.flaws.empty());
  EXPECT_FALSE(CheckAcyclic(rank).ok());
}

TEST(ControlCyclesTest, DepthCostsNoStack) {
  std::vector<Edge> chain;
  constexpr uint32_t kSize = 1'000'000;
  for (uint32_t node = 1; node < kSize; ++node) chain.emplace_back(node, node - 1, kData);
  chain.emplace_back(0, kSize - 1, kControl);
  RankTrace rank = Graph(kSize, chain);
  Ledger ledger;
  DropCyclicControlEdges(&rank, &ledger);
  EXPECT_TRUE(CheckAcyclic(rank).ok());
}

// Of random graphs exactly those control edges go that lie on a cycle.
TEST(ControlCyclesTest, WhatIsNotOnACycleStays) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    const uint32_t size = 2 + random() % 8;
    std::vector<Edge> edges;
    for (uint32_t i = 0; i < size * 2; ++i) {
      const uint32_t a = random() % size, b = random() % size;
      // Data edges alone are acyclic.
      if (a > b && random() % 2 == 0) edges.emplace_back(a, b, kData);
      if (a != b && random() % 3 == 0) edges.emplace_back(a, b, kControl);
    }
    const RankTrace before = Graph(size, edges);
    std::vector<std::vector<bool>> reaches(size, std::vector<bool>(size));
    for (uint32_t node = 0; node < size; ++node) {
      for (uint32_t j = before.dep_begin[node]; j < before.dep_begin[node + 1]; ++j) {
        reaches[node][before.dep_node[j]] = true;
      }
    }
    for (uint32_t k = 0; k < size; ++k) {
      for (uint32_t i = 0; i < size; ++i) {
        for (uint32_t j = 0; j < size; ++j) {
          if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
        }
      }
    }
    int64_t on_cycle = 0;
    for (uint32_t node = 0; node < size; ++node) {
      for (uint32_t j = before.dep_begin[node]; j < before.dep_begin[node + 1]; ++j) {
        on_cycle += before.dep_kind[j] == kControl && reaches[before.dep_node[j]][node] ? 1 : 0;
      }
    }
    RankTrace rank = before;
    Ledger ledger;
    DropCyclicControlEdges(&rank, &ledger);
    EXPECT_EQ(ledger.flaws_by_rule["cyclic_control_dependency"], on_cycle) << "round " << round;
    EXPECT_EQ(rank.dep_node.size() + on_cycle, before.dep_node.size());
    EXPECT_TRUE(CheckAcyclic(rank).ok());
  }
}

}  // namespace
}  // namespace chakrad
