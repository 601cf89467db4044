// What users of other tools were hit by when they converted and linked traces.
// Each test is named for the entry of the bug log that it stands for and for
// what went wrong; docs/validation.md lists them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "chakra/et_def.pb.h"
#include "common/status_matchers.h"
#include "trace/import/import.h"
#include "trace/link/fake_traces.h"
#include "trace/link/kernel_names.h"
#include "trace/link/reference_replay.h"

namespace chakrad {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// Kineto events in microseconds.
std::string Event(absl::string_view cat, absl::string_view name, int tid, int64_t ts, int64_t dur,
                  absl::string_view args = "") {
  return absl::StrCat(R"({"ph":"X","cat":")", cat, R"(","name":")", name, R"(","pid":1,"tid":)",
                      tid, R"(,"ts":)", ts, R"(,"dur":)", dur, R"(,"args":{)", args, "}}");
}
std::string Kineto(const std::vector<std::string>& events, absl::string_view info = "") {
  return absl::StrCat(R"({"schemaVersion":1,)", info, R"("traceEvents":[)",
                      absl::StrJoin(events, ","), "]}");
}
constexpr absl::string_view kRank0Of2 = R"("distributedInfo":{"rank":0,"world_size":2},)";

// Nodes of an execution trace in the newer layout, all on thread 1.
std::string Node(absl::string_view id, absl::string_view parent, absl::string_view name,
                 absl::string_view inputs = "", absl::string_view attrs = "") {
  return absl::StrCat(R"({"id":)", id, R"(,"name":")", name, R"(","ctrl_deps":)", parent,
                      R"(,"inputs":{)", inputs, R"(},"outputs":{},"attrs":[{"name":"tid",)",
                      R"("type":"uint64","value":1},{"name":"rf_id","type":"uint64","value":)", id,
                      "}", attrs, "]}");
}
std::string Et(const std::vector<std::string>& nodes,
               absl::string_view schema = "1.1.1-chakra.0.0.4") {
  return absl::StrCat(R"({"schema":")", schema, R"(","nodes":[)",
                      Node("1", "1", "[pytorch|profiler|execution_trace|process]"), ",",
                      Node("2", "1", "[pytorch|profiler|execution_trace|thread]"),
                      nodes.empty() ? "" : ",", absl::StrJoin(nodes, ","), "]}");
}
// record_param_comms over `in` and `out` floats, `more` attributes behind.
std::string ParamComms(absl::string_view id, absl::string_view op, int in, int out, int rank,
                       absl::string_view group, absl::string_view more = "") {
  const auto attribute = [](absl::string_view name, absl::string_view value) {
    return absl::StrCat(R"(,{"name":")", name, R"(","type":"x","value":)", value, "}");
  };
  const std::string quoted_op = absl::StrCat("\"", op, "\"");
  const std::string quoted_group = absl::StrCat("\"", group, "\"");
  return Node(id, "2", "record_param_comms",
              absl::StrCat(R"("values":[[5,6,0,)", in, R"(,4,"cuda:0"],[1,false],[)", quoted_group,
                           R"(,""],)", rank, ",", quoted_op, R"(],"shapes":[],"types":[])"),
              absl::StrCat(attribute("collective_name", quoted_op), attribute("dtype", "\"Float\""),
                           attribute("in_msg_nelems", absl::StrCat(in)),
                           attribute("out_msg_nelems", absl::StrCat(out)),
                           attribute("pg_name", quoted_group), more));
}
std::string GroupTable(absl::string_view id, absl::string_view table) {
  return Node(id, "2", "## process_group:init ##",
              absl::StrCat(R"("values":[")", table, R"("],"shapes":[[]],"types":["String"])"));
}

class BuglogTest : public ::testing::Test {
 protected:
  void File(const std::string& name, const std::string& text) {
    const std::string path =
        absl::StrCat(std::getenv("TEST_TMPDIR"), "/",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name(), "_", name);
    std::ofstream(path) << text;
    files_.push_back({name, path});
  }
  absl::StatusOr<ImportResult> Import() { return ImportTrace(files_, options_); }
  absl::StatusOr<ImportResult> Import(const std::string& text) {
    files_.clear();
    File("trace.json", text);
    return Import();
  }

