#include "trace/check/check_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chakra/et_def.pb.h"
#include "trace/check/comm_details.h"
#include "trace/check/testing/consistent_trace.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// `rank` as one that was loaded with only the cold blocks that the checks read.
RankTrace WithDetailsOnly(const RankTrace& rank) {
  const std::vector<bool> read = NodesWithCommDetails(rank);
  RankTrace kept = rank;
  kept.cold.clear();
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (read[node]) kept.cold.append(rank.ColdOf(node).data(), rank.ColdOf(node).size());
    kept.cold_begin[node + 1] = kept.cold.size();
  }
  return kept;
}

// Whatever cold blocks are not among NodesWithCommDetails changes nothing.
CheckReport CheckBothWays(const Trace& trace) {
  CheckReport report = CheckTrace(trace, {});
  Trace kept = trace;
  for (RankTrace& rank : kept.ranks) rank = WithDetailsOnly(rank);
  EXPECT_EQ(ReportText(CheckTrace(kept, {})), ReportText(report));
  return report;
}

CheckReport Check(const TestJob& job) { return CheckBothWays(BuildJob(job)); }

// The only rule broken is `rule`, `count` times.
void ExpectOnly(const CheckReport& report, const std::string& rule, int64_t count) {
  EXPECT_THAT(report.count_by_rule, ElementsAre(Pair(rule, count))) << ReportText(report);
}

// Four ranks in one group, each with the same program.
TestJob FourRanks(const TestProgram& program) {
  TestJob job;
  job.groups = {{"world", "", {0, 1, 2, 3}}};
  job.programs.assign(4, program);
  return job;
}

TestProgram ThreeReductions() {
  return {Collective(CollectiveType::kAllReduce, 100, 0),
          Collective(CollectiveType::kReduceScatter, 200, 0),
          Collective(CollectiveType::kAllReduce, 300, 0)};
}

TEST(CheckTraceTest, ConsistentJobsHaveNoFindingsAndFullQuality) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const CheckReport report = Check(ConsistentJob(seed, 8, 60));
    EXPECT_THAT(report.findings, IsEmpty()) << "seed " << seed << "\n" << ReportText(report);
    EXPECT_EQ(report.quality, 1.0) << "seed " << seed;
  }
}

TEST(CheckTraceTest, TheEmptyTraceAndTheUnreadableFileHaveNoQuality) {
  Ledger ledger;
  ledger.file = "a.et";
  ledger.AddFlaw("unreadable_file", -1, -1, "not JSON");
  const CheckReport report = CheckTrace(Trace(), {ledger});
  ExpectOnly(report, "unreadable_file", 1);
  EXPECT_EQ(report.quality, 0);
  EXPECT_EQ(report.parts.records, 0);
  EXPECT_EQ(report.parts.ranks, 0);
  EXPECT_THAT(CheckTrace(Trace(), {}).findings, IsEmpty());
}

TEST(CheckTraceTest, ANodeWithoutATypeIsFoundOnceWhetherOrNotItsReaderSaidSo) {
  TestProgram program(2);
  program[1].type = NodeType::kInvalid;
  TestJob job = FourRanks(TestProgram(2));
  job.programs[2] = program;
  const Trace trace = BuildJob(job);
  ExpectOnly(CheckTrace(trace, {}), "unknown_node_type", 1);
  Ledger ledger;
  ledger.AddFlaw("unknown_node_type", 4, 100, "type: missing");
  ExpectOnly(CheckTrace(trace, {ledger}), "unknown_node_type", 1);
}

TEST(CheckTraceTest, MissingRanksAreNamedOnceAndNothingElseIsSaidOfThem) {
  TestJob job = ConsistentJob(1, 8, 60);
  Trace trace = BuildJob(job);
  trace.ranks.erase(trace.ranks.begin() + 5, trace.ranks.begin() + 7);
  trace.ranks.erase(trace.ranks.begin() + 2);
  const CheckReport report = CheckTrace(trace, {});
  ExpectOnly(report, "missing_ranks", 1);
  EXPECT_EQ(report.findings.at(0).message, "ranks 2, 5-6 of 8 are missing");
  EXPECT_DOUBLE_EQ(report.parts.ranks, 5.0 / 8);
  EXPECT_DOUBLE_EQ(report.quality, (4 + 5.0 / 8) / 5);
}

