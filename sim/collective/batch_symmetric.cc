#include "sim/collective/batch_symmetric.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>

#include "common/check.h"
#include "sim/collective/steps.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

using Int128 = __int128;

int64_t Cut(Int128 ps) { return ps < kHorizonPs ? static_cast<int64_t>(ps) : kHorizonPs; }

// With all in step, a port is free again before the next message is there.
int64_t RingPs(const CollectivePhase& phase, const SymmetricCosts& costs) {
  const bool reduces = phase.op == PhaseOp::kReduceScatter || phase.op == PhaseOp::kAllReduce;
  const int64_t step_ps = phase.endpoint_delay_ps + costs.delay_ps(0, phase.message_bytes);
  Int128 total = Int128{phase.endpoint_delay_ps} + Int128{phase.sends_count} * step_ps;
  if (reduces) total += Int128{phase.places_count - 1} * costs.reduce_ps(phase.message_bytes);
  return Cut(total);
}

int64_t HalvingDoublingPs(const CollectivePhase& phase, const SymmetricCosts& costs) {
  Int128 total = phase.endpoint_delay_ps;
  for (int64_t step = 0; step < phase.sends_count; ++step) {
    const PairStep what = PairStepAt(phase, 0, step, 1);
    total += Int128{costs.delay_ps(step, what.bytes)} + phase.endpoint_delay_ps +
             costs.reduce_ps(what.reduce_bytes);
  }
  return Cut(total);
}

// One place of a direct phase: message k that it sends takes as long as message k that it waits
// for. The order of equal times is that of CollectiveEngine: first come, first served.
class DirectPlace {
 public:
  DirectPlace(const CollectivePhase& phase, const SymmetricCosts& costs)
      : phase_(phase), costs_(costs), peers_count_(phase.places_count - 1) {}

  int64_t Run() {
    now_ps_ = phase_.endpoint_delay_ps;
    for (int32_t i = 0; i < phase_.window && !over_; ++i) Ready();
    while (!over_) {
      const Event event = events_.top();
      events_.pop();
      now_ps_ = event.at_ps;
      if (now_ps_ >= kHorizonPs) return kHorizonPs;
      event.is_arrival ? Receive() : Ready();
    }
    return std::max(now_ps_, port_free_ps_);
  }

 private:
  struct Event {
    int64_t at_ps;
    int64_t seq;
    bool is_arrival;
    bool operator>(const Event& other) const {
      return std::tie(at_ps, seq) > std::tie(other.at_ps, other.seq);
    }
  };

  void Push(int64_t at_ps, bool is_arrival) {
    events_.push({std::min(at_ps, kHorizonPs), next_seq_++, is_arrival});
  }
  void Receive() {
    const bool reduces = DirectReceiptReduces(phase_, received_++);
    Push(
        now_ps_ + phase_.endpoint_delay_ps + (reduces ? costs_.reduce_ps(phase_.message_bytes) : 0),
        false);
  }
  void Ready() {
    ++ready_;
    if (phase_.op == PhaseOp::kAllReduce && sent_ >= peers_count_) {
      if (received_ < peers_count_) return;
      for (int32_t i = 0; i < phase_.window && ready_ > sent_; ++i) Send();
    } else {
      Send();
    }
    over_ = sent_ == phase_.sends_count && ready_ - sent_ == phase_.window;
  }
  void Send() {
    if (sent_ == phase_.sends_count || ready_ == sent_) return;
    const int64_t hop = sent_++ % peers_count_;
    const int64_t leaves_ps = std::max(now_ps_, port_free_ps_);
    port_free_ps_ = std::min(leaves_ps + costs_.port_ps(hop, phase_.message_bytes), kHorizonPs);
    Push(leaves_ps + costs_.delay_ps(hop, phase_.message_bytes), true);
  }

  const CollectivePhase& phase_;
  const SymmetricCosts& costs_;
  const int64_t peers_count_;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;
  int64_t next_seq_ = 0;
  int64_t now_ps_ = 0;
  int64_t port_free_ps_ = 0;
  int64_t sent_ = 0, received_ = 0, ready_ = 0;
  bool over_ = false;
};

// The lanes of one member: which chunk starts when.
class Pipeline {
 public:
  Pipeline(const CollectivePlan& plan, const std::vector<int64_t>& phase_ps)
      : plan_(plan), phase_ps_(phase_ps), lanes_(plan.lanes_count) {}

  int64_t Run() {
    for (int32_t chunk = 0; chunk < plan_.chunks_count; ++chunk) List(0, chunk);
    for (int32_t lane = 0; lane < plan_.lanes_count; ++lane) StartWaiting(lane);
    while (!done_.empty()) {
      const Done done = done_.top();
      done_.pop();
      now_ps_ = std::get<0>(done);
      const int32_t phase = std::get<2>(done), chunk = std::get<3>(done);
      const int32_t lane = LaneOf(phase, chunk);
      --lanes_[lane].running_count;
      if (phase + 1 < static_cast<int32_t>(plan_.phases.size())) {
        List(phase + 1, chunk);
        StartWaiting(LaneOf(phase + 1, chunk));
      }
      StartWaiting(lane);
    }
    return now_ps_;
  }

 private:
  struct Lane {
    std::deque<std::pair<int32_t, int32_t>> waiting;  // (phase, chunk).
    int32_t running_count = 0;
  };
  using Done = std::tuple<int64_t, int64_t, int32_t, int32_t>;  // At, seq, phase, chunk.

  int32_t LaneOf(int32_t phase, int32_t chunk) const {
    return plan_.phases[phase].first_lane + chunk % plan_.phases[phase].lanes_count;
  }
  void List(int32_t phase, int32_t chunk) {
    lanes_[LaneOf(phase, chunk)].waiting.emplace_back(phase, chunk);
  }
  void StartWaiting(int32_t index) {
    Lane& lane = lanes_[index];
    while (lane.running_count < plan_.lane_chunks_count && !lane.waiting.empty()) {
      const auto [phase, chunk] = lane.waiting.front();
      lane.waiting.pop_front();
      ++lane.running_count;
      done_.emplace(std::min(now_ps_ + phase_ps_[phase], kHorizonPs), next_seq_++, phase, chunk);
    }
  }

  const CollectivePlan& plan_;
  const std::vector<int64_t>& phase_ps_;
  std::vector<Lane> lanes_;
  std::priority_queue<Done, std::vector<Done>, std::greater<Done>> done_;
  int64_t next_seq_ = 0;
  int64_t now_ps_ = 0;
};

}  // namespace

int64_t SymmetricPhasePs(const CollectivePhase& phase, const SymmetricCosts& costs) {
  switch (phase.algorithm) {
    case AlgorithmKind::kRing:
      return RingPs(phase, costs);
    case AlgorithmKind::kHalvingDoubling:
      return HalvingDoublingPs(phase, costs);
    case AlgorithmKind::kDirect:
      return DirectPlace(phase, costs).Run();
    case AlgorithmKind::kDoubleBinaryTree:
    case AlgorithmKind::kScript:
      break;
  }
  CHECK(false) << "not symmetric";
  return 0;
}

int64_t PipelinePs(const CollectivePlan& plan, const std::vector<int64_t>& phase_ps) {
  return Pipeline(plan, phase_ps).Run();
}

}  // namespace chakrad