  std::vector<ImportFile> files_;
  ImportOptions options_;
};

const CommOp& CommOf(const RankTrace& rank, absl::string_view name) {
  const CommOp* comm = rank.CommOf(FindNode(rank, name));
  static const CommOp kNoComm;
  EXPECT_NE(comm, nullptr) << name;
  return comm == nullptr ? kNoComm : *comm;
}

ChakraProtoMsg::Node ColdOf(const RankTrace& rank, absl::string_view name) {
  const absl::string_view bytes = rank.ColdOf(FindNode(rank, name));
  ChakraProtoMsg::Node cold;
  EXPECT_TRUE(cold.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return cold;
}

// ---- Ingest.

TEST_F(BuglogTest, B01BrokenCommasAreRefusedWithOffsetLineAndLastGoodNode) {
  EXPECT_THAT(Import(Et({Node("3", "2", "a"), Node("4", "2", "b") + ","})),
              StatusIs(kInvalid, "the last good node is 4"));
  EXPECT_THAT(Import(Et({Node("3", "2", "a") + "\n" + Node("4", "2", "b")})),
              StatusIs(kInvalid, "(line 2): "));
  EXPECT_THAT(Import(Et({Node("3", "2", "a") + Node("4", "2", "b")})),
              StatusIs(kInvalid, "byte offset "));
}

TEST_F(BuglogTest, B02AnUnescapedQuoteNamesTheEventItBroke) {
  EXPECT_THAT(Import(Kineto({Event("cpu_op", "good", 1, 1, 2),
                             Event("python_function", R"({"device": "cpu"}(12): run)", 1, 1, 2)})),
              StatusIs(kInvalid, "record 1: byte offset "));
}

TEST_F(BuglogTest, B04IdsAbove53And63BitsSurviveExactly) {
  ASSERT_OK_AND_ASSIGN(
      const ImportResult et,
      Import(Et({Node("9007199254740993", "2", "aten::mm"),
                 Node("9007199254740992", "9007199254740993", "aten::add"),
                 Node("18446744073709551615", "9007199254740992", "aten::relu")})));
  const RankTrace& rank = et.trace.ranks[0];
  EXPECT_EQ(rank.id[FindNode(rank, "aten::mm")], 9007199254740993u);
  EXPECT_EQ(rank.id[FindNode(rank, "aten::add")], 9007199254740992u);
  EXPECT_EQ(rank.id[FindNode(rank, "aten::relu")], 18446744073709551615u);
  EXPECT_TRUE(HasEdge(rank, "aten::add", "aten::mm", EdgeKind::kControl));
  EXPECT_TRUE(HasEdge(rank, "aten::relu", "aten::add", EdgeKind::kControl));
  EXPECT_THAT(Import(Et({Node("18446744073709551616", "2", "x")})),
              StatusIs(kInvalid, "does not fit 64 bits"));
}

TEST_F(BuglogTest, B04ACommunicatorsNumberAboveInt64KeepsItsDigits) {
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(Kineto({Event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 7, 10, 5,
                           R"("stream":7,"Comms Id":17093776592125785438)")},
                    kRank0Of2)));
  const auto cold = ColdOf(result.trace.ranks[0], "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  uint64_t comms_id = 0;
  for (const auto& attribute : cold.attr()) {
    if (attribute.name() == "comms_id") comms_id = attribute.uint64_val();
  }
  EXPECT_EQ(comms_id, 17093776592125785438u);
}

TEST_F(BuglogTest, B06OneFileWithoutARankIsRankZeroOfOneAndSeveralAreListed) {
  const std::string text = Kineto({Event("cpu_op", "aten::mm", 1, 10, 5)});
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import(text));
  EXPECT_EQ(result.trace.world_size, 1);
  EXPECT_EQ(result.trace.ranks[0].rank, 0);
  EXPECT_THAT(result.notices, Contains(HasSubstr("taken for rank 0")));
  File("other.json", text);
  EXPECT_THAT(Import(), StatusIs(kInvalid, "trace.json, other.json"));
  options_.settings.rank_by_file = {{"trace.json", 0}, {"other.json", 1}};
  ASSERT_OK_AND_ASSIGN(const ImportResult both, Import());
  EXPECT_THAT(both.trace.ranks, SizeIs(2));
  // The caller's word goes before the file's, and both are told.
  options_.settings.rank_by_file = {{"trace.json", 1}};
  ASSERT_OK_AND_ASSIGN(const ImportResult given,
                       Import(Kineto({Event("cpu_op", "aten::mm", 1, 10, 5)}, kRank0Of2)));
  EXPECT_EQ(given.trace.ranks[0].rank, 1);
  EXPECT_THAT(given.notices,
              Contains(HasSubstr("taken for rank 1, as given; the file itself says rank 0")));
}