TEST(CheckTraceTest, ARankBeyondTheWorldIsAnError) {
  Trace trace = BuildJob(FourRanks(TestProgram(2)));
  trace.world_size = 3;
  trace.groups[0].ranks = {0, 1, 2};
  ExpectOnly(CheckTrace(trace, {}), "rank_out_of_world", 1);
}

TEST(CheckTraceTest, ATraceThatCostsNothingIsFoundAndHalvesTheQuality) {
  RankTraceBuilder builder;
  NodeSpec spec;
  spec.type = NodeType::kComp;
  spec.name = "comp";
  spec.work_ns = spec.dur_ns = 0;
  builder.AddNode(spec);
  Trace trace;
  trace.world_size = 1;
  trace.groups = {{"", "", {0}}};
  trace.ranks.push_back(builder.Build(nullptr).value());
  const CheckReport report = CheckTrace(trace, {});
  ExpectOnly(report, "no_work", 1);
  EXPECT_EQ(report.quality, 0.5);
  trace.ranks[0].work_ns[0] = 1;
  EXPECT_THAT(CheckTrace(trace, {}).findings, IsEmpty());
}

TEST(CheckTraceTest, EachPartOfTheQualityCountsItsShare) {
  // 10 records of which 1 is lost; of 8 ranks 8 traced.
  Ledger ledger;
  for (int i = 0; i < 6; ++i) ledger.Keep();
  for (int i = 0; i < 3; ++i) ledger.Merge("flow_event");
  ledger.Reject("kineto_no_time", 9, -1, "ts: missing");
  Trace trace = BuildJob(FourRanks({TestStep(), Collective(CollectiveType::kAllReduce, 0, 0)}));
  // Per rank: 3 compute nodes (2 calls, 1 kernel) and 1 collective without a size.
  trace.ranks[0].work_ns[0] = kUnknownNs;
  const CheckReport report = CheckTrace(trace, {ledger});
  EXPECT_DOUBLE_EQ(report.parts.records, 0.9);
  EXPECT_DOUBLE_EQ(report.parts.durations, 11.0 / 12);
  EXPECT_DOUBLE_EQ(report.parts.launches, 1);
  EXPECT_DOUBLE_EQ(report.parts.communication, 0);
  EXPECT_DOUBLE_EQ(report.parts.ranks, 1);
  EXPECT_DOUBLE_EQ(report.quality, (0.9 + 11.0 / 12 + 1 + 0 + 1) / 5);
}

