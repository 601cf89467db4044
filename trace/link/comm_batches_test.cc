#include "trace/link/comm_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "common/status_matchers.h"
#include "trace/check/cycles.h"
#include "trace/link/fake_traces.h"
#include "trace/link/link.h"
#include "trace/link/reference_replay.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class BatchTest : public ::testing::Test {
 protected:
  void P2p(const char* name, const char* op, int64_t start_us, int64_t peer, int64_t bytes) {
    KinetoEvent& call = kineto_.Host(1, name, start_us, 4);
    CommArgs& args = kineto_.Comm(call);
    args.op = op;
    args.peer = peer;
    args.in_bytes = args.out_bytes = bytes;
  }
  absl::StatusOr<RankTrace> Link() {
    trace_ = kineto_.Take();
    absl::StatusOr<RankTrace> rank =
        LinkRank(nullptr, nullptr, &trace_, kineto_.ledger(), 0, nullptr);
    if (rank.ok()) {
      EXPECT_THAT(CheckAcyclic(*rank), IsOk());
      EXPECT_TRUE(kineto_.ledger()->Balanced());
    }
    return rank;
  }

  FakeKineto kineto_;
  KinetoTrace trace_;
};

// thread    [mm][send][recv]  |end of the group|       [mm2]
// stream 7   [gemm ]                                     [gemm2]
// stream 20                      [SendRecv       ][next]
TEST_F(BatchTest, SendsAndReceivesOfOneKernelAreNodesOfItsTimesAndItIsTheirEnd) {
  kineto_.Host(1, "aten::mm", 0, 8);
  kineto_.Call(1, "cudaLaunchKernel", 2, 1, 1);
  kineto_.Kernel(7, "gemm", 5, 20, 1);
  P2p("c10d::send", "send", 10, 1, 1024);
  P2p("c10d::recv_", "recv", 20, 3, 512);
  kineto_.Mark(1, "nccl:coalesced", 30, 8);
  kineto_.Call(1, "cudaLaunchKernelExC", 32, 2, 2);
  kineto_.Kernel(20, "ncclDevKernel_SendRecv()", 40, 30, 2);
  kineto_.Host(1, "aten::add", 50, 8);
  kineto_.Call(1, "cudaLaunchKernel", 52, 1, 3);
  kineto_.Kernel(20, "next", 75, 5, 3);
  ASSERT_OK_AND_ASSIGN(const RankTrace rank, Link());
  ASSERT_THAT(rank.comm, SizeIs(2));
  const uint32_t send = FindNode(rank, "c10d::send"), recv = FindNode(rank, "c10d::recv_");
  EXPECT_EQ(rank.type[send], NodeType::kCommSend);
  EXPECT_EQ(rank.type[recv], NodeType::kCommRecv);
  EXPECT_EQ(rank.CommOf(send)->peer, 1);
  EXPECT_EQ(rank.CommOf(send)->bytes, 1024);
  EXPECT_EQ(rank.CommOf(recv)->peer, 3);
  EXPECT_EQ(rank.CommOf(recv)->bytes, 512);
  for (const uint32_t node : {send, recv}) {
    EXPECT_EQ(rank.start_ns[node], 40 * kUs);
    EXPECT_EQ(rank.dur_ns[node], 30 * kUs);
    EXPECT_EQ(rank.work_ns[node], 30 * kUs);
  }
  const uint32_t kernel = FindNode(rank, "ncclDevKernel_SendRecv()");
  EXPECT_EQ(rank.type[kernel], NodeType::kMetadata);
  EXPECT_EQ(rank.start_ns[kernel], 70 * kUs);
  EXPECT_TRUE(HasEdge(rank, "ncclDevKernel_SendRecv()", "c10d::send", EdgeKind::kStreamOrder));
  EXPECT_TRUE(HasEdge(rank, "ncclDevKernel_SendRecv()", "c10d::recv_", EdgeKind::kStreamOrder));
  EXPECT_TRUE(HasEdge(rank, "next", "ncclDevKernel_SendRecv()", EdgeKind::kStreamOrder));
  // Like any communication kernel, they wait for the compute launched before.
  EXPECT_TRUE(HasEdge(rank, "c10d::send", "gemm", EdgeKind::kSync));
  EXPECT_TRUE(HasEdge(rank, "c10d::recv_", "gemm", EdgeKind::kSync));
  // Neither waits for the other: both sides may send first.
  EXPECT_FALSE(HasEdge(rank, "c10d::recv_", "c10d::send", EdgeKind::kStreamOrder));
  EXPECT_FALSE(HasEdge(rank, "c10d::send", "c10d::recv_", EdgeKind::kStreamOrder));
  EXPECT_EQ(ReplayRecorded(rank).span_ns, RecordedSpanNs(rank));
  for (const std::string& notice : kineto_.ledger()->notices) {
    EXPECT_EQ(notice.find("kind"), std::string::npos) << notice;
    EXPECT_EQ(notice.find("no operation of their own"), std::string::npos) << notice;
  }
}