TEST_F(BuglogTest, B10TheWrongKindOfFileIsNamedForWhatItIs) {
  EXPECT_THAT(Import(""), StatusIs(kInvalid, "the file is empty"));
  EXPECT_THAT(Import(" \n\t "), StatusIs(kInvalid, "only white space"));
  EXPECT_THAT(Import("<!DOCTYPE html><html>log in</html>"), StatusIs(kInvalid, "HTML"));
  // An execution trace under a profile's name is taken for what it is.
  files_.clear();
  File("rank0.kineto.json", Et({Node("3", "2", "aten::mm")}));
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  EXPECT_EQ(result.trace.ranks[0].schema, "1.1.1-chakra.0.0.4");
}

TEST_F(BuglogTest, B10AProfileWithoutAnyOperationIsAnErrorNotAnEmptyTrace) {
  EXPECT_THAT(Import(Kineto({})), StatusIs(kInvalid, "holds no operation: of its 0 records"));
  EXPECT_THAT(Import(Kineto({R"({"ph":"X","cat":"cpu_op","name":"a","ts":1})"})),
              StatusIs(kInvalid, "1 records 1 were rejected"));
}

// ---- Convert.

TEST_F(BuglogTest, B11OldSchemasAreReadNewerOnesWithANoticeAndUnknownOnesRefused) {
  ASSERT_OK_AND_ASSIGN(const ImportResult old,
                       Import(R"({"schema":"1.0.1","nodes":[{"name":"p","id":1,"parent":1},)"
                              R"({"name":"aten::relu","id":3,"parent":1,"input_shapes":[[8]]}]})"));
  EXPECT_TRUE(HasEdge(old.trace.ranks[0], "aten::relu", "p", EdgeKind::kControl));
  ASSERT_OK_AND_ASSIGN(const ImportResult newer, Import(Et({}, "1.7.0-chakra.3.0.0")));
  EXPECT_THAT(newer.ledgers[0].notices, Contains(HasSubstr("newer than 1.1.1")));
  EXPECT_THAT(Import(Et({}, "9.9.9-chakra.7.7.7")),
              StatusIs(kInvalid, "supported are 1.0.1, 1.0.2, 1.0.3, 1.0.4, 1.1.0, 1.1.1"));
}

// The waits that point back in time: LinkedEtTest.
TEST_F(BuglogTest, B13ACycleOfCallsIsPrintedWithIdsNamesAndKinds) {
  EXPECT_THAT(Import(Et({Node("3", "5", "a"), Node("4", "3", "b"), Node("5", "4", "c"),
                         Node("6", "2", "d")})),
              StatusIs(kInvalid,
                       "dependency cycle: node 3 (a) -control-> node 5 (c) -control-> "
                       "node 4 (b) -control-> node 3 (a)"));
}

