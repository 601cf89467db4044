#include "trace/check/cycles.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "common/status_matchers.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

// Nodes 1, 2, ... named a, b, ...
void AddNodes(uint32_t count, RankTraceBuilder* builder) {
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name(1, static_cast<char>('a' + i % 26));
    NodeSpec spec;
    spec.id = i + 1;
    spec.type = NodeType::kComp;
    spec.name = name;
    builder->AddNode(spec);
  }
}

RankTrace Built(RankTraceBuilder* builder) { return builder->Build(nullptr).value(); }

TEST(CyclesTest, AGraphWithoutCyclesPasses) {
  RankTraceBuilder builder;
  AddNodes(4, &builder);
  builder.AddEdge(1, 0, EdgeKind::kData);
  builder.AddEdge(2, 0, EdgeKind::kControl);
  builder.AddEdge(3, 1, EdgeKind::kSync);
  builder.AddEdge(3, 2, EdgeKind::kSync);
  EXPECT_THAT(CheckAcyclic(Built(&builder)), IsOk());
  EXPECT_THAT(CheckAcyclic(RankTrace()), IsOk());
}

TEST(CyclesTest, TheMessageNamesNodesAndEdgeKinds) {
  RankTraceBuilder builder;
  AddNodes(3, &builder);
  builder.AddEdge(0, 2, EdgeKind::kControl);
  builder.AddEdge(2, 1, EdgeKind::kSync);
  builder.AddEdge(1, 0, EdgeKind::kLaunch);
  // Wherever it begins, the ring is the same: 1 waits for 3, 3 for 2, 2 for 1.
  const absl::Status status = CheckAcyclic(Built(&builder));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "dependency cycle: node "));
  const std::string message(status.message());
  const std::string twice = message + message.substr(message.find(" -"));
  EXPECT_NE(twice.find("node 1 (a) -control-> node 3 (c) -sync-> node 2 (b) -launch-> node 1 (a)"),
            std::string::npos)
      << message;
}

// a -> b -> c -> d -> a, and e <-> f which d waits for.
TEST(CyclesTest, TheShortestCycleIsPrinted) {
  RankTraceBuilder builder;
  AddNodes(6, &builder);
  builder.AddEdge(0, 1, EdgeKind::kData);
  builder.AddEdge(1, 2, EdgeKind::kData);
  builder.AddEdge(2, 3, EdgeKind::kData);
  builder.AddEdge(3, 0, EdgeKind::kData);
  builder.AddEdge(3, 4, EdgeKind::kData);
  builder.AddEdge(4, 5, EdgeKind::kSync);
  builder.AddEdge(5, 4, EdgeKind::kStreamOrder);
  const absl::Status status = CheckAcyclic(Built(&builder));
  EXPECT_TRUE(status.message() ==
                  "dependency cycle: node 5 (e) -sync-> node 6 (f) -stream_order-> node 5 (e)" ||
              status.message() ==
                  "dependency cycle: node 6 (f) -stream_order-> node 5 (e) -sync-> node 6 (f)")
      << status;
}

TEST(CyclesTest, ANodeThatWaitsForItselfIsACycle) {
  RankTraceBuilder builder;
  AddNodes(2, &builder);
  builder.AddEdge(1, 1, EdgeKind::kControl);
  EXPECT_THAT(CheckAcyclic(Built(&builder)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "dependency cycle: node 2 (b) -control-> node 2 (b)"));
}

TEST(CyclesTest, AHundredThousandLevelsPassAndTheirCycleIsCutShort) {
  constexpr uint32_t kLevels = 100000;
  RankTraceBuilder chain;
  AddNodes(kLevels, &chain);
  for (uint32_t i = 1; i < kLevels; ++i) chain.AddEdge(i, i - 1, EdgeKind::kControl);
  EXPECT_THAT(CheckAcyclic(Built(&chain)), IsOk());
  RankTraceBuilder ring;
  AddNodes(kLevels, &ring);
  for (uint32_t i = 0; i < kLevels; ++i) ring.AddEdge(i, (i + 1) % kLevels, EdgeKind::kControl);
  EXPECT_THAT(CheckAcyclic(Built(&ring)),
              StatusIs(absl::StatusCode::kInvalidArgument, "... (100000 nodes in all)"));
}

// Edges that point to smaller indices have no cycle; one more from the least
// to the largest index of some path makes one.
TEST(CyclesTest, RandomGraphsAreJudgedRight) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    RankTraceBuilder builder, closed;
    AddNodes(200, &builder);
    AddNodes(200, &closed);
    for (uint32_t i = 1; i < 200; ++i) {
      const uint32_t dependency = random() % i;
      builder.AddEdge(i, dependency, EdgeKind::kData);
      closed.AddEdge(i, dependency, EdgeKind::kData);
    }
    EXPECT_THAT(CheckAcyclic(Built(&builder)), IsOk()) << seed;
    closed.AddEdge(0, 199, EdgeKind::kSync);  // Every node comes back to node 0.
    EXPECT_THAT(CheckAcyclic(Built(&closed)),
                StatusIs(absl::StatusCode::kInvalidArgument, "-sync-> node 200"))
        << seed;
  }
}

}  // namespace
}  // namespace chakrad
