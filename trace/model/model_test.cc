#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "common/status_matchers.h"
#include "trace/model/dependents.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/model/trace.h"
#include "trace/model/trace_summary.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;

NodeSpec Comp(uint64_t id, absl::string_view name) {
  NodeSpec spec;
  spec.id = id;
  spec.type = NodeType::kComp;
  spec.name = name;
  return spec;
}

TEST(StringTableTest, EqualStringsAreKeptOnce) {
  StringTable table;
  StringInterner interner(&table);
  EXPECT_EQ(interner.Intern(""), 0u);
  const uint32_t mm = interner.Intern("aten::mm");
  EXPECT_NE(interner.Intern("aten::add"), mm);
  EXPECT_EQ(interner.Intern("aten::mm"), mm);
  EXPECT_EQ(table.Get(mm), "aten::mm");
  EXPECT_EQ(table.size(), 3u);
}

TEST(RankTraceBuilderTest, EdgesBecomeSortedRangesWithoutRepeats) {
  RankTraceBuilder builder;
  const uint32_t a = builder.AddNode(Comp(7, "a"));
  const uint32_t b = builder.AddNode(Comp(9, "b"));
  builder.AddEdgeById(a, 9, EdgeKind::kControl);
  builder.AddEdge(a, b, EdgeKind::kData);
  builder.AddEdge(a, b, EdgeKind::kData);
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, builder.Build(nullptr));
  EXPECT_THAT(trace.dep_begin, ElementsAre(0, 2, 2));
  EXPECT_THAT(trace.dep_node, ElementsAre(b, b));
  EXPECT_THAT(trace.dep_kind, ElementsAre(EdgeKind::kData, EdgeKind::kControl));
}

TEST(DependentsTest, EdgesAreTurnedRoundAndOneMoreIsAdded) {
  // 0 <- 1, 0 <- 2 (two kinds); one more: 1 <- 2.
  RankTraceBuilder builder;
  for (uint64_t id = 0; id < 3; ++id) builder.AddNode(Comp(id, "op"));
  builder.AddEdge(1, 0, EdgeKind::kData);
  builder.AddEdge(2, 0, EdgeKind::kData);
  builder.AddEdge(2, 0, EdgeKind::kControl);
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, builder.Build(nullptr));
  const Dependents plain = DependentsOf(trace);
  EXPECT_THAT(plain.begin, ElementsAre(0, 3, 3, 3));
  EXPECT_THAT(plain.node, ElementsAre(1, 2, 2));
  EXPECT_THAT(plain.deps_count, ElementsAre(0, 1, 2));
  const Dependents more = DependentsOf(trace, {kNone, kNone, 1});
  EXPECT_THAT(more.begin, ElementsAre(0, 3, 4, 4));
  EXPECT_THAT(more.node, ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(more.deps_count, ElementsAre(0, 1, 3));
}

TEST(RankTraceBuilderTest, IdsAbove2To53StayDistinct) {
  RankTraceBuilder builder;
  builder.AddNode(Comp((1ull << 53), "a"));
  builder.AddNode(Comp((1ull << 53) + 1, "b"));
  builder.AddEdgeById(0, (1ull << 53) + 1, EdgeKind::kData);
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, builder.Build(nullptr));
  EXPECT_THAT(trace.dep_node, ElementsAre(1));
}

TEST(RankTraceBuilderTest, TwoNodesWithOneIdAreRefused) {
  RankTraceBuilder builder;
  builder.AddNode(Comp(7, "first"));
  builder.AddNode(Comp(7, "second"));
  EXPECT_THAT(builder.Build(nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument, "id: 7 is used by two nodes, first"));
}