TEST_F(BuglogTest, B14AHundredThousandLevelsAreConverted) {
  std::vector<std::string> nodes;
  for (int id = 3; id < 100'003; ++id) {
    nodes.push_back(absl::StrCat(R"({"id":)", id, R"(,"name":"f","ctrl_deps":)", id - 1, "}"));
  }
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import(Et(nodes)));
  EXPECT_EQ(result.trace.ranks[0].size(), 100'002u);
}

TEST_F(BuglogTest, B17ConversionListsKernelsThatLookLikeCommunicationAndAUserNamesThem) {
  const std::string text =
      Kineto({Event("kernel", "acme_nccl_like_ar_v7<float>", 7, 10, 5, R"("stream":7)"),
              Event("kernel", "acme_nccl_like_ar_v7<float>", 7, 20, 5, R"("stream":7)"),
              Event("kernel", "sgemm", 7, 30, 5, R"("stream":7)")},
             kRank0Of2);
  ASSERT_OK_AND_ASSIGN(const ImportResult unknown, Import(text));
  EXPECT_TRUE(unknown.trace.ranks[0].comm.empty());
  ASSERT_THAT(unknown.ledgers[0].flaws, SizeIs(1));
  EXPECT_EQ(unknown.ledgers[0].flaws[0].rule, "unknown_comm_kernel");
  EXPECT_THAT(unknown.ledgers[0].flaws[0].reason, HasSubstr("2 kernels \"acme_nccl_like_ar_v7"));
  ASSERT_OK_AND_ASSIGN(
      KernelNames names,
      ParseKernelNames(R"({"kernel_names":[{"prefix":"acme_nccl","meaning":"all_reduce"}]})"));
  options_.kernel_names = std::make_shared<const KernelNames>(std::move(names));
  ASSERT_OK_AND_ASSIGN(const ImportResult known, Import(text));
  EXPECT_THAT(known.trace.ranks[0].comm, SizeIs(2));
  EXPECT_TRUE(known.ledgers[0].flaws.empty());
}

TEST_F(BuglogTest, B20OfACutGroupTableTheCompleteEntriesAreReadAndUnknownGroupsStayUnknown) {
  const std::string table =
      R"([{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [], \"group_size\": 64},)"
      R"( {\"pg_name\": \"1\", \"ranks\": [0, 1, 2)";
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(Et({GroupTable("3", table), ParamComms("4", "allreduce", 16, 16, 0, "1")})));
  EXPECT_EQ(result.trace.world_size, 64);
  EXPECT_EQ(result.trace.groups[0].name, "0");
  EXPECT_THAT(result.trace.groups[0].ranks, SizeIs(64));
  const CommOp& comm = CommOf(result.trace.ranks[0], "record_param_comms");
  EXPECT_EQ(result.trace.groups[comm.group].name, "1");
  EXPECT_THAT(result.trace.groups[comm.group].ranks, SizeIs(0));
  EXPECT_THAT(result.ledgers[0].notices, Contains(HasSubstr("cut off: 1 complete entries")));
  EXPECT_THAT(result.ledgers[0].notices, Contains(HasSubstr("\"1\" of 1 communication calls: its "
                                                            "members are recorded nowhere")));
}

TEST_F(BuglogTest, B48UnevenAllToAllCountsItsSplitsNotTheTensor) {
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(Et({ParamComms(
          "4", "all_to_allv", 50, 40, 0, "0",
          R"(,{"name":"in_split_size","type":"string","value":"[0, 12, 13, 14]"})"
          R"(,{"name":"out_split_size","type":"string","value":"[10, 10, 10, 10]"})")})));
  EXPECT_EQ(CommOf(result.trace.ranks[0], "record_param_comms").bytes, 4 * 39);
}

