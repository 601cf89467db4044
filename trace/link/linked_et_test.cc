#include "trace/link/linked_et.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_matchers.h"
#include "trace/check/cycles.h"
#include "trace/link/fake_traces.h"
#include "trace/link/link.h"
#include "trace/link/reference_replay.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/testing/sources.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr absl::string_view kRoots =
    R"({"id":0,"name":"[pytorch|profiler|execution_trace|process]","ctrl_deps":0,"attrs":[]},)"
    R"({"id":1,"name":"[pytorch|profiler|execution_trace|thread]","ctrl_deps":0,"attrs":[)"
    R"({"name":"tid","type":"uint64","value":1}]})";

// A host operation of thread `tid`; `more` fields follow.
std::string Host(int id, int parent, absl::string_view name, absl::string_view times,
                 absl::string_view more = "", int tid = 1) {
  return absl::StrCat(R"({"id":)", id, R"(,"name":")", name, R"(","ctrl_deps":)", parent,
                      R"(,"attrs":[{"name":"tid","type":"uint64","value":)", tid, "}]", times, more,
                      "}");
}
std::string Device(int id, int parent, absl::string_view name, absl::string_view cat, int stream,
                   absl::string_view times, absl::string_view more = "") {
  return absl::StrCat(R"({"id":)", id, R"(,"name":")", name, R"(","ctrl_deps":)", parent,
                      R"(,"attrs":[])", times, R"(,"cat":")", cat, R"(","ph":"X","stream":)",
                      stream, more, "}");
}
// In microseconds.
std::string At(absl::string_view ts, absl::string_view dur) {
  return absl::StrCat(R"(,"ts":)", ts, R"(,"inclusive_dur":)", dur, R"(,"exclusive_dur":)", dur);
}
std::string At(int64_t ts, int64_t dur) { return At(absl::StrCat(ts), absl::StrCat(dur)); }

struct Linked {
  RankTrace rank;
  Ledger ledger;
};

absl::StatusOr<Linked> Link(const std::vector<std::string>& nodes, bool lenient = false) {
  const std::string text = absl::StrCat(R"({"schema":"1.1.1-chakra.0.0.4","nodes":[)", kRoots, ",",
                                        absl::StrJoin(nodes, ","), "]}");
  const auto source = OpenMemorySource(text);
  Linked linked;
  ReadOptions options;
  options.lenient = lenient;
  absl::StatusOr<PyTorchEt> et = ReadPyTorchEt(source.get(), options, &linked.ledger);
  if (!et.ok()) return et.status();
  absl::StatusOr<RankTrace> rank =
      LinkRank(&*et, &linked.ledger, nullptr, nullptr, kNoRank, nullptr);
  if (!rank.ok()) return rank.status();
  EXPECT_TRUE(linked.ledger.Balanced());
  EXPECT_THAT(CheckAcyclic(*rank), IsOk());
  linked.rank = *std::move(rank);
  return linked;
}

