#include "trace/check/check_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace/check/testing/consistent_trace.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// The rank in a world of four with groups {0, 1, 2, 3}, {0, 1}, one of unknown members, {2, 3}
// and {0}.
CheckReport Check(const RankTrace& rank) {
  Trace trace;
  trace.world_size = 4;
  trace.groups = {{"world", "", {0, 1, 2, 3}},
                  {"tp0", "", {0, 1}},
                  {"lost", "", {}},
                  {"tp1", "", {2, 3}},
                  {"me", "", {0}}};
  const GroupTable groups(&trace);
  FindingList findings;
  CheckRank(rank, BuildCheckGraph(rank), groups, &findings);
  return findings.Take();
}

CheckReport Check(RankTraceBuilder* builder) { return Check(builder->Build(nullptr).value()); }

CheckReport Check(const TestProgram& program) { return Check(BuildProgram(program, 0)); }

TestProgram FourKernels() { return TestProgram(4); }

NodeSpec HostCall(uint64_t id, int64_t start_ns, int64_t dur_ns) {
  NodeSpec spec;
  spec.id = id;
  spec.type = NodeType::kComp;
  spec.flags = RankTrace::kHostOp;
  spec.name = "call";
  spec.queue = kTestThread;
  spec.start_ns = start_ns;
  spec.dur_ns = spec.work_ns = dur_ns;
  return spec;
}

NodeSpec DeviceOp(uint64_t id, int64_t start_ns, int64_t dur_ns) {
  NodeSpec spec = HostCall(id, start_ns, dur_ns);
  spec.flags = 0;
  spec.name = "kernel";
  spec.queue = kComputeStream;
  return spec;
}

// The only rule broken is `rule`, `count` times.
void ExpectOnly(const CheckReport& report, const std::string& rule, int64_t count) {
  EXPECT_THAT(report.count_by_rule, ElementsAre(Pair(rule, count))) << ReportText(report);
}

TEST(CheckRankTest, AConsistentRankHasNoFindings) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Trace trace = BuildJob(ConsistentJob(seed, 8, 60));
    const GroupTable groups(&trace);
    FindingList findings;
    CheckGroups(groups, &findings);
    for (const RankTrace& rank : trace.ranks) {
      CheckRank(rank, BuildCheckGraph(rank), groups, &findings);
    }
    const CheckReport report = findings.Take();
    EXPECT_THAT(report.findings, IsEmpty()) << "seed " << seed << "\n" << ReportText(report);
  }
}

TEST(CheckRankTest, ACycleIsPrinted) {
  RankTraceBuilder builder;
  AddProgram(FourKernels(), 0, &builder);
  builder.AddEdge(0, 2, EdgeKind::kControl);
  const CheckReport report = Check(&builder);
  EXPECT_EQ(report.count_by_rule.at("dependency_cycle"), 1);
  EXPECT_THAT(report.findings.at(0).message,
              HasSubstr("node 1 (launch) -control-> node 3 (launch) -thread_order-> node 1"));
}

TEST(CheckRankTest, NestingIsCountedOverControlEdgesOnly) {
  for (const EdgeKind kind : {EdgeKind::kControl, EdgeKind::kThreadOrder}) {
    RankTraceBuilder builder;
    for (uint32_t i = 0; i <= kDeepNesting + 1; ++i) {
      builder.AddNode(HostCall(i, kUnknownNs, 1));
      if (i > 0) builder.AddEdge(i, i - 1, kind);
    }
    const CheckReport report = Check(&builder);
    if (kind == EdgeKind::kControl) {
      ExpectOnly(report, "deep_nesting", 1);
      EXPECT_THAT(report.findings.at(0).message, HasSubstr("node 1001 (call) is nested 1001 deep"));
    } else {
      EXPECT_THAT(report.findings, IsEmpty());
    }
  }
}

TEST(CheckRankTest, NegativeTimesAreErrorsAndUnknownOnesAreNot) {
  RankTraceBuilder builder;
  builder.AddNode(HostCall(1, kUnknownNs, kUnknownNs + 1));
  builder.AddNode(HostCall(2, -2, 1));
  builder.AddNode(HostCall(3, 1, -7));
  RankTrace rank = builder.Build(nullptr).value();
  rank.gap_node = {0};
  rank.gap_ns = {-5};
  ExpectOnly(Check(rank), "negative_time", 3);
}