TEST_F(BuglogTest, B50GatheredAndScatteredSizesComeFromElementsAndType) {
  ASSERT_OK_AND_ASSIGN(const ImportResult result,
                       Import(Et({ParamComms("4", "_allgather_base", 1024, 4096, 0, "0"),
                                  ParamComms("5", "_reduce_scatter_base", 4096, 1024, 0, "0")})));
  const RankTrace& rank = result.trace.ranks[0];
  ASSERT_THAT(rank.comm, SizeIs(2));
  EXPECT_EQ(rank.comm[0].bytes, 4096);   // What each contributes.
  EXPECT_EQ(rank.comm[1].bytes, 16384);  // The full input.
}

TEST_F(BuglogTest, B53ARootIsTranslatedThroughTheMembersOfItsGroup) {
  const std::string table = R"([{\"pg_name\": \"1\", \"ranks\": [4, 5, 6, 7], \"group_size\": 4}])";
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(Et({GroupTable("3", table), ParamComms("4", "broadcast", 16, 16, /*rank=*/1, "1")})));
  EXPECT_EQ(CommOf(result.trace.ranks[0], "record_param_comms").root, 5);
}

TEST_F(BuglogTest, B53PeersThatAProfileGivesAsRanksOfTheJobAreNotTranslatedAgain) {
  const auto kernel = [](absl::string_view op, int64_t ts, absl::string_view peer) {
    return Event("kernel", "ncclDevKernel_SendRecv()", 7, ts, 5,
                 absl::StrCat(R"("stream":7,"Collective name":")", op,
                              R"(","In msg nelems":8,"Out msg nelems":8,"dtype":"Float",)",
                              R"("Process Group Name":"pp","Process Group Ranks":"[4, 5, 6, 7]",)",
                              R"("Group size":4,"Rank":1)", peer));
  };
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(Kineto({kernel("send", 10, R"(,"Dst Rank":5)"), kernel("recv", 20, R"(,"Src Rank":5)"),
                     kernel("send", 30, ""), kernel("broadcast", 40, "")},
                    R"("distributedInfo":{"rank":4,"world_size":8},)")));
  const RankTrace& rank = result.trace.ranks[0];
  ASSERT_THAT(rank.comm, SizeIs(4));
  EXPECT_EQ(rank.comm[0].peer, 5);
  EXPECT_EQ(rank.comm[1].peer, 5);
  EXPECT_EQ(rank.comm[2].peer, 5);  // Rank 1 of the group.
  EXPECT_EQ(rank.comm[3].root, 5);
  EXPECT_EQ(rank.comm[0].bytes, 32);
  EXPECT_EQ(result.trace.groups[rank.comm[0].group].name, "pp");
}

TEST_F(BuglogTest, B55GroupNamesAreAnyTextAndAMemberBeyondTheWorldIsSaid) {
  const std::string table =
      R"([{\"pg_name\": \"0\", \"ranks\": [], \"group_size\": 4},)"
      R"({\"pg_name\": \"mesh_tp\", \"ranks\": [0, 1], \"group_size\": 2},)"
      R"({\"pg_name\": \"f00dfacecafe\", \"ranks\": [0, 99], \"group_size\": 2}])";
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(Et({GroupTable("3", table), ParamComms("4", "allreduce", 16, 16, 0, "mesh_tp"),
                 ParamComms("5", "allreduce", 16, 16, 0, "absent")})));
  EXPECT_EQ(result.trace.world_size, 4);
  std::vector<std::string> names;
  for (const ProcessGroup& group : result.trace.groups) names.push_back(group.name);
  EXPECT_THAT(names, ElementsAre("0", "mesh_tp", "absent", "f00dfacecafe"));
  EXPECT_THAT(result.trace.groups[1].ranks, ElementsAre(0, 1));
  EXPECT_THAT(result.trace.groups[2].ranks, SizeIs(0));
  EXPECT_THAT(result.trace.groups[3].ranks, ElementsAre(0, 99));
  EXPECT_THAT(result.notices, Contains("process group \"f00dfacecafe\": member 99 is not in "
                                       "[0, 4), the world"));
  EXPECT_THAT(result.ledgers[0].notices, Contains(HasSubstr("process group \"absent\" of 1")));
}