// thread   [mm        ]      [copy]
// stream 7      [gemm  ][cat][d2h]
TEST(LinkedEtTest, DeviceOperationsKeepTheirTimesAndIdsAndFollowTheirStream) {
  ASSERT_OK_AND_ASSIGN(
      const Linked linked,
      Link({Host(2, 1, "aten::mm", At("10", "4.25")),
            Device(3, 2, "gemm", "kernel", 7, At("14.5", "6.001")),
            Device(4, 2, "fill", "gpu_memset", 7, At(21, 2)), Host(5, 1, "aten::copy_", At(22, 1)),
            Device(6, 5, "Memcpy DtoH", "gpu_memcpy", 7, At(23, 4))}));
  const RankTrace& rank = linked.rank;
  const uint32_t gemm = FindNode(rank, "gemm");
  EXPECT_EQ(rank.id[gemm], 3u);
  EXPECT_EQ(rank.start_ns[gemm], 14'500);
  EXPECT_EQ(rank.dur_ns[gemm], 6'001);
  EXPECT_EQ(rank.work_ns[gemm], 6'001);
  EXPECT_EQ(rank.type[gemm], NodeType::kComp);
  EXPECT_EQ(rank.queues[rank.queue[gemm]], (Queue{Queue::Kind::kDeviceStream, 0, 7}));
  EXPECT_EQ(rank.type[FindNode(rank, "fill")], NodeType::kMemStore);
  EXPECT_EQ(rank.type[FindNode(rank, "Memcpy DtoH")], NodeType::kMemStore);
  EXPECT_EQ(rank.start_ns[FindNode(rank, "aten::mm")], 10'000);
  EXPECT_EQ(rank.dur_ns[FindNode(rank, "aten::mm")], 4'250);
  EXPECT_TRUE(HasEdge(rank, "gemm", "aten::mm", EdgeKind::kLaunch));
  EXPECT_TRUE(HasEdge(rank, "fill", "gemm", EdgeKind::kStreamOrder));
  EXPECT_TRUE(HasEdge(rank, "Memcpy DtoH", "fill", EdgeKind::kStreamOrder));
  EXPECT_TRUE(HasEdge(rank, "Memcpy DtoH", "aten::copy_", EdgeKind::kLaunch));
  EXPECT_TRUE(HasEdge(rank, "aten::copy_", "aten::mm", EdgeKind::kThreadOrder));
  EXPECT_EQ(ReplayRecorded(rank).span_ns, RecordedSpanNs(rank));
  EXPECT_THAT(linked.ledger.notices, ElementsAre(HasSubstr("5 of 7 nodes have times, 3 of them")));
}

TEST(LinkedEtTest, TimesOfAnEpochAreExactToTheNanosecond) {
  ASSERT_OK_AND_ASSIGN(const Linked linked,
                       Link({Host(2, 1, "a", At("1700000000000000.125", "5")),
                             Device(3, 2, "k", "kernel", 7, At("1700000000000003.126", "0.9"))}));
  EXPECT_EQ(linked.rank.base_unix_ns, 1'700'000'000'000'000'125);
  EXPECT_EQ(linked.rank.start_ns[FindNode(linked.rank, "a")], 0);
  EXPECT_EQ(linked.rank.start_ns[FindNode(linked.rank, "k")], 3'001);
  EXPECT_EQ(linked.rank.dur_ns[FindNode(linked.rank, "k")], 900);
}

// The linker put a wait for the copy at 31 on an operation at 10: with the
// stream's order and the launch that is a cycle.
TEST(LinkedEtTest, WaitsThatPointBackInTimeAreDroppedAndListed) {
  ASSERT_OK_AND_ASSIGN(const Linked linked,
                       Link({Host(2, 1, "aten::mm", At(10, 5), R"(,"sync_dep":[5])"),
                             Device(3, 2, "gemm", "kernel", 7, At(16, 4)),
                             Host(4, 1, "aten::item", At(30, 5), R"(,"sync_dep":[3])"),
                             Device(5, 4, "memcpy_d2h", "gpu_memcpy", 7, At(31, 2))}));
  EXPECT_TRUE(HasEdge(linked.rank, "aten::item", "gemm", EdgeKind::kSync));
  EXPECT_FALSE(HasEdge(linked.rank, "aten::mm", "memcpy_d2h", EdgeKind::kSync));
  EXPECT_EQ(linked.ledger.flaws_by_rule.at("linked_sync_backwards"), 1);
  ASSERT_THAT(linked.ledger.flaws, SizeIs(1));
  EXPECT_THAT(linked.ledger.flaws[0].reason,
              HasSubstr("node 2 (aten::mm) sync_dep on node 5 (memcpy_d2h)"));
  EXPECT_THAT(linked.ledger.notices[0], HasSubstr("of 2 waits that the linker recorded, 1"));
}

// thread   [item            ][next]
// stream 7    [gemm    ]
TEST(LinkedEtTest, AWaitThatEndedInsideAnOperationHoldsUpTheNext) {
  ASSERT_OK_AND_ASSIGN(
      const Linked linked,
      Link({Host(2, 1, "mm", At(10, 5)), Device(3, 2, "gemm", "kernel", 7, At(16, 14)),
            Host(4, 1, "item", At(20, 12), R"(,"sync_dep":[3])"), Host(5, 1, "next", At(33, 2))}));
  EXPECT_FALSE(HasEdge(linked.rank, "item", "gemm", EdgeKind::kSync));
  EXPECT_TRUE(HasEdge(linked.rank, "next", "gemm", EdgeKind::kSync));
  EXPECT_TRUE(linked.ledger.flaws.empty());
  EXPECT_EQ(ReplayRecorded(linked.rank).span_ns, RecordedSpanNs(linked.rank));
}

TEST(LinkedEtTest, AnotherThreadIsAwaitedOnceForARowOfOperations) {
  ASSERT_OK_AND_ASSIGN(
      const Linked linked,
      Link({Host(2, 1, "forward", At(10, 5)),
            Host(3, 1, "backward1", At(30, 1), R"(,"inter_thread_dep":2)", /*tid=*/2),
            Host(4, 1, "backward2", At(32, 1), R"(,"inter_thread_dep":2)", /*tid=*/2),
            Host(5, 1, "backward3", At(34, 1), R"(,"inter_thread_dep":6)", /*tid=*/2),
            Host(6, 1, "long", At(31, 9))}));
  EXPECT_TRUE(HasEdge(linked.rank, "backward1", "forward", EdgeKind::kSync));
  EXPECT_FALSE(HasEdge(linked.rank, "backward2", "forward", EdgeKind::kSync));
  // It starts earlier and ends later: nothing can have waited for its end.
  EXPECT_FALSE(HasEdge(linked.rank, "backward3", "long", EdgeKind::kSync));
  EXPECT_EQ(linked.ledger.flaws_by_rule.at("linked_sync_backwards"), 1);
}

TEST(LinkedEtTest, ABroadcastWithoutAnyDependentStays) {
  ASSERT_OK_AND_ASSIGN(
      const Linked linked,
      Link({Host(2, 1, "c10d::broadcast_", At(10, 9)),
            Host(3, 2, "nccl:broadcast", At(12, 6),
                 R"(,"inputs":{"values":[[7,107,0,1024,4,"cuda:0"]],"shapes":[[1024]],)"
                 R"j("types":["Tensor(float)"]})j"),
            Device(4, 3, "ncclDevKernel_Broadcast_RING_LL()", "kernel", 20, At(30, 20),
                   R"(,"pg_name":"tp")")}));
  const uint32_t node = FindNode(linked.rank, "ncclDevKernel_Broadcast_RING_LL()");
  const CommOp* comm = linked.rank.CommOf(node);
  ASSERT_NE(comm, nullptr);
  EXPECT_EQ(linked.rank.type[node], NodeType::kCommColl);
  EXPECT_EQ(comm->collective, CollectiveType::kBroadcast);
  EXPECT_EQ(comm->bytes, 4096);
  EXPECT_EQ(linked.rank.groups[comm->group].name, "tp");
  EXPECT_THAT(linked.rank.comm, SizeIs(1));  // The host's calls are this one.
}

TEST(LinkedEtTest, OneKernelNameStandsForSendReceiveAndAllToAll) {
  const auto call = [](int id, absl::string_view outer, absl::string_view mark, int elements,
                       int64_t at) {
    return absl::StrCat(
        Host(id, 1, outer, At(at, 3)), ",",
        Host(id + 1, id, mark, At(at + 1, 2),
             absl::StrCat(R"(,"inputs":{"values":[[7,107,0,)", elements,
                          R"j(,4,"cuda:0"]],"shapes":[[9]],"types":["Tensor(float)"]})j")),
        ",", Device(id + 2, id + 1, "ncclDevKernel_SendRecv()", "kernel", id, At(at + 10, 8)));
  };
  ASSERT_OK_AND_ASSIGN(const Linked linked,
                       Link({call(2, "c10d::send", "nccl:send 0->1", 256, 10),
                             call(5, "c10d::recv_", "nccl:recv 0<-1", 128, 40),
                             call(8, "c10d::alltoall_base_", "nccl:all_to_all", 512, 70)}));
  const RankTrace& rank = linked.rank;
  ASSERT_THAT(rank.comm, SizeIs(3));
  std::vector<NodeType> types;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (rank.CommOf(node) != nullptr) types.push_back(rank.type[node]);
  }
  EXPECT_THAT(types, ElementsAre(NodeType::kCommSend, NodeType::kCommRecv, NodeType::kCommColl));
  EXPECT_EQ(rank.comm[0].peer, 1);
  EXPECT_EQ(rank.comm[0].bytes, 1024);
  EXPECT_EQ(rank.comm[1].peer, 1);
  EXPECT_EQ(rank.comm[1].bytes, 512);
  EXPECT_EQ(rank.comm[2].collective, CollectiveType::kAllToAll);
  EXPECT_EQ(rank.comm[2].bytes, 2048);
}

TEST(LinkedEtTest, ADeviceOperationWhoseParentHasNoTimesIsStillItsWork) {
  ASSERT_OK_AND_ASSIGN(const Linked linked, Link({Host(2, 1, "aten::mm", ""),
                                                  Device(3, 2, "gemm", "kernel", 7, At(16, 4))}));
  EXPECT_TRUE(HasEdge(linked.rank, "gemm", "aten::mm", EdgeKind::kLaunch));
}

// Node k lies in node k-1; written innermost first as well.
TEST(LinkedEtTest, AHundredThousandLevelsAreLinked) {
  constexpr int kDepth = 100'000;
  for (const bool reversed : {false, true}) {
    std::vector<std::string> nodes;
    for (int k = 0; k < kDepth; ++k) {
      nodes.push_back(Host(k + 2, k + 1, "f", At(k, 2 * kDepth - 2 * k)));
    }
    if (reversed) std::reverse(nodes.begin(), nodes.end());
    ASSERT_OK_AND_ASSIGN(const Linked linked, Link(nodes));
    EXPECT_EQ(linked.rank.size(), kDepth + 2u);
  }
}

TEST(LinkedEtTest, FaultyFieldsAreNamedOrRejected) {
  const std::string good = Host(2, 1, "a", At(10, 5));
  const std::pair<std::string, const char*> cases[] = {
      {Host(3, 1, "b", R"(,"ts":10)"), "ts: without inclusive_dur"},
      {Host(3, 1, "b", R"(,"inclusive_dur":10)"), "inclusive_dur: without ts"},
      {Host(3, 1, "b", At("-1", "5")), "ts: -1 is not a time"},
      {Host(3, 1, "b", At("1", "-5")), "inclusive_dur: -5 is not a time"},
      {Host(3, 1, "b", At("\"x\"", "5")), "ts: x is not a time"},
      {Host(3, 1, "b", At("1e40", "5")), "ts: 1e40 is not a time"},
      {Host(3, 1, "b", At("1", "1e13")), "inclusive_dur: 1e13 is not below 90 days"},
      {Device(3, 2, "k", "kernel", 7, ""), "a device operation (cat kernel) needs a time"},
      {Device(3, 2, "k", "kernel", 7, At(0, 0)), "needs a time after 0"},
      {Host(3, 1, "b", At(20, 1), R"(,"sync_dep":7)"), "sync_dep: 7 is not a list"},
      {Host(3, 1, "b", At(20, 1), R"(,"sync_dep":["x"])"), "is no id"},
      {Host(3, 1, "b", At(20, 1), R"(,"inter_thread_dep":-4)"), "-4 is no id"},
  };
  for (const auto& [node, part] : cases) {
    EXPECT_THAT(Link({good, node}), StatusIs(kInvalid, part));
    ASSERT_OK_AND_ASSIGN(const Linked linked, Link({good, node}, /*lenient=*/true));
    EXPECT_EQ(linked.ledger.rejected_by_rule.at("bad_node"), 1) << part;
  }
}

TEST(LinkedEtTest, AWaitForANodeThatIsNotThereIsDroppedWhenLenient) {
  const std::vector<std::string> nodes = {Host(2, 1, "a", At(10, 5), R"(,"sync_dep":[99])")};
  EXPECT_THAT(Link(nodes), StatusIs(kInvalid, "sync_dep: node 99 is not in the file"));
  ASSERT_OK_AND_ASSIGN(const Linked linked, Link(nodes, /*lenient=*/true));
  EXPECT_EQ(linked.ledger.flaws_by_rule.at("missing_dependency"), 1);
}

TEST(LinkedEtTest, ALinkedFileBesideAProfileIsRefused) {
  FakeEt fake;
  EtOp& op = fake.Op(3, 2, "aten::mm");
  (void)op;
  fake.et().linked.push_back({2, EtDevice::kNone, 0, 10, 5});
  FakeKineto kineto;
  kineto.Host(1, "aten::mm", 0, 10);
  KinetoTrace trace = kineto.Take();
  EXPECT_THAT(LinkRank(&fake.et(), fake.ledger(), &trace, kineto.ledger(), 0, nullptr),
              StatusIs(kInvalid, "leave the Kineto file out"));
}

// Whatever waits are recorded, the result has no cycle and lists what it dropped.
TEST(LinkedEtTest, RandomWaitsNeverMakeACycle) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int count = 3 + static_cast<int>(random() % 30);
    std::vector<std::string> nodes;
    int64_t deps = 0;
    for (int id = 2; id < count + 2; ++id) {
      const int64_t at = 1 + random() % 40, dur = random() % 20;
      std::string more;
      if (random() % 2 == 0) {
        more = absl::StrCat(R"(,"sync_dep":[)", 2 + random() % count, ",", 2 + random() % count,
                            R"(],"inter_thread_dep":)", 2 + random() % count);
        deps += 3;
      }
      const int parent = 1 + static_cast<int>(random() % (id - 1));
      nodes.push_back(random() % 2 == 0
                          ? Host(id, parent, "h", At(at, dur), more, 1 + random() % 2)
                          : Device(id, parent, "k", "kernel", random() % 3, At(at, dur), more));
    }
    SCOPED_TRACE(seed);
    ASSERT_OK_AND_ASSIGN(const Linked linked, Link(nodes));  // Checks for cycles.
    const auto flaws = linked.ledger.flaws_by_rule.find("linked_sync_backwards");
    const int64_t dropped = flaws == linked.ledger.flaws_by_rule.end() ? 0 : flaws->second;
    EXPECT_LE(dropped, deps) << seed;
    EXPECT_GE(ReplayRecorded(linked.rank).span_ns, 0) << seed;
  }
}

}  // namespace
}  // namespace chakrad