TEST(RankTraceBuilderTest, MissingDependencyIsRefusedOrListed) {
  RankTraceBuilder strict;
  strict.AddNode(Comp(1, "aten::mm"));
  strict.AddEdgeById(0, 99, EdgeKind::kControl);
  EXPECT_THAT(strict.Build(nullptr), StatusIs(absl::StatusCode::kInvalidArgument,
                                              "node 1 (aten::mm) depends (control) on node 99"));

  RankTraceBuilder lenient;
  lenient.AddNode(Comp(1, "aten::mm"));
  lenient.AddEdgeById(0, 99, EdgeKind::kControl);
  std::vector<RankTraceBuilder::Dangling> dangling;
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, lenient.Build(&dangling));
  ASSERT_EQ(dangling.size(), 1u);
  EXPECT_EQ(dangling[0].dependency_id, 99u);
  EXPECT_EQ(trace.dep_node.size(), 0u);
}

TEST(RankTraceTest, SideTablesAnswerForTheirOwnKindOnly) {
  RankTraceBuilder builder;
  const CommOp all_reduce{.bytes = 4096};
  const WorkSize gemm{.num_ops = 10, .tensor_bytes = 20};
  NodeSpec comm = Comp(1, "ar");
  comm.type = NodeType::kCommColl;
  comm.comm = &all_reduce;
  NodeSpec comp = Comp(2, "mm");
  comp.work_size = &gemm;
  comp.gap_ns = 5;
  comp.cold = "xyz";
  builder.AddNode(comm);
  builder.AddNode(comp);
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, builder.Build(nullptr));
  EXPECT_EQ(trace.CommOf(0)->bytes, 4096);
  EXPECT_EQ(trace.CommOf(1), nullptr);
  EXPECT_EQ(trace.WorkSizeOf(1)->num_ops, 10);
  EXPECT_EQ(trace.WorkSizeOf(0), nullptr);
  EXPECT_THAT(trace.DenseGaps(), ElementsAre(0, 5));
  EXPECT_EQ(trace.ColdOf(0), "");
  EXPECT_EQ(trace.ColdOf(1), "xyz");
}

TEST(TraceTest, MissingRanksAreNamed) {
  Trace trace;
  trace.world_size = 4;
  trace.ranks.resize(2);
  trace.ranks[0].rank = 1;
  trace.ranks[1].rank = 3;
  EXPECT_THAT(trace.MissingRanks(), ElementsAre(0, 2));
  EXPECT_EQ(trace.FindRank(3), &trace.ranks[1]);
  EXPECT_EQ(trace.FindRank(2), nullptr);
}

TEST(TraceTest, ACopyIsNotMissingAndRunsThePartOfItsOriginal) {
  Trace trace;
  trace.world_size = 4;
  trace.ranks.resize(2);
  trace.ranks[1].rank = 1;
  trace.copies = {{2, 0, {{0, 1}}}};
  EXPECT_THAT(trace.MissingRanks(), ElementsAre(3));
  EXPECT_EQ(trace.FindRankOrStandIn(2), &trace.ranks[0]);
  EXPECT_EQ(trace.FindRankOrStandIn(3), &trace.ranks[1]);
  ASSERT_NE(trace.FindCopy(2), nullptr);
  EXPECT_EQ(trace.FindCopy(2)->of, 0);
  EXPECT_EQ(trace.FindCopy(1), nullptr);
}

TEST(TraceTest, TheNearestTracedRankBelowStandsIn) {
  Trace trace;
  trace.world_size = 6;
  EXPECT_EQ(trace.FindRankOrStandIn(0), nullptr);
  trace.ranks.resize(2);
  trace.ranks[0].rank = 1;
  trace.ranks[1].rank = 3;
  const RankTrace *one = &trace.ranks[0], *three = &trace.ranks[1];
  EXPECT_EQ(trace.FindRankOrStandIn(0), one);  // None below: the lowest.
  EXPECT_EQ(trace.FindRankOrStandIn(1), one);
  EXPECT_EQ(trace.FindRankOrStandIn(2), one);
  EXPECT_EQ(trace.FindRankOrStandIn(3), three);
  EXPECT_EQ(trace.FindRankOrStandIn(5), three);
}