TEST(CheckTraceTest, ADroppedCollectiveNamesRankAndPlace) {
  TestJob job = FourRanks(ThreeReductions());
  job.programs[2].erase(job.programs[2].begin() + 1);
  const CheckReport report = Check(job);
  ExpectOnly(report, "collective_count_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).rank, 2);
  EXPECT_EQ(report.findings.at(0).message,
            "in the world, rank 2 runs 2 collectives, rank 0 and 2 others 3. The first difference "
            "is place 1: rank 2 has node 4 (nccl:coll), ALL_REDUCE of 300 bytes where rank 0 has "
            "node 4 (nccl:coll), REDUCE_SCATTER of 200 bytes");
}

TEST(CheckTraceTest, ARankThatEndsEarlyOrRunsOnIsNamed) {
  TestJob job = FourRanks(ThreeReductions());
  job.programs[3].pop_back();
  CheckReport report = Check(job);
  ExpectOnly(report, "collective_count_mismatch", 1);
  EXPECT_THAT(report.findings.at(0).message,
              HasSubstr("place 2: rank 3 has none where rank 0 has node 6"));
  job.programs[3] = ThreeReductions();
  job.programs[0].push_back(Collective(CollectiveType::kAllReduce, 400, 0));
  report = Check(job);
  ExpectOnly(report, "collective_count_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).rank, 0);
  EXPECT_THAT(report.findings.at(0).message,
              HasSubstr("place 3: rank 0 has node 8 (nccl:coll), ALL_REDUCE of 400 bytes where "
                        "rank 1 has none"));
}

TEST(CheckTraceTest, AMemberWithoutAnyCollectiveIsNamed) {
  TestJob job = FourRanks(ThreeReductions());
  job.programs[1] = TestProgram(3);
  const CheckReport report = Check(job);
  ExpectOnly(report, "collective_count_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).rank, 1);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("rank 1 runs 0 collectives"));
}

TEST(CheckTraceTest, SwappedCollectivesAreAnOrderMismatch) {
  TestJob job = FourRanks(ThreeReductions());
  std::swap(job.programs[1][0], job.programs[1][1]);
  const CheckReport report = Check(job);
  ExpectOnly(report, "collective_order_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).rank, 1);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("place 0: rank 1 has"));
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("2 places differ"));
}

TEST(CheckTraceTest, AnotherTypeSizeOrRootIsItsOwnRule) {
  TestJob job = FourRanks(ThreeReductions());
  job.programs[3][2].comm.collective = CollectiveType::kAllGather;
  ExpectOnly(Check(job), "collective_type_mismatch", 1);
  job = FourRanks(ThreeReductions());
  job.programs[3][2].comm.bytes = 301;
  const CheckReport report = Check(job);
  ExpectOnly(report, "collective_size_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).node_id, 6u);
  job.programs[3][2].comm.bytes = 0;  // Not told: nothing to compare.
  ExpectOnly(Check(job), "zero_size", 1);
  TestStep broadcast = Collective(CollectiveType::kBroadcast, 8, 0);
  broadcast.comm.root = 1;
  job = FourRanks({broadcast, broadcast});
  job.programs[2][1].comm.root = kNoRank;  // Not told: nothing to compare.
  EXPECT_THAT(Check(job).findings, IsEmpty());
  job.programs[2][1].comm.root = 0;
  ExpectOnly(Check(job), "collective_root_mismatch", 1);
}

TEST(CheckTraceTest, TheMajorityIsRightAndOfTwoTheLowerRank) {
  TestJob job = FourRanks(ThreeReductions());
  job.programs[0][0].comm.bytes = 7;
  CheckReport report = Check(job);
  ExpectOnly(report, "collective_size_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).rank, 0);
  job.programs[1][0].comm.bytes = 7;
  report = Check(job);
  ExpectOnly(report, "collective_size_mismatch", 2);
  EXPECT_EQ(report.findings.at(0).rank, 2);
  EXPECT_EQ(report.findings.at(1).rank, 3);
}

TEST(CheckTraceTest, SizesOfAllToAllsGathersScattersAndBarriersMayDiffer) {
  for (const CollectiveType type : {CollectiveType::kAllToAll, CollectiveType::kGather,
                                    CollectiveType::kScatter, CollectiveType::kBarrier}) {
    TestJob job = FourRanks({Collective(type, 8, 0)});
    job.programs[1][0].comm.bytes = 16;
    EXPECT_THAT(Check(job).findings, IsEmpty()) << CollectiveTypeName(type);
  }
}

TEST(CheckTraceTest, GroupsAreComparedApart) {
  // Group 2 = {2, 3} runs first on its members, then the world's; ranks 0 and 1 only that.
  TestJob job = FourRanks({});
  job.groups.push_back({"late", "", {2, 3}});
  for (size_t rank = 0; rank < 4; ++rank) {
    if (rank >= 2) {
      job.programs[rank].push_back(Collective(CollectiveType::kAllReduce, 8, 1));
    } else {
      job.programs[rank].push_back(TestStep());
    }
    job.programs[rank].push_back(Collective(CollectiveType::kAllReduce, 16, 0));
  }
  EXPECT_THAT(Check(job).findings, IsEmpty());
}

TestJob TwoRanks(const TestProgram& zero, const TestProgram& one) {
  TestJob job;
  job.groups = {{"world", "", {0, 1}}};
  job.programs = {zero, one};
  return job;
}

constexpr NodeType kSend = NodeType::kCommSend;
constexpr NodeType kRecv = NodeType::kCommRecv;

TEST(CheckTraceTest, MessagesMatchByEndsTagAndSizeInAnyOrderOfTags) {
  EXPECT_THAT(Check(TwoRanks({Message(kSend, 1, 8, 1), Message(kSend, 1, 16, 2)},
                             {Message(kRecv, 0, 16, 2), Message(kRecv, 0, 8, 1)}))
                  .findings,
              IsEmpty());
}

TEST(CheckTraceTest, UnmatchedMessagesAreNamed) {
  const TestProgram idle(1);
  CheckReport report = Check(TwoRanks({Message(kSend, 1, 8, 9)}, idle));
  ExpectOnly(report, "unmatched_send", 1);
  EXPECT_EQ(report.findings.at(0).message,
            "rank 0, node 2 (nccl:send) sends 8 bytes (tag 9, the world) to rank 1, which "
            "receives no such message");
  report = Check(TwoRanks(idle, {Message(kRecv, 0, 8, 9)}));
  ExpectOnly(report, "unmatched_receive", 1);
  EXPECT_EQ(report.findings.at(0).rank, 1);
}

TEST(CheckTraceTest, AMessageOfAnotherSizeOrTagNamesBothNodes) {
  CheckReport report = Check(TwoRanks({Message(kSend, 1, 8, 9), Message(kSend, 1, 4096, 5)},
                                      {Message(kRecv, 0, 8, 9), Message(kRecv, 0, 2048, 5)}));
  ExpectOnly(report, "message_size_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).message,
            "rank 0, node 4 (nccl:send) sends 4096 bytes (tag 5, the world) to rank 1, but rank "
            "1, node 4 (nccl:recv) receives 2048 bytes (tag 5, the world) from rank 0");
  report = Check(TwoRanks({Message(kSend, 1, 8, 1)}, {Message(kRecv, 0, 8, 2)}));
  ExpectOnly(report, "message_tag_mismatch", 1);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("tag 2"));
}

TEST(CheckTraceTest, ReceivingFirstOnBothSidesIsADeadlockAndSendingFirstIsNot) {
  const TestProgram send_first = {Message(kSend, 1, 8, 0), Message(kRecv, 1, 8, 0)};
  TestProgram other_send_first = send_first;
  for (TestStep& step : other_send_first) step.comm.peer = 0;
  EXPECT_THAT(Check(TwoRanks(send_first, other_send_first)).findings, IsEmpty());
  const TestProgram receive_first = {send_first[1], send_first[0]};
  const TestProgram other_receive_first = {other_send_first[1], other_send_first[0]};
  EXPECT_THAT(Check(TwoRanks(receive_first, other_send_first)).findings, IsEmpty());
  const CheckReport report = Check(TwoRanks(receive_first, other_receive_first));
  ExpectOnly(report, "cross_rank_deadlock", 1);
  EXPECT_EQ(report.findings.at(0).message,
            "4 nodes can never run: rank 0's node 2 (nccl:recv) waits for rank 1's node 4 "
            "(nccl:send) waits for rank 1's node 2 (nccl:recv) waits for rank 0's node 4 "
            "(nccl:send) waits for rank 0's node 2 (nccl:recv)");
}

TEST(CheckTraceTest, CollectivesOfTwoGroupsInOppositeOrderAreADeadlock) {
  TestJob job = FourRanks(
      {Collective(CollectiveType::kAllReduce, 8, 0), Collective(CollectiveType::kAllReduce, 8, 1)});
  job.groups.push_back({"again", "", {3, 2, 1, 0}});
  EXPECT_THAT(Check(job).findings, IsEmpty());
  std::swap(job.programs[3][0], job.programs[3][1]);
  const CheckReport report = Check(job);
  EXPECT_EQ(report.errors_count, 1);
  EXPECT_EQ(report.findings.at(0).rule, "cross_rank_deadlock");
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("8 nodes can never run"));
}

TEST(CheckTraceTest, ACycleOfOneRankIsNoDeadlockOfAll) {
  Trace trace = BuildJob(FourRanks(ThreeReductions()));
  RankTraceBuilder builder;
  AddProgram(ThreeReductions(), 1, &builder);
  builder.AddEdge(0, 4, EdgeKind::kThreadOrder);
  trace.ranks[1] = builder.Build(nullptr).value();
  const CheckReport report = CheckTrace(trace, {});
  EXPECT_EQ(report.count_by_rule.count("cross_rank_deadlock"), 0u);
  EXPECT_EQ(report.count_by_rule.at("dependency_cycle"), 1);
}

// Rank 2's clock is 9 us behind: it starts each collective 4 us after the others end.
TEST(CheckTraceTest, AClockThatDiffersIsAHintWithItsWorstCase) {
  Trace trace = BuildJob(FourRanks(ThreeReductions()));
  trace.ranks[2].base_unix_ns += 9000;
  CheckReport report = CheckTrace(trace, {});
  ExpectOnly(report, "clock_skew", 1);
  EXPECT_EQ(report.findings.at(0).rank, 2);
  EXPECT_EQ(report.findings.at(0).message,
            "3 collectives of rank 2 start after another rank has ended them; at worst node 2 "
            "(nccl:coll), 4000 ns after rank 0's end");
  trace.ranks[3].base_unix_ns = 0;  // Has no epoch: nothing can be compared.
  EXPECT_THAT(CheckTrace(trace, {}).findings, IsEmpty());
}

std::string ColdWith(const std::string& dtype, int64_t in, int64_t out,
                     const std::string& in_splits = "[]", const std::string& out_splits = "[]") {
  ChakraProtoMsg::Node cold;
  const auto add = [&](const char* name) {
    cold.add_attr()->set_name(name);
    return cold.mutable_attr(cold.attr_size() - 1);
  };
  add("dtype")->set_string_val(dtype);
  add("in_msg_nelems")->set_int64_val(in);
  add("out_msg_nelems")->set_int64_val(out);
  add("in_split_size")->set_string_val(in_splits);
  add("out_split_size")->set_string_val(out_splits);
  return cold.SerializeAsString();
}

TEST(CheckTraceTest, ElementTypesAreComparedWhereTheyAreStated) {
  TestStep step = Collective(CollectiveType::kAllReduce, 16, 0);
  step.cold = ColdWith("Float", 4, 4);
  TestJob job = FourRanks({step});
  job.programs[1][0].cold.clear();
  job.programs[2][0].cold = ColdWith("float", 4, 4);
  EXPECT_THAT(Check(job).findings, IsEmpty());
  job.programs[2][0].cold = ColdWith("Int", 4, 4);
  const CheckReport report = Check(job);
  ExpectOnly(report, "collective_dtype_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).message,
            "in the world, node 2 (nccl:coll) has elements of type Int, rank 0 of type Float");
  Trace hot_only = BuildJob(job);
  for (RankTrace& rank : hot_only.ranks) rank.cold_begin.clear(), rank.cold.clear();
  EXPECT_THAT(CheckTrace(hot_only, {}).findings, IsEmpty());
}

TEST(CheckTraceTest, ElementsInTimesGroupSizeAreElementsOut) {
  TestStep gather = Collective(CollectiveType::kAllGather, 16, 0);
  gather.cold = ColdWith("Float", 4, 16);
  TestStep scatter = Collective(CollectiveType::kReduceScatter, 64, 0);
  scatter.cold = ColdWith("Float", 16, 4);
  TestJob job = FourRanks({gather, scatter});
  EXPECT_THAT(Check(job).findings, IsEmpty());
  job.programs[0][0].cold = ColdWith("Float", 4, 4);
  job.programs[1][1].cold = ColdWith("Float", 17, 4);
  const CheckReport report = Check(job);
  ExpectOnly(report, "gather_size_mismatch", 2);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("of 4 ranks: 4 elements in, 4 out"));
}

// Group order is 1, 0: rank 1 sends 9 of its first part to itself, 1 to rank 0.
TEST(CheckTraceTest, SplitsMatchPairByPairInGroupOrder) {
  TestStep step = Collective(CollectiveType::kAllToAll, 40, 1);
  TestJob job = TwoRanks({step}, {step});
  job.groups.push_back({"ep", "", {1, 0}});
  job.groups[0].ranks = {0, 1};
  job.programs[1][0].cold = ColdWith("Float", 10, 12, "[9, 1]", "[9, 3]");
  job.programs[0][0].cold = ColdWith("Float", 10, 8, "[3, 7]", "[1, 7]");
  EXPECT_THAT(Check(job).findings, IsEmpty());
  job.programs[0][0].cold = ColdWith("Float", 10, 8, "[3, 7]", "[2, 7]");
  CheckReport report = Check(job);
  ExpectOnly(report, "split_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).message,
            "in group \"ep\", node 2 (nccl:coll) sends 1 elements to rank 0, which expects 2 in "
            "node 2 (nccl:coll)");
  EXPECT_EQ(report.findings.at(0).rank, 1);
  // Even on rank 0: 5 to each; rank 1 expects 3. What rank 0 keeps is its own affair.
  job.programs[0][0].cold = ColdWith("Float", 10, 2, "[]", "[1, 1]");
  report = Check(job);
  ExpectOnly(report, "split_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).rank, 0);
  // A list that the recorder cut says nothing.
  job.programs[0][0].cold = ColdWith("Float", 10, 2, "[5, ...]", "[1, ...]");
  EXPECT_THAT(Check(job).findings, IsEmpty());
}

TEST(CheckTraceTest, EvenSplitsAreComparedOncePerMember) {
  TestStep step = Collective(CollectiveType::kAllToAll, 40, 0);
  step.cold = ColdWith("Float", 40, 40);
  TestJob job = FourRanks({step});
  EXPECT_THAT(Check(job).findings, IsEmpty());
  job.programs[2][0].cold = ColdWith("Float", 80, 40);  // Sends 20 to each, who expect 10.
  const CheckReport report = Check(job);
  ExpectOnly(report, "split_mismatch", 1);
  EXPECT_EQ(report.findings.at(0).rank, 2);
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("sends 20 elements to rank 0"));
}

TEST(CheckTraceTest, DetailsOfTheCallThatLaunchedOrOfOneInsideItCount) {
  // c10d (0) holds record_param_comms (1) with the details, and launches the kernel (2).
  const std::string wrong = ColdWith("Float", 4, 5);
  for (const bool launched_by_record : {false, true}) {
    TestStep step = Collective(CollectiveType::kAllGather, 16, 0);
    RankTraceBuilder builder;
    NodeSpec spec;
    spec.type = NodeType::kComp;
    spec.flags = RankTrace::kHostOp;
    spec.name = "c10d::allgather_";
    spec.work_ns = 1;
    builder.AddNode(spec);
    spec.id = 1;
    spec.cold = wrong;
    spec.name = "record_param_comms";
    builder.AddEdge(builder.AddNode(spec), 0, EdgeKind::kControl);
    NodeSpec kernel;
    kernel.id = 2;
    kernel.type = NodeType::kCommColl;
    kernel.name = "nccl";
    kernel.comm = &step.comm;
    builder.AddEdge(builder.AddNode(kernel), launched_by_record ? 1 : 0, EdgeKind::kLaunch);
    Trace trace;
    trace.world_size = 1;
    trace.groups = {{"", "", {0}}};
    trace.ranks.push_back(builder.Build(nullptr).value());
    ExpectOnly(CheckBothWays(trace), "gather_size_mismatch", 1);
  }
}

TEST(CheckTraceTest, TheSameInputGivesTheSameReport) {
  TestJob job = ConsistentJob(3, 8, 60);
  for (TestProgram& program : job.programs) program.resize(program.size() - program.size() / 3);
  job.programs[4].resize(10);
  const Trace trace = BuildJob(job);
  EXPECT_EQ(ReportText(CheckTrace(trace, {})), ReportText(CheckTrace(trace, {})));
  EXPECT_GT(CheckTrace(trace, {}).errors_count, 0);
}

}  // namespace
}  // namespace chakrad
