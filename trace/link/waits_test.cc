// What the rules do on whole recorded runs is in collected_test.cc.
#include "trace/link/waits.h"

#include <gtest/gtest.h>

#include <utility>

#include "trace/link/build_graph.h"
#include "trace/link/comm_calls.h"
#include "trace/link/fake_traces.h"
#include "trace/link/match_device.h"
#include "trace/link/match_host.h"
#include "trace/link/nesting.h"

namespace chakrad {
namespace {

// One thread (1) that calls c10d::allreduce_ at 0..20 us, and gloo:all_reduce
// on a worker from 20 us on. Times in microseconds.
class WaitsTest : public ::testing::Test {
 protected:
  void Comm(int64_t dur_us) {
    et_.Op(10, 2, "c10d::allreduce_", kBuffer);
    EtOp& gloo = et_.Op(11, 2, "gloo:all_reduce", kBuffer);
    gloo.scope = 7;
    kineto_.Host(1, "c10d::allreduce_", 0, 20).rf_id = 10;
    kineto_.Mark(9, "gloo:all_reduce", 20, dur_us).rf_id = 11;
  }
  void Op(absl::string_view name, int64_t start_us, int64_t dur_us, absl::string_view inputs = "") {
    et_.Op(next_id_, 2, name, inputs);
    kineto_.Host(1, name, start_us, dur_us).rf_id = static_cast<int64_t>(next_id_++);
  }
  CommWaitCounts Run() {
    trace_ = kineto_.Take();
    const HostMatch match = MatchHost(et_.et(), trace_);
    const Nesting nesting = FindNesting(trace_);
    graph_ = BuildGraph(&et_.et(), &trace_, nullptr, match, nesting, MatchDevice(trace_, nesting))
                 .value();
    FindCommCalls(&graph_);
    return AddCommWaits(&graph_);
  }
  // A second call on another buffer whose end the recorder lost.
  void LostComm(int64_t start_us) {
    et_.Op(next_id_, 2, "c10d::allreduce_", kLostBuffer);
    kineto_.Host(1, "c10d::allreduce_", start_us, 20).rf_id = static_cast<int64_t>(next_id_++);
  }
  // The name of the operation that waits for the lost one, and how long; "" when none does.
  std::pair<absl::string_view, int64_t> WaitForLost() const {
    for (const HostWait& wait : graph_.waits) {
      if (graph_.nodes[wait.awaited].timed()) continue;
      return {graph_.nodes[wait.next].name, (wait.end_ns - wait.begin_ns) / kUs};
    }
    return {"", 0};
  }
  // The name of the operation that waits; "" when none does.
  absl::string_view Waiter() const {
    return graph_.waits.empty() ? "" : graph_.nodes[graph_.waits[0].next].name;
  }
  int64_t WaitedUs() const { return (graph_.waits[0].end_ns - graph_.waits[0].begin_ns) / kUs; }