// Stream 7: [0, 10000), [7000, 17000) overlap by 3 us; [16000, 20000) by 1 us only, which
// may be rounding.
TEST(CheckRankTest, OverlapOnAStreamBeyondRoundingIsFound) {
  RankTraceBuilder builder;
  builder.AddNode(DeviceOp(1, 0, 10000));
  builder.AddNode(DeviceOp(2, 7000, 10000));
  builder.AddNode(DeviceOp(3, 16000, 4000));
  builder.AddEdge(1, 0, EdgeKind::kStreamOrder);
  builder.AddEdge(2, 1, EdgeKind::kStreamOrder);
  NodeSpec other_stream = DeviceOp(4, 0, 20000);
  other_stream.queue = kCommStream;
  builder.AddNode(other_stream);
  NodeSpec mark = DeviceOp(5, 0, 20000);
  mark.flags = RankTrace::kAnnotation;
  builder.AddNode(mark);
  const CheckReport report = Check(&builder);
  ExpectOnly(report, "stream_overlap", 1);
  EXPECT_EQ(report.findings.at(0).node_id, 2u);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("node 1 (kernel) by 3000 ns on stream 7"));
}

TEST(CheckRankTest, KernelsThatWaitForNoneBeforeAreFoundOnceAStream) {
  RankTraceBuilder builder;
  builder.AddNode(HostCall(1, 0, 1000));
  for (uint64_t id = 2; id < 6; ++id) {
    const uint32_t node = builder.AddNode(DeviceOp(id, 2000 * static_cast<int64_t>(id), 1000));
    builder.AddEdge(node, 0, EdgeKind::kLaunch);
  }
  builder.AddEdge(4, 1, EdgeKind::kData);  // Node 5 waits for node 2, on the device.
  const CheckReport report = Check(&builder);
  ExpectOnly(report, "unordered_stream", 1);
  EXPECT_EQ(report.findings.at(0).node_id, 3u);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("2 of 4 operations on stream 7"));
}

TEST(CheckRankTest, AShortKernelInsideALongOneOverlapsItAndALaterOneToo) {
  RankTraceBuilder builder;
  builder.AddNode(DeviceOp(1, 0, 100000));
  builder.AddNode(DeviceOp(2, 10000, 5000));
  builder.AddNode(DeviceOp(3, 50000, 5000));
  builder.AddEdge(1, 0, EdgeKind::kStreamOrder);
  builder.AddEdge(2, 1, EdgeKind::kStreamOrder);
  ExpectOnly(Check(&builder), "stream_overlap", 2);
}

// Thread: a [0, 100k) holds b [10k, 50k) and c [40k, 60k); c crosses b's end. d [90k, 120k)
// crosses a's.
TEST(CheckRankTest, CallsOfAThreadMayNestButNotCross) {
  RankTraceBuilder nested, crossing;
  for (RankTraceBuilder* builder : {&nested, &crossing}) {
    builder->AddNode(HostCall(1, 0, 100000));
    builder->AddNode(HostCall(2, 10000, 40000));
    builder->AddNode(HostCall(3, 20000, 10000));
  }
  EXPECT_THAT(Check(&nested).findings, IsEmpty());
  crossing.AddNode(HostCall(4, 40000, 20000));
  crossing.AddNode(HostCall(5, 90000, 30000));
  const CheckReport report = Check(&crossing);
  ExpectOnly(report, "thread_overlap", 2);
  EXPECT_EQ(report.findings.at(0).node_id, 4u);
  EXPECT_EQ(report.findings.at(1).node_id, 5u);
}

