#include "trace/link/link.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "common/status_matchers.h"
#include "trace/check/cycles.h"
#include "trace/link/fake_traces.h"
#include "trace/link/reference_replay.h"
#include "trace/readers/manifest/manifest.h"

namespace chakrad {
namespace {

bool HasNotice(const Ledger& ledger, absl::string_view part) {
  for (const std::string& notice : ledger.notices) {
    if (absl::StrContains(notice, part)) return true;
  }
  return false;
}

RankTrace LinkKineto(FakeKineto* fake) {
  KinetoTrace kineto = fake->Take();
  auto linked = LinkRank(nullptr, nullptr, &kineto, fake->ledger(), kNoRank, nullptr);
  EXPECT_THAT(linked, IsOk());
  EXPECT_TRUE(fake->ledger()->Balanced());
  EXPECT_THAT(CheckAcyclic(*linked), IsOk());
  return *std::move(linked);
}

// thread  |mm  |    |allreduce_ |      |== sync ==========|item
// stream 7        [sgemm 150..250]
// stream 20                  [allreduce 251..391]
TEST(LinkTest, DeviceOperationsWaitForEachOtherAndTheHostForThem) {
  FakeKineto fake;
  fake.Host(1, "aten::mm", 100, 10);
  fake.Call(1, "cudaLaunchKernel", 102, 3, 1);
  fake.Host(1, "c10d::allreduce_", 120, 10);
  fake.Call(1, "cudaStreamWaitEvent", 121, 1, 8);
  fake.Call(1, "cudaLaunchKernelExC", 123, 3, 2);
  fake.Call(1, "cudaStreamSynchronize", 140, 260, 9);
  fake.Host(1, "aten::item", 401, 5);
  fake.Kernel(7, "sgemm", 150, 100, 1);
  fake.Kernel(20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 251, 140, 2);
  const RankTrace rank = LinkKineto(&fake);
  const absl::string_view comm = "ncclDevKernel_AllReduce_Sum_f32_RING_LL()";
  EXPECT_TRUE(HasEdge(rank, "sgemm", "aten::mm", EdgeKind::kLaunch));
  EXPECT_TRUE(HasEdge(rank, comm, "c10d::allreduce_", EdgeKind::kLaunch));
  EXPECT_TRUE(HasEdge(rank, comm, "sgemm", EdgeKind::kSync));
  EXPECT_TRUE(HasEdge(rank, "aten::item", comm, EdgeKind::kSync));
  EXPECT_EQ(rank.type[FindNode(rank, comm)], NodeType::kCommColl);
  // item: [400, 401) after the awaited end at 391 and the call's return at 400.
  // The call itself, up to 391, is waiting; 391..400 and 400..401 are gap.
  const uint32_t item = FindNode(rank, "aten::item");
  EXPECT_EQ(rank.DenseGaps()[item], 10 * kUs);
  EXPECT_EQ(ReplayRecorded(rank).span_ns, 306 * kUs);  // 100..406.
  EXPECT_EQ(fake.ledger()->merged_by_rule["runtime_call"], 3);
  EXPECT_EQ(fake.ledger()->merged_by_rule["runtime_call_between_ops"], 1);
}

TEST(LinkTest, DeviceTimesStayAsRecordedAndStreamsAreInOrder) {
  FakeKineto fake;
  fake.Host(1, "launches", 0, 50);
  fake.Call(1, "cudaLaunchKernel", 10, 2, 1);
  fake.Call(1, "cudaLaunchKernel", 20, 2, 2);
  fake.Kernel(0, "first", 1000, 900, 1);
  fake.Kernel(0, "second", 1901, 700, 2);
  const RankTrace rank = LinkKineto(&fake);
  EXPECT_EQ(rank.start_ns[FindNode(rank, "first")], 1000 * kUs);
  EXPECT_EQ(rank.start_ns[FindNode(rank, "second")], 1901 * kUs);
  EXPECT_TRUE(HasEdge(rank, "second", "first", EdgeKind::kStreamOrder));
}

TEST(LinkTest, WithoutCorrelationTheExternalIdLinksAndTheRestKeepsItsStream) {
  FakeKineto fake;
  fake.Host(1, "aten::mm", 100, 20).external_id = 11;
  fake.Call(1, "hipExtModuleLaunchKernel", 105, 4, -1).external_id = 11;
  fake.Kernel(0, "Cijk", 118, 30, -1).external_id = 11;
  fake.Kernel(0, "nobody's", 160, 5, -1).external_id = 12;
  const RankTrace rank = LinkKineto(&fake);
  EXPECT_TRUE(HasEdge(rank, "Cijk", "aten::mm", EdgeKind::kLaunch));
  EXPECT_TRUE(HasEdge(rank, "nobody's", "Cijk", EdgeKind::kStreamOrder));
  EXPECT_TRUE(HasNotice(*fake.ledger(), "1 of 2 device operations linked"));
}

TEST(LinkTest, WithoutAnyIdsLaunchesLinkInOrder) {
  FakeKineto fake;
  fake.Host(1, "a", 0, 10);
  fake.Call(1, "hipLaunchKernel", 2, 1, -1);
  fake.Host(1, "b", 10, 10);
  fake.Call(1, "hipLaunchKernel", 12, 1, -1);
  fake.Kernel(0, "ka", 5, 5, -1);
  fake.Kernel(0, "kb", 15, 5, -1);
  const RankTrace rank = LinkKineto(&fake);
  EXPECT_TRUE(HasEdge(rank, "ka", "a", EdgeKind::kLaunch));
  EXPECT_TRUE(HasEdge(rank, "kb", "b", EdgeKind::kLaunch));
}

TEST(LinkTest, TheLaunchDecidesWhereTheExternalIdSaysOtherwise) {
  FakeKineto fake;
  fake.Host(1, "aten::addmm", 100, 30).external_id = 7;
  fake.Host(1, "aten::copy_", 140, 30).external_id = 8;
  fake.Call(1, "cudaLaunchKernel", 105, 3, 1);
  fake.Kernel(7, "gemm", 120, 5, 1).external_id = 8;
  const RankTrace rank = LinkKineto(&fake);
  EXPECT_TRUE(HasEdge(rank, "gemm", "aten::addmm", EdgeKind::kLaunch));
  EXPECT_TRUE(HasNotice(*fake.ledger(), "1 device operations were launched inside another"));
}

TEST(LinkTest, ALaunchOutsideOfAnyOperationBecomesAHostNode) {
  FakeKineto fake;
  fake.Mark(1, "step", 0, 100);
  fake.Call(1, "cuLaunchKernel", 10, 3, 1);
  fake.Kernel(7, "triton", 20, 5, 1);
  const RankTrace rank = LinkKineto(&fake);
  EXPECT_TRUE(HasEdge(rank, "triton", "cuLaunchKernel", EdgeKind::kLaunch));
  EXPECT_EQ(rank.type[FindNode(rank, "step")], NodeType::kMetadata);
  EXPECT_EQ(rank.work_ns[FindNode(rank, "step")], 0);
  EXPECT_EQ(fake.ledger()->kept, 3);
}

// One kernel name, three meanings: the host call around the launch tells.
TEST(LinkTest, SendRecvKernelsMeanWhatTheHostCalled) {
  FakeKineto fake;
  const char* ops[] = {"send", "recv", "all_to_all"};
  for (int i = 0; i < 3; ++i) {
    KinetoEvent& record = fake.Host(1, "record_param_comms", 100 * i, 50);
    CommArgs& args = fake.Comm(record);
    args.op = ops[i];
    args.in_bytes = 1024 * (i + 1);
    args.peer = i < 2 ? 1 : kNotStated;
    fake.Call(1, "cudaLaunchKernelExC", 100 * i + 10, 3, i);
    fake.Kernel(20, "ncclDevKernel_SendRecv()", 100 * i + 20, 30, i);
  }
  const RankTrace rank = LinkKineto(&fake);
  std::vector<NodeType> types;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (IsComm(rank.type[node])) types.push_back(rank.type[node]);
  }
  EXPECT_EQ(types,
            (std::vector<NodeType>{NodeType::kCommSend, NodeType::kCommRecv, NodeType::kCommColl}));
  ASSERT_EQ(rank.comm.size(), 3u);
  EXPECT_EQ(rank.comm[0].peer, 1);
  EXPECT_EQ(rank.comm[0].bytes, 1024);
  EXPECT_EQ(rank.comm[2].collective, CollectiveType::kAllToAll);
  EXPECT_EQ(rank.comm[2].bytes, 3072);
}

TEST(LinkTest, KernelsOfOneCallShareItsBytes) {
  FakeKineto fake;
  KinetoEvent& record = fake.Host(1, "record_param_comms", 0, 50);
  CommArgs& args = fake.Comm(record);
  args.op = "allreduce";
  args.in_bytes = 1001;
  for (int i = 0; i < 2; ++i) {
    fake.Call(1, "cudaLaunchKernel", 10 + 10 * i, 3, i);
    fake.Kernel(20, "ncclDevKernel_AllReduce_Sum()", 20 + 20 * i, 15, i);
  }
  const RankTrace rank = LinkKineto(&fake);
  ASSERT_EQ(rank.comm.size(), 2u);
  EXPECT_EQ(rank.comm[0].bytes, 501);
  EXPECT_EQ(rank.comm[1].bytes, 500);
}

TEST(LinkTest, AfterARecordedWaitTheNextKernelWaitsForTheCollective) {
  FakeKineto fake;
  CommArgs& start = fake.Comm(fake.Host(1, "record_param_comms", 0, 20));
  start.op = "allreduce";
  start.in_bytes = 8;
  start.sequence = 33;
  fake.Call(1, "cudaLaunchKernel", 5, 2, 1);
  fake.Kernel(20, "ncclKernel_AllReduce_RING()", 10, 100, 1);
  fake.Host(1, "overlaps", 30, 10);
  fake.Call(1, "cudaLaunchKernel", 32, 2, 2);
  fake.Kernel(7, "independent", 40, 10, 2);
  CommArgs& wait = fake.Comm(fake.Host(1, "record_param_comms", 50, 5));
  wait.op = "wait";
  wait.sequence = 33;
  fake.Call(1, "cudaStreamWaitEvent", 52, 1, 3);
  fake.Host(1, "uses", 60, 10);
  fake.Call(1, "cudaLaunchKernel", 62, 2, 4);
  fake.Kernel(7, "consumer", 111, 10, 4);
  const RankTrace rank = LinkKineto(&fake);
  EXPECT_TRUE(HasEdge(rank, "consumer", "ncclKernel_AllReduce_RING()", EdgeKind::kSync));
  EXPECT_FALSE(HasEdge(rank, "independent", "ncclKernel_AllReduce_RING()", EdgeKind::kSync));
}

// main      |mm|..............pause...............|step|
// autograd        |evaluate A|evaluate B|
TEST(LinkTest, BackwardWaitsForItsCallerAndTheCallerForIt) {
  FakeKineto fake;
  fake.Host(1, "aten::mm", 0, 100).sequence = 5;
  fake.Host(1, "aten::sum", 100, 50);
  KinetoEvent& a = fake.Host(2, "autograd::engine::evaluate_function: A", 200, 300);
  a.sequence = 5;
  a.forward_tid = 1;
  fake.Host(2, "autograd::engine::evaluate_function: B", 500, 400);
  fake.Host(1, "aten::add_", 950, 50);
  const RankTrace rank = LinkKineto(&fake);
  const absl::string_view first = "autograd::engine::evaluate_function: A";
  EXPECT_TRUE(HasEdge(rank, first, "aten::sum", EdgeKind::kSync));
  EXPECT_TRUE(HasEdge(rank, first, "aten::mm", EdgeKind::kForwardBackward));
  EXPECT_TRUE(
      HasEdge(rank, "aten::add_", "autograd::engine::evaluate_function: B", EdgeKind::kSync));
  EXPECT_EQ(rank.DenseGaps()[FindNode(rank, first)], 50 * kUs);         // 150..200.
  EXPECT_EQ(rank.DenseGaps()[FindNode(rank, "aten::add_")], 50 * kUs);  // 900..950.
  EXPECT_EQ(ReplayRecorded(rank).span_ns, 1000 * kUs);
}

TEST(LinkTest, OperationsKeepTheirIdsAndKinetoGivesTimesToThoseItKnows) {
  FakeEt et;
  et.Op(10, 2, "aten::mm");
  et.Op(12, 2, "aten::add");
  et.Op(15, 2, "aten::relu");
  FakeKineto fake;
  fake.Host(77, "aten::mm", 0, 10).rf_id = 10;
  fake.Host(77, "aten::relu", 30, 10).rf_id = 15;
  fake.Host(77, "aten::extra", 50, 10).rf_id = 99;
  fake.Call(77, "cudaLaunchKernel", 2, 1, 1);
  fake.Kernel(7, "gemm", 5, 20, 1);
  KinetoTrace kineto = fake.Take();
  ASSERT_OK_AND_ASSIGN(const RankTrace rank,
                       LinkRank(&et.et(), et.ledger(), &kineto, fake.ledger(), kNoRank, nullptr));
  EXPECT_EQ(rank.id, (std::vector<uint64_t>{1, 2, 10, 12, 15, 16, 17}));
  EXPECT_EQ(rank.start_ns[FindNode(rank, "aten::mm")], 0);
  EXPECT_EQ(rank.start_ns[FindNode(rank, "aten::add")], kUnknownNs);
  EXPECT_EQ(rank.dur_ns[FindNode(rank, "aten::add")], kUnknownNs);
  EXPECT_EQ(rank.work_ns[FindNode(rank, "aten::add")], kUnknownNs);
  EXPECT_TRUE(HasEdge(rank, "aten::add", "aten::mm", EdgeKind::kThreadOrder));
  EXPECT_TRUE(HasEdge(rank, "aten::relu", "aten::add", EdgeKind::kThreadOrder));
  EXPECT_TRUE(HasNotice(*et.ledger(), "2 of 3 operations of the execution trace were found"));
  EXPECT_EQ(fake.ledger()->merged_by_rule["host_op"], 2);
  EXPECT_EQ(fake.ledger()->kept, 2);  // extra and gemm.
  EXPECT_TRUE(fake.ledger()->Balanced());
}

TEST(LinkTest, IdsThatStandForOtherNamesAreGivenUpForNameAndOrder) {
  FakeEt et;
  FakeKineto fake;
  for (uint64_t i = 0; i < 20; ++i) {
    const std::string name = "op" + std::to_string(i);
    et.Op(10 + i, 2, name);
    fake.Host(1, name, static_cast<int64_t>(10 * i), 5).rf_id = static_cast<int64_t>(29 - i);
  }
  KinetoTrace kineto = fake.Take();
  ASSERT_OK_AND_ASSIGN(const RankTrace rank,
                       LinkRank(&et.et(), et.ledger(), &kineto, fake.ledger(), kNoRank, nullptr));
  EXPECT_EQ(rank.start_ns[FindNode(rank, "op3")], 30 * kUs);
  EXPECT_EQ(rank.size(), 22u);
  EXPECT_TRUE(HasNotice(*et.ledger(), "20 record-function ids stand for different names"));
}

// The recorder's stack is off after gloo's call: it says that the next
// operation lies in gloo:all_reduce, and gloo:all_reduce in the one before.
TEST(LinkTest, WorkerCommunicationIsNoCallerAndLaunchedByItsC10dCall) {
  FakeEt et;
  CommArgs& call =
      et.Comm(et.Op(10, 2, "c10d::allreduce_", "[[[5,6,0,4,4,\"cpu\"]],\"<Object>\"]"));
  call.op = "allreduce";
  call.in_bytes = 16;
  et.Op(11, 2, "aten::mul");
  EtOp& gloo = et.Op(12, 11, "gloo:all_reduce", "[[5,6,0,4,4,\"cpu\"]]");
  gloo.scope = 7;
  CommArgs& args = et.Comm(gloo);
  args.op = "all_reduce";
  args.in_bytes = 16;
  et.Op(13, 12, "aten::add");
  FakeKineto fake;
  fake.Host(1, "c10d::allreduce_", 0, 10).rf_id = 10;
  fake.Host(1, "aten::mul", 20, 100).rf_id = 11;
  fake.Mark(9, "gloo:all_reduce", 15, 60).rf_id = 12;
  fake.Host(1, "aten::add", 130, 10).rf_id = 13;
  KinetoTrace kineto = fake.Take();
  ASSERT_OK_AND_ASSIGN(const RankTrace rank,
                       LinkRank(&et.et(), et.ledger(), &kineto, fake.ledger(), kNoRank, nullptr));
  EXPECT_TRUE(HasEdge(rank, "gloo:all_reduce", "c10d::allreduce_", EdgeKind::kLaunch));
  EXPECT_FALSE(HasEdge(rank, "gloo:all_reduce", "aten::mul", EdgeKind::kControl));
  EXPECT_FALSE(HasEdge(rank, "aten::add", "gloo:all_reduce", EdgeKind::kControl));
  EXPECT_TRUE(
      HasEdge(rank, "aten::add", "[pytorch|profiler|execution_graph|thread]", EdgeKind::kControl));
  const uint32_t node = FindNode(rank, "gloo:all_reduce");
  EXPECT_EQ(rank.type[node], NodeType::kCommColl);
  EXPECT_EQ(rank.CommOf(node)->bytes, 16);
  EXPECT_EQ(rank.queues[rank.queue[node]].raw_id, 9);
}

TEST(LinkTest, AnExecutionTraceAloneKeepsItsCommunicationWithoutTimes) {
  FakeEt et;
  CommArgs& call = et.Comm(et.Op(10, 2, "c10d::allreduce_"));
  call.op = "allreduce";
  CommArgs& record = et.Comm(et.Op(11, 10, "record_param_comms"));
  record.op = "allreduce";
  record.in_bytes = 4096;
  record.sequence = 7;
  CommArgs& mark = et.Comm(et.Op(12, 11, "nccl:all_reduce"));
  mark.op = "all_reduce";
  et.Op(13, 2, "aten::mul");
  CommArgs& wait = et.Comm(et.Op(14, 2, "record_param_comms"));
  wait.op = "wait";
  wait.sequence = 7;
  ASSERT_OK_AND_ASSIGN(const RankTrace rank,
                       LinkRank(&et.et(), et.ledger(), nullptr, nullptr, kNoRank, nullptr));
  ASSERT_EQ(rank.comm.size(), 1u);
  const uint32_t node = FindNode(rank, "record_param_comms");
  EXPECT_EQ(rank.id[node], 11u);
  EXPECT_EQ(rank.type[node], NodeType::kCommColl);
  EXPECT_EQ(rank.CommOf(node)->bytes, 4096);
  EXPECT_EQ(rank.start_ns[node], kUnknownNs);
  EXPECT_TRUE(HasEdge(rank, "record_param_comms", "c10d::allreduce_", EdgeKind::kLaunch));
  EXPECT_TRUE(HasEdge(rank, "aten::mul", "nccl:all_reduce", EdgeKind::kThreadOrder));
  const uint32_t waits = node + 3;
  ASSERT_EQ(rank.id[waits], 14u);
  bool waits_for_it = false;
  for (uint32_t j = rank.dep_begin[waits]; j < rank.dep_begin[waits + 1]; ++j) {
    waits_for_it |= rank.dep_node[j] == node && rank.dep_kind[j] == EdgeKind::kSync;
  }
  EXPECT_TRUE(waits_for_it);
}

TEST(LinkTest, AParentCycleIsRefusedWithItsNodes) {
  FakeEt et;
  et.Op(3, 5, "aten::a").byte_offset = 300;
  et.Op(4, 3, "aten::b");
  et.Op(5, 4, "aten::c");
  EXPECT_THAT(LinkRank(&et.et(), et.ledger(), nullptr, nullptr, kNoRank, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "byte offset 300: dependency cycle: node 3 (aten::a) -control-> node 5 "
                       "(aten::c) -control-> node 4 (aten::b) -control-> node 3 (aten::a)"));
}

TEST(LinkTest, AHundredThousandNestedCallsLink) {
  FakeEt et;
  constexpr uint64_t kLevels = 100000;
  for (uint64_t i = 0; i < kLevels; ++i) et.Op(3 + i, 2 + i, "deep");
  ASSERT_OK_AND_ASSIGN(const RankTrace rank,
                       LinkRank(&et.et(), et.ledger(), nullptr, nullptr, kNoRank, nullptr));
  EXPECT_EQ(rank.size(), kLevels + 2);
  EXPECT_THAT(CheckAcyclic(rank), IsOk());
}

TEST(LinkTest, TwoFilesOfDifferentRanksAreRefused) {
  FakeEt et;
  et.et().rank = 1;
  FakeKineto fake;
  fake.trace().rank = 2;
  KinetoTrace kineto = fake.Take();
  EXPECT_THAT(LinkRank(&et.et(), et.ledger(), &kineto, fake.ledger(), kNoRank, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "rank: the execution trace says 1, the Kineto file says 2"));
}

}  // namespace
}  // namespace chakrad