TEST(TraceSummaryTest, CountsNodesEdgesBytesAndSpan) {
  RankTraceBuilder builder;
  const CommOp all_reduce{.bytes = 4096};
  NodeSpec host = Comp(1, "aten::mm");
  host.flags = RankTrace::kHostOp;
  host.start_ns = 100;
  host.dur_ns = 50;
  NodeSpec comm = Comp(2, "ar");
  comm.type = NodeType::kCommColl;
  comm.comm = &all_reduce;
  comm.start_ns = 120;
  comm.dur_ns = 200;
  builder.AddNode(host);
  builder.AddNode(comm);
  builder.AddEdge(1, 0, EdgeKind::kLaunch);
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, builder.Build(nullptr));
  const RankSummary summary = SummarizeRank(trace);
  EXPECT_EQ(summary.nodes_count, 2);
  EXPECT_EQ(summary.host_nodes_count, 1);
  EXPECT_EQ(summary.device_nodes_count, 1);
  EXPECT_EQ(summary.span_ns, 220);  // 100 to 320.
  EXPECT_EQ(summary.nodes_count_by_type.at("COMM_COLL_NODE"), 1);
  EXPECT_EQ(summary.edges_count_by_kind.at("launch"), 1);
  EXPECT_EQ(summary.comm_by_type.at("ALL_REDUCE"), (CommCount{1, 4096}));
}

TEST(TraceSummaryTest, HostileSizesAndTimesDoNotOverflow) {
  RankTraceBuilder builder;
  const CommOp huge{.bytes = std::numeric_limits<int64_t>::max()};
  NodeSpec comm = Comp(1, "ar");
  comm.type = NodeType::kCommColl;
  comm.comm = &huge;
  comm.start_ns = comm.dur_ns = std::numeric_limits<int64_t>::max();
  builder.AddNode(comm);
  comm.id = 2;
  comm.start_ns = std::numeric_limits<int64_t>::min();
  builder.AddNode(comm);
  ASSERT_OK_AND_ASSIGN(const RankTrace trace, builder.Build(nullptr));
  const RankSummary summary = SummarizeRank(trace);
  EXPECT_EQ(summary.comm_by_type.at("ALL_REDUCE").bytes, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(summary.span_ns, std::numeric_limits<int64_t>::max());
}

TEST(LedgerTest, KeptMergedAndRejectedAddUpToTheInput) {
  Ledger ledger;
  ledger.Keep();
  ledger.Keep();
  ledger.Merge("flow_event");
  ledger.Reject("no_launch", 3, 120, "kernel without launch");
  EXPECT_TRUE(ledger.Balanced());
  EXPECT_EQ(ledger.input_records, 4);
  ledger.TurnIntoRejection(true, "", "no_parent", 1, "host trace lacks it");
  ledger.TurnIntoRejection(false, "flow_event", "no_parent", 2, "flow without end");
  EXPECT_TRUE(ledger.Balanced());
  EXPECT_EQ(ledger.input_records, 4);
  EXPECT_EQ(ledger.kept, 1);
  EXPECT_EQ(ledger.merged, 0);
  EXPECT_EQ(ledger.rejected, 3);
}

TEST(LedgerTest, FlawsAreNoPartOfTheSumAndListedUpToABoundOfEachRule) {
  Ledger ledger;
  ledger.Keep();
  for (int i = 0; i < 30; ++i)
    ledger.AddFlaw("missing_dependency", i, 10 * i, "node 7 is not there");
  ledger.AddFlaw("comm_type_missing", 3, -1, "taken from the name");
  EXPECT_TRUE(ledger.Balanced());
  EXPECT_EQ(ledger.flaws_by_rule.at("missing_dependency"), 30);
  ASSERT_EQ(ledger.flaws.size(), 21u);
  EXPECT_EQ(ledger.flaws[19].byte_offset, 190);
  EXPECT_EQ(ledger.flaws[20].rule, "comm_type_missing");
}

}  // namespace
}  // namespace chakrad