TEST(CheckRankTest, EachEdgeKindBoundsWhatItMeans) {
  struct Case {
    EdgeKind kind;
    bool dependency_on_host;
    int64_t start_ns, dur_ns;  // Of the node; the dependency is at [50000, 80000).
    bool found;
  };
  const Case cases[] = {
      {EdgeKind::kControl, true, 60000, 1000, false},  // Inside its caller.
      {EdgeKind::kControl, true, 40000, 1000, true},
      {EdgeKind::kThreadOrder, true, 60000, 1000, false},
      {EdgeKind::kThreadOrder, true, 40000, 1000, true},
      {EdgeKind::kLaunch, true, 60000, 1000, false},
      {EdgeKind::kLaunch, true, 40000, 1000, true},
      {EdgeKind::kSync, false, 10000, 70000, false},  // Waited from 10000 to 80000.
      {EdgeKind::kSync, false, 10000, 60000, true},
      {EdgeKind::kData, true, 60000, 1000, false},
      {EdgeKind::kData, false, 60000, 1000, true},
      {EdgeKind::kData, false, 78000, 5000, false},         // Within the tolerance.
      {EdgeKind::kStreamOrder, false, 60000, 1000, false},  // stream_overlap, were it one.
      {EdgeKind::kStreamOrder, false, 40000, 1000, true},
      {EdgeKind::kForwardBackward, true, 60000, 1000, true},
      {EdgeKind::kForwardBackward, true, 80000, 1000, false},
  };
  for (const Case& c : cases) {
    RankTraceBuilder builder;
    NodeSpec dependency = HostCall(1, 50000, 30000);
    if (!c.dependency_on_host) dependency.flags = 0;
    dependency.queue.raw_id = 2;  // No overlap to be found on one queue.
    builder.AddNode(dependency);
    builder.AddNode(HostCall(2, c.start_ns, c.dur_ns));
    builder.AddEdge(1, 0, c.kind);
    const CheckReport report = Check(&builder);
    if (c.found) {
      ExpectOnly(report, "starts_before_dependency", 1);
      EXPECT_THAT(report.findings.at(0).message, HasSubstr(std::string(EdgeKindName(c.kind))));
    } else {
      EXPECT_THAT(report.findings, IsEmpty()) << EdgeKindName(c.kind) << ReportText(report);
    }
  }
}

TEST(CheckRankTest, CommunicationOnAThreadRunsBesideItsCallsAndMayBeNotedLate) {
  TestStep step = Collective(CollectiveType::kAllReduce, 8, 0);
  RankTraceBuilder builder;
  builder.AddNode(HostCall(1, 0, 10000));
  NodeSpec comm = HostCall(2, 5000, 50000);  // Done at 25000, noted at 55000.
  comm.type = NodeType::kCommColl;
  comm.comm = &step.comm;
  comm.work_ns = 20000;
  builder.AddNode(comm);
  builder.AddNode(HostCall(3, 12000, 14000));
  builder.AddEdge(1, 0, EdgeKind::kLaunch);
  builder.AddEdge(2, 1, EdgeKind::kSync);
  EXPECT_THAT(Check(&builder).findings, IsEmpty());
}

TEST(CheckRankTest, ADeviceOperationOfARecordingWantsItsLaunch) {
  RankTraceBuilder builder;
  builder.AddNode(HostCall(1, 0, 1000));
  builder.AddNode(DeviceOp(2, 2000, 1000));
  builder.AddNode(DeviceOp(3, 4000, 1000));
  builder.AddEdge(1, 0, EdgeKind::kLaunch);
  builder.AddEdge(2, 1, EdgeKind::kStreamOrder);
  const CheckReport report = Check(&builder);
  ExpectOnly(report, "device_op_without_launch", 1);
  EXPECT_EQ(report.findings.at(0).node_id, 3u);
  // A written trace has no times: its device operations start as its edges say.
  RankTraceBuilder written;
  written.AddNode(HostCall(1, kUnknownNs, 1000));
  written.AddNode(DeviceOp(2, kUnknownNs, 1000));
  EXPECT_THAT(Check(&written).findings, IsEmpty());
}

TEST(CheckRankTest, CommunicationThatHangsInTheAirIsFound) {
  TestStep step = Collective(CollectiveType::kAllReduce, 4, kWorldGroup);
  RankTraceBuilder builder;
  AddProgram(FourKernels(), 0, &builder);
  NodeSpec spec = DeviceOp(100, kUnknownNs, 5);
  spec.type = NodeType::kCommColl;
  spec.comm = &step.comm;
  builder.AddNode(spec);
  ExpectOnly(Check(&builder), "isolated_comm", 1);
  RankTraceBuilder alone;  // Nothing else to wait for: a micro-benchmark.
  alone.AddNode(spec);
  EXPECT_THAT(Check(&alone).findings, IsEmpty());
}