  static constexpr char kBuffer[] = "[[5,6,0,4,4,\"cpu\"]]";
  static constexpr char kLostBuffer[] = "[[7,8,0,4,4,\"cpu\"]]";
  FakeEt et_;
  FakeKineto kineto_;
  KinetoTrace trace_;
  LinkGraph graph_;
  uint64_t next_id_ = 20;
};

TEST_F(WaitsTest, ACallAfterWhichNothingStartsUntilTheEndIsBlocking) {
  Comm(500);  // 20..520.
  Op("aten::next", 530, 10);
  EXPECT_EQ(Run().blocking_count, 1);
  EXPECT_EQ(Waiter(), "aten::next");
  EXPECT_EQ(WaitedUs(), 500);
}

// |c10d| |backward 30..400|.....pause.....|next 900|
//      |gloo 20.......................880|
TEST_F(WaitsTest, ALongPauseThatEndsWithTheCommunicationIsAWait) {
  Comm(860);
  Op("aten::backward", 30, 370);
  Op("aten::next", 900, 10);
  EXPECT_EQ(Run().exposed_count, 1);
  EXPECT_EQ(Waiter(), "aten::next");
  EXPECT_EQ(WaitedUs(), 480);  // 400..880.
}

// The same with the communication ending inside backward: overlap, no wait.
TEST_F(WaitsTest, CommunicationThatEndsDuringComputeIsNotWaitedForThere) {
  Comm(300);
  Op("aten::backward", 30, 370);
  Op("aten::next", 410, 10);
  EXPECT_EQ(Run().none_count, 1);
  EXPECT_EQ(Waiter(), "");
}

// It ends by chance in one of Python's short pauses.
TEST_F(WaitsTest, AShortPauseIsNoWait) {
  Comm(385);  // Ends at 405.
  Op("aten::backward", 30, 370);
  Op("aten::next", 430, 10);
  EXPECT_EQ(Run().none_count, 1);
}

TEST_F(WaitsTest, TheFirstUseOfTheBufferWaitsEvenWhenTheEndIsLongPast) {
  Comm(300);
  Op("aten::backward", 30, 370);
  Op("aten::other", 410, 10, "[[9,9,0,4,4,\"cpu\"]]");
  Op("aten::as_strided", 500, 10, kBuffer);
  Op("aten::copy_", 520, 10, kBuffer);
  EXPECT_EQ(Run().consumer_count, 1);
  EXPECT_EQ(Waiter(), "aten::as_strided");
  EXPECT_EQ(WaitedUs(), 0);
}

// The thread wakes up late, long after the end: still one wait.
TEST_F(WaitsTest, ThePauseBeforeTheFirstUseIsAWaitHoweverLateItEnds) {
  Comm(480);  // Ends at 500.
  Op("aten::backward", 30, 370);
  Op("aten::as_strided", 4500, 10, kBuffer);
  EXPECT_EQ(Run().consumer_count, 1);
  EXPECT_EQ(WaitedUs(), 100);  // 400..500; the rest is the thread's own.
}

// The recorder notes the end after it woke the waiting thread.
TEST_F(WaitsTest, AnEndThatWasNotedLateIsTakenBack) {
  Comm(1000);  // Noted at 1020.
  Op("aten::backward", 30, 370);
  Op("aten::as_strided", 990, 10, kBuffer);
  EXPECT_EQ(Run().exposed_count, 1);
  EXPECT_EQ(Waiter(), "aten::as_strided");
  for (const LinkNode& node : graph_.nodes) {
    if (node.name == "gloo:all_reduce") {
      EXPECT_EQ(node.late_ns, 30 * kUs);
    }
  }
}

// A gradient bucket may be done before the next operation by luck: DDP does
// not wait there.
TEST_F(WaitsTest, ABucketsCallIsNeverBlocking) {
  et_.Op(9, 2, "evaluate_function: torch::autograd::AccumulateGrad");
  kineto_.Host(1, "evaluate_function: torch::autograd::AccumulateGrad", -5, 30).rf_id = 9;
  Comm(50);
  Op("aten::backward", 90, 300);
  Op("aten::as_strided", 400, 10, kBuffer);
  EXPECT_EQ(Run().consumer_count, 1);
  EXPECT_EQ(Waiter(), "aten::as_strided");
}

TEST_F(WaitsTest, WithoutBuffersTheEndOfThePhaseWaits) {
  et_.Op(9, 2, "## backward ##").scope = 7;
  kineto_.Mark(1, "## backward ##", -5, 455).rf_id = 9;
  Comm(300);
  Op("aten::backward", 30, 370);
  Op("aten::more", 420, 20);
  Op("aten::step", 500, 10);
  EXPECT_EQ(Run().mark_count, 1);
  EXPECT_EQ(Waiter(), "aten::step");
}

// |c10d| |backward| |c10d, end lost| |other|.......pause.......|as_strided 900|
TEST_F(WaitsTest, TheFirstUseOfTheBufferWaitsForCommunicationWhoseEndWasLost) {
  Comm(300);
  Op("aten::backward", 30, 370);
  LostComm(410);
  Op("aten::other", 440, 60, kBuffer);
  Op("aten::as_strided", 900, 10, kLostBuffer);
  Op("aten::copy_", 920, 10, kLostBuffer);
  const CommWaitCounts counts = Run();
  EXPECT_EQ(counts.comm_count, 1);
  EXPECT_EQ(counts.lost_count, 1);
  EXPECT_EQ(counts.none_count, 0);
  EXPECT_EQ(WaitForLost(), std::pair(absl::string_view("aten::as_strided"), int64_t{400}));
}

TEST_F(WaitsTest, AShortPauseIsNoWaitForALostOneEither) {
  Comm(300);
  Op("aten::backward", 30, 370);
  LostComm(410);
  Op("aten::other", 440, 60, kBuffer);
  Op("aten::as_strided", 600, 10, kLostBuffer);
  Run();
  EXPECT_EQ(WaitForLost(), std::pair(absl::string_view("aten::as_strided"), int64_t{0}));
}

// Nothing says that a worker thread runs it: it may be on a device's stream.
TEST_F(WaitsTest, ACallAloneIsNotWaitedFor) {
  LostComm(10);
  Op("aten::as_strided", 900, 10, kLostBuffer);
  EXPECT_EQ(Run().lost_count, 0);
  EXPECT_EQ(WaitForLost().first, "");
}

}  // namespace
}  // namespace chakrad