// ---- Link.

TEST_F(BuglogTest, B21WithoutStepMarksAllIsLinkedAndTheFileIsOneIteration) {
  File("rank0.et.json", Et({Node("11", "2", "aten::mm")}));
  File("rank0.kineto.json",
       Kineto(
           {Event("cpu_op", "aten::mm", 1, 100, 20, R"("External id":11,"Record function id":11)"),
            Event("cuda_runtime", "cudaLaunchKernel", 1, 105, 4,
                  R"("correlation":77,"External id":11)"),
            Event("kernel", "sgemm", 7, 118, 30, R"("stream":7,"correlation":77)")},
           kRank0Of2));
  ASSERT_OK_AND_ASSIGN(const ImportResult result, Import());
  EXPECT_TRUE(HasEdge(result.trace.ranks[0], "sgemm", "aten::mm", EdgeKind::kLaunch));
  EXPECT_THAT(result.ledgers[1].notices, Contains(HasSubstr("the whole file is one iteration")));
  files_.clear();
  ASSERT_OK_AND_ASSIGN(const ImportResult marked,
                       Import(Kineto({Event("user_annotation", "ProfilerStep#1", 1, 0, 90),
                                      Event("cpu_op", "aten::mm", 1, 10, 20)})));
  EXPECT_TRUE(marked.ledgers[0].notices.empty());
}

TEST_F(BuglogTest, B22AmdLaunchesWithoutCorrelationLinkByExternalIdOnStreamZero) {
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(Kineto(
          {Event("cpu_op", "aten::mm", 1, 100, 20, R"("External id":11)"),
           Event("cuda_runtime", "hipExtModuleLaunchKernel", 1, 105, 4, R"("External id":11)"),
           Event("kernel", "Cijk_Ailk_Bljk_SB", 0, 118, 30,
                 R"("stream":0,"device":2,"External id":11)"),
           Event("gpu_memcpy", "CopyHostToDevice", 0, 160, 5,
                 R"("stream":0,"device":2,"External id":12)")},
          kRank0Of2)));
  const RankTrace& rank = result.trace.ranks[0];
  EXPECT_TRUE(HasEdge(rank, "Cijk_Ailk_Bljk_SB", "aten::mm", EdgeKind::kLaunch));
  EXPECT_TRUE(HasEdge(rank, "CopyHostToDevice", "Cijk_Ailk_Bljk_SB", EdgeKind::kStreamOrder));
  EXPECT_EQ(rank.queues[rank.queue[FindNode(rank, "Cijk_Ailk_Bljk_SB")]].raw_id, 0);
  EXPECT_THAT(result.ledgers[0].notices,
              Contains(HasSubstr("1 of 2 device operations linked to their launch")));
}

