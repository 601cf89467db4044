#include "trace/operators/nesting.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trace/operators/test_operators.h"

namespace chakrad {
namespace {

NodeSpec Host(uint64_t id, int64_t start_ns, int64_t dur_ns, int64_t thread = 1) {
  return {.id = id,
          .type = NodeType::kComp,
          .flags = RankTrace::kHostOp,
          .name = "op",
          .queue = {Queue::Kind::kHostThread, -1, thread},
          .start_ns = start_ns,
          .dur_ns = dur_ns};
}

TEST(NestingTest, ANodeIsNestedWhereItsIntervalIsInside) {
  OpMaker maker;
  maker.Add(Host(1, 0, 100));
  maker.Add(Host(2, 10, 90));
  maker.Add(Host(3, 50, 60));     // Ends later than node 1.
  maker.Add(Host(4, 20, 10, 2));  // On another thread.
  maker.Add(Host(5, kUnknownNs, kUnknownNs));
  for (const uint32_t node : {1, 2, 3, 4}) maker.Nest(node, 0);
  const CallNesting nesting = FindNesting(maker.Make());
  EXPECT_EQ(nesting.parent, (std::vector<uint32_t>{kNone, 0, kNone, kNone, 0}));
}

TEST(NestingTest, ParentsComeFirstHoweverTheNodesStand) {
  OpMaker maker;
  for (uint64_t id = 0; id < 4; ++id) maker.Add(Host(id, kUnknownNs, kUnknownNs));
  maker.Nest(0, 3);
  maker.Nest(3, 1);
  maker.Nest(1, 2);
  EXPECT_EQ(FindNesting(maker.Make()).parents_first, (std::vector<uint32_t>{2, 1, 3, 0}));
}

TEST(NestingTest, ACycleOfControlEdgesEnds) {
  OpMaker maker;
  for (uint64_t id = 0; id < 3; ++id) maker.Add(Host(id, kUnknownNs, kUnknownNs));
  maker.Nest(0, 1);
  maker.Nest(1, 2);
  maker.Nest(2, 0);
  const CallNesting nesting = FindNesting(maker.Make());
  EXPECT_EQ(nesting.parents_first.size(), 3u);
  EXPECT_EQ(std::count(nesting.parent.begin(), nesting.parent.end(), kNone), 1);
}

}  // namespace
}  // namespace chakrad