TEST(CheckRankTest, UntypedUnnamedAndEmptyAreFound) {
  RankTraceBuilder builder;
  NodeSpec spec = HostCall(1, 0, 1);
  spec.type = NodeType::kInvalid;
  builder.AddNode(spec);
  ExpectOnly(Check(&builder), "unknown_node_type", 1);
  RankTraceBuilder unnamed;
  for (uint64_t id = 0; id < 3; ++id) {
    spec = HostCall(id, static_cast<int64_t>(id), 1);
    if (id > 0) spec.name = "";
    unnamed.AddNode(spec);
  }
  const CheckReport report = Check(&unnamed);
  ExpectOnly(report, "unnamed_node", 1);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("2 of 3 (66 %)"));
  ExpectOnly(Check(RankTrace()), "empty_rank", 1);
}

TEST(CheckRankTest, DurationsThatNothingTellsAreCountedOnceARank) {
  RankTraceBuilder builder;
  builder.AddNode(HostCall(1, 0, 1));
  builder.AddNode(HostCall(2, kUnknownNs, kUnknownNs));
  NodeSpec sized = HostCall(3, kUnknownNs, kUnknownNs);
  const WorkSize size{1000, 1000};
  sized.work_size = &size;
  builder.AddNode(sized);
  NodeSpec root = HostCall(4, kUnknownNs, kUnknownNs);
  root.type = NodeType::kMetadata;
  builder.AddNode(root);
  const CheckReport report = Check(&builder);
  ExpectOnly(report, "unknown_duration", 1);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("1 of 3 (33 %)"));
}

TEST(CheckRankTest, AMemoryNodeNeedsADuration) {
  RankTraceBuilder builder;
  NodeSpec spec = DeviceOp(1, kUnknownNs, kUnknownNs);
  spec.type = NodeType::kMemLoad;
  builder.AddNode(spec);
  spec.id = 2;
  spec.start_ns = 5;
  spec.dur_ns = spec.work_ns = 0;  // Shorter than the recorder's unit.
  builder.AddNode(spec);
  ExpectOnly(Check(&builder), "memory_without_duration", 1);
}

TEST(CheckRankTest, SizesMustNotBeNegative) {
  RankTraceBuilder builder;
  AddProgram({Collective(CollectiveType::kAllReduce, -4, 0)}, 0, &builder);
  NodeSpec spec = HostCall(100, kUnknownNs, 1);
  const WorkSize size{-1, 5};
  spec.work_size = &size;
  builder.AddNode(spec);
  ExpectOnly(Check(&builder), "negative_size", 2);
}

TEST(CheckRankTest, ZeroBytesAreFoundButOfBarriersAndLoneRanks) {
  EXPECT_THAT(Check({Collective(CollectiveType::kBarrier, 0, 0),
                     Collective(CollectiveType::kAllReduce, 0, 4)})
                  .findings,
              IsEmpty());
  const CheckReport report =
      Check({Collective(CollectiveType::kAllReduce, 0, 0), Message(NodeType::kCommSend, 1, 0, 0)});
  ExpectOnly(report, "zero_size", 2);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("node 2 (nccl:coll), ALL_REDUCE: 0 bytes"));
}

TEST(CheckRankTest, APeerIsAnotherRankOfWorldAndGroup) {
  ExpectOnly(Check({Message(NodeType::kCommSend, kNoRank, 8, 0)}), "peer_missing", 1);
  ExpectOnly(Check({Message(NodeType::kCommRecv, 0, 8, 0)}), "peer_is_self", 1);
  ExpectOnly(Check({Message(NodeType::kCommRecv, 4, 8, 0)}), "peer_out_of_world", 1);
  TestStep step = Message(NodeType::kCommSend, 3, 8, 0);
  step.comm.group = 1;
  const CheckReport report = Check({step});
  ExpectOnly(report, "peer_not_in_group", 1);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("rank 3, is no member of group \"tp0\""));
}