TEST_F(BuglogTest, B23DeviceOperationsKeepTheirStartAndTheLaunchIsAnotherField) {
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(Kineto({Event("cpu_op", "c10d::allreduce_", 1, 100, 8),
                     Event("cuda_runtime", "cudaLaunchKernelExC", 1, 102, 3, R"("correlation":1)"),
                     Event("cpu_op", "c10d::allreduce_", 1, 110, 8),
                     Event("cuda_runtime", "cudaLaunchKernelExC", 1, 112, 3, R"("correlation":2)"),
                     Event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 20, 1000, 900,
                           R"("stream":20,"correlation":1)"),
                     Event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 20, 1901, 700,
                           R"("stream":20,"correlation":2)")},
                    kRank0Of2)));
  const RankTrace& rank = result.trace.ranks[0];
  const uint32_t first = FindNode(rank, "ncclDevKernel_AllReduce_Sum_f32_RING_LL()");
  const uint32_t second = FindNode(rank, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
  EXPECT_EQ(rank.start_ns[first], 1'000'000);
  EXPECT_EQ(rank.start_ns[second], 1'901'000);
  EXPECT_LE(rank.start_ns[first] + rank.dur_ns[first], rank.start_ns[second]);
  int64_t launch_ns = 0;
  const ChakraProtoMsg::Node cold = ColdOf(rank, rank.NameOf(second));
  for (const auto& attribute : cold.attr()) {
    if (attribute.name() == "launch_ns") launch_ns = attribute.int64_val();
  }
  EXPECT_EQ(launch_ns, 112'000);
}

// thread     [mm][c10d::allreduce_]  sync............][item]
// stream 7        [sgemm          ]
// stream 20                        [ncclDevKernel...]
TEST_F(BuglogTest, B24KernelsWaitForEachOtherAndTheHostForThem) {
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(
          Kineto({Event("cpu_op", "aten::mm", 1, 100, 10),
                  Event("cuda_runtime", "cudaLaunchKernel", 1, 102, 3, R"("correlation":1)"),
                  Event("cpu_op", "c10d::allreduce_", 1, 120, 10),
                  Event("cuda_runtime", "cudaStreamWaitEvent", 1, 121, 1, R"("correlation":8)"),
                  Event("cuda_runtime", "cudaLaunchKernelExC", 1, 123, 3, R"("correlation":2)"),
                  Event("cuda_runtime", "cudaStreamSynchronize", 1, 140, 260, R"("correlation":9)"),
                  Event("cpu_op", "aten::item", 1, 401, 5),
                  Event("kernel", "sgemm", 7, 150, 100, R"("stream":7,"correlation":1)"),
                  Event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 20, 251, 140,
                        R"("stream":20,"correlation":2)")},
                 kRank0Of2)));
  const RankTrace& rank = result.trace.ranks[0];
  const char* all_reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL()";
  EXPECT_TRUE(HasEdge(rank, all_reduce, "sgemm", EdgeKind::kSync));
  EXPECT_TRUE(HasEdge(rank, "aten::item", all_reduce, EdgeKind::kSync));
  const double recorded = static_cast<double>(RecordedSpanNs(rank));
  EXPECT_NEAR(static_cast<double>(ReplayRecorded(rank).span_ns), recorded, 0.05 * recorded);
}

TEST_F(BuglogTest, B27TheEventIndexIsNoExternalId) {
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(Kineto({Event("cpu_op", "aten::addmm", 1, 100, 30, R"("External id":7,"Ev Idx":8)"),
                     Event("cpu_op", "aten::copy_", 1, 140, 30, R"("External id":8,"Ev Idx":7)"),
                     Event("cuda_runtime", "cudaLaunchKernel", 1, 105, 3, R"("External id":7)"),
                     Event("kernel", "gemm_for_addmm", 7, 120, 5, R"("stream":7,"External id":7)")},
                    kRank0Of2)));
  EXPECT_TRUE(HasEdge(result.trace.ranks[0], "gemm_for_addmm", "aten::addmm", EdgeKind::kLaunch));
}

TEST_F(BuglogTest, B27KeysThatDisagreeAreCounted) {
  ASSERT_OK_AND_ASSIGN(
      const ImportResult result,
      Import(Kineto(
          {Event("cpu_op", "aten::addmm", 1, 100, 30, R"("External id":7)"),
           Event("cpu_op", "aten::copy_", 1, 140, 30, R"("External id":8)"),
           Event("cuda_runtime", "cudaLaunchKernel", 1, 105, 3, R"("correlation":5)"),
           Event("kernel", "gemm", 7, 120, 5, R"("stream":7,"correlation":5,"External id":8)")},
          kRank0Of2)));
  EXPECT_TRUE(HasEdge(result.trace.ranks[0], "gemm", "aten::addmm", EdgeKind::kLaunch));
  EXPECT_THAT(result.ledgers[0].notices,
              Contains(HasSubstr("1 device operations were launched inside another host")));
}

}  // namespace
}  // namespace chakrad