TEST_F(BatchTest, AKernelOfOneBatchedCallIsThatCall) {
  P2p("c10d::recv_", "recv", 20, 3, 512);
  kineto_.Mark(1, "nccl:coalesced", 30, 8);
  kineto_.Call(1, "cudaLaunchKernelExC", 32, 2, 2);
  kineto_.Kernel(20, "ncclDevKernel_SendRecv()", 40, 30, 2);
  ASSERT_OK_AND_ASSIGN(const RankTrace rank, Link());
  ASSERT_THAT(rank.comm, SizeIs(1));
  const uint32_t kernel = FindNode(rank, "ncclDevKernel_SendRecv()");
  EXPECT_EQ(rank.type[kernel], NodeType::kCommRecv);
  EXPECT_EQ(rank.CommOf(kernel)->peer, 3);
  EXPECT_EQ(rank.start_ns[kernel], 40 * kUs);
  EXPECT_EQ(rank.type[FindNode(rank, "c10d::recv_")], NodeType::kComp);  // The call, on its thread.
}

TEST_F(BatchTest, EachKernelTakesTheCallsSinceTheOneBefore) {
  for (const int64_t at : {0, 100}) {
    P2p(at == 0 ? "c10d::send" : "c10d::isend", "send", at + 10, 1, 8);
    P2p(at == 0 ? "c10d::recv_" : "c10d::irecv", "recv", at + 20, 1, 8);
    kineto_.Call(1, "cudaLaunchKernelExC", at + 32, 2, at + 2);
    kineto_.Kernel(20, at == 0 ? "ncclDevKernel_SendRecv(1)" : "ncclDevKernel_SendRecv(2)", at + 40,
                   30, at + 2);
  }
  ASSERT_OK_AND_ASSIGN(const RankTrace rank, Link());
  EXPECT_THAT(rank.comm, SizeIs(4));
  EXPECT_TRUE(HasEdge(rank, "ncclDevKernel_SendRecv(1)", "c10d::send", EdgeKind::kStreamOrder));
  EXPECT_TRUE(HasEdge(rank, "ncclDevKernel_SendRecv(2)", "c10d::isend", EdgeKind::kStreamOrder));
  EXPECT_TRUE(HasEdge(rank, "c10d::isend", "ncclDevKernel_SendRecv(1)", EdgeKind::kStreamOrder));
}

TEST(FindBatchesTest, CallsOfOtherThreadsAndLaterOnesAreNotTaken) {
  KinetoTrace kineto;
  kineto.queues = {{Queue::Kind::kHostThread, -1, 1}};
  kineto.events.push_back(KinetoEvent());
  LinkGraph graph;
  graph.kineto = &kineto;
  FindOrAddQueue(&graph, kineto.queues[0]);
  FindOrAddQueue(&graph, {Queue::Kind::kHostThread, -1, 2});
  graph.nodes.resize(5);
  for (uint32_t i = 0; i < 5; ++i) {
    graph.nodes[i].queue = i == 1 ? 1 : 0;
    graph.nodes[i].start_ns = graph.nodes[i].order_ns = i;
    graph.nodes[i].dur_ns = 1;
  }
  graph.nodes[3].launch_event = 0;
  graph.nodes[3].launch_ns = 3;
  const auto batches = FindBatches(graph, {3}, {4, 2, 1, 0});
  ASSERT_THAT(batches, SizeIs(1));
  EXPECT_THAT(batches.at(3), ElementsAre(0, 2));
  graph.nodes[3].launch_event = kNone;
  EXPECT_THAT(FindBatches(graph, {3}, {0}), IsEmpty());
}

}  // namespace
}  // namespace chakrad