TEST(CheckRankTest, GroupsOfOperationsAreKnownAndHoldTheRank) {
  ExpectOnly(Check({Collective(CollectiveType::kAllReduce, 8, 2),
                    Collective(CollectiveType::kAllReduce, 8, 77)}),
             "unknown_group", 2);
  ExpectOnly(Check({Collective(CollectiveType::kAllReduce, 8, 3)}), "rank_not_in_group", 1);
  EXPECT_THAT(Check({Collective(CollectiveType::kAllReduce, 8, kNone)}).findings, IsEmpty());
}

TEST(CheckRankTest, ARootIsAMember) {
  TestStep step = Collective(CollectiveType::kBroadcast, 8, 1);
  EXPECT_THAT(Check({step}).findings, IsEmpty());  // Not told.
  step.comm.root = 1;
  EXPECT_THAT(Check({step}).findings, IsEmpty());
  step.comm.root = 2;
  ExpectOnly(Check({step}), "root_not_in_group", 1);
  step.comm.collective = CollectiveType::kAllReduce;  // Has no root.
  EXPECT_THAT(Check({step}).findings, IsEmpty());
}

TEST(CheckRankTest, CommunicationWithoutItsAttributesIsFound) {
  RankTraceBuilder builder;
  NodeSpec spec = DeviceOp(1, kUnknownNs, 5);
  spec.type = NodeType::kCommSend;
  builder.AddNode(spec);
  ExpectOnly(Check(&builder), "comm_without_attributes", 1);
}

TEST(CheckGroupsTest, MembersAreOfTheWorldAndOnce) {
  Trace trace;
  trace.world_size = 4;
  trace.groups = {{"", "", {0, 1, 2, 3}}, {"wide", "", {3, 4, 5}}, {"twice", "", {1, 2, 1}},
                  {"lone", "", {2}},      {"lost", "", {}},        {"also lost", "", {}},
                  {"again", "", {2, 1}}};
  FindingList findings;
  CheckGroups(GroupTable(&trace), &findings);
  const CheckReport report = findings.Take();
  EXPECT_THAT(report.count_by_rule,
              ElementsAre(Pair("duplicate_group", 1), Pair("group_member_out_of_world", 1),
                          Pair("group_member_twice", 1), Pair("one_rank_group", 1)));
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("group \"wide\" holds rank 4-5"));
  EXPECT_THAT(ReportText(report), HasSubstr("group \"again\" has the members of group \"twice\""));
}

TEST(CheckGraphTest, CollectivesComeInOrderOfLaunchNotOfRunning) {
  // Launched as 1, 2; on two streams the second runs first.
  RankTraceBuilder builder;
  builder.AddNode(HostCall(1, 0, 1000));
  builder.AddNode(HostCall(2, 2000, 1000));
  TestStep step = Collective(CollectiveType::kAllReduce, 8, 0);
  for (uint64_t i = 0; i < 2; ++i) {
    NodeSpec spec = DeviceOp(10 + i, 9000 - 4000 * static_cast<int64_t>(i), 1000);
    spec.type = NodeType::kCommColl;
    spec.comm = &step.comm;
    builder.AddEdge(builder.AddNode(spec), static_cast<uint32_t>(i), EdgeKind::kLaunch);
  }
  const RankTrace rank = builder.Build(nullptr).value();
  EXPECT_THAT(CommInIssueOrder(rank, BuildCheckGraph(rank)), ElementsAre(2, 3));
}

TEST(CheckGraphTest, TimesAndIdsNeverGoAgainstDependencies) {
  // Node 0 has the least id and start, and waits for node 2, which waits for node 1.
  RankTraceBuilder builder;
  TestStep step = Collective(CollectiveType::kAllReduce, 8, 0);
  for (uint64_t i = 0; i < 3; ++i) {
    NodeSpec spec = DeviceOp(i, static_cast<int64_t>(i), 1);
    spec.type = NodeType::kCommColl;
    spec.comm = &step.comm;
    builder.AddNode(spec);
  }
  builder.AddEdge(0, 2, EdgeKind::kData);
  builder.AddEdge(2, 1, EdgeKind::kData);
  const RankTrace rank = builder.Build(nullptr).value();
  EXPECT_THAT(CommInIssueOrder(rank, BuildCheckGraph(rank)), ElementsAre(1, 2, 0));
}

}  // namespace
}  // namespace chakrad
