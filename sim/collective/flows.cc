// The part of CollectiveEngine that moves flows: see the header for the rules.
#include <algorithm>
#include <bit>

#include "common/check.h"
#include "sim/collective/collective_engine.h"
#include "sim/collective/collective_state.h"
#include "sim/collective/steps.h"
#include "sim/engine/event_kind.h"
#include "sim/engine/semantics.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

constexpr uint32_t kFromChild = 0;
constexpr uint32_t kFromParent = 1;

}  // namespace

int32_t CollectiveEngine::RankOf(const Collective& collective, int32_t member) const {
  return collective.group->ranks.empty() ? member : collective.group->ranks[member];
}

size_t CollectiveEngine::FlowIndex(const Collective& collective, int phase, int32_t chunk,
                                   int32_t member) const {
  return collective.first_flow +
         (static_cast<size_t>(phase) * collective.plan.chunks_count + chunk) *
             collective.members_count +
         member;
}

// Two operands are read and one result is written: three passes over `bytes`. Astra cuts each
// of them to a nanosecond.
void CollectiveEngine::Push(int64_t at_ps, EventTag tag) { queue_->Push(at_ps, tag); }

void CollectiveEngine::Send(size_t index, int32_t peer, double bytes, int64_t at_ps, EventKind kind,
                            int64_t arg) {
  const Flow& flow = flows_[index];
  const Collective& collective = *collectives_[flow.slot];
  const CollectivePhase& phase = collective.plan.phases[flow.phase];
  const int32_t steps_away = peer - PlaceOf(phase, flow.member);
  const int32_t member = flow.member + steps_away * phase.stride;
  const int32_t src = RankOf(collective, flow.member), dst = RankOf(collective, member);
  const HeldSend send{flow.slot, flow.member, src,
                      dst,       bytes,       FlowTag(kind, arg, index + member - flow.member)};
  if (at_ps == queue_->now_ps()) return SendNow(send);
  // Astra: ports are free, so the network can be told beforehand.
  if (system_->semantics == Semantics::kAstra) {
    return network_->Send(at_ps, src, dst, bytes, send.arrival);
  }
  Push(at_ps, EventTag{static_cast<uint8_t>(EventKind::kSendNow), 0, held_.Put(send)});
}

void CollectiveEngine::SendNow(const HeldSend& send) {
  network_->Send(queue_->now_ps(), send.src, send.dst, send.bytes, send.arrival);
  int64_t& left_ps = collectives_[send.slot]->left_ps[send.member];
  left_ps = std::max(left_ps, network_->PortFreePs(send.src, send.dst));
}

void CollectiveEngine::Handle(const Event& event) {
  const size_t index = event.tag.target;
  if (event.tag.kind == static_cast<uint32_t>(EventKind::kSendNow)) {
    return SendNow(held_.Take(static_cast<uint32_t>(index)));
  }
  Flow& flow = flows_[index];
  switch (static_cast<EventKind>(event.tag.kind)) {
    case EventKind::kPairArrived: {
      const Collective& collective = *collectives_[flow.slot];
      if (collective.plan.phases[flow.phase].algorithm == AlgorithmKind::kRing) {
        ++flow.arrived;
      } else {
        flow.arrived |= uint64_t{1} << event.tag.arg;
      }
      if (flow.started) DrainPair(index);
      return;
    }
    case EventKind::kDirectStarted:
      return StartDirect(index);
    case EventKind::kDirectArrived: {
      if (event.tag.arg < flow.sent) return ReceiveDirect(index);
      early_[EarlyWord(flow, index, event.tag.arg)] |= uint64_t{1} << (event.tag.arg % 64);
      return;
    }
    case EventKind::kDirectReceived:
      return ReceiveDirect(index);
    case EventKind::kDirectReady:
      return ReadyDirect(index);
    case EventKind::kTreeArrived: {
      if (event.tag.arg == kFromParent) return ReceiveFromParent(index);
      ++flow.arrived;
      if (flow.started) ReceiveFromChild(index);
      return;
    }
    case EventKind::kScriptArrived:
      return ReceiveScript(index, event.tag.arg);
    case EventKind::kScriptStepDone:
      return EndScriptStep(index, event.tag.arg);
    case EventKind::kPhaseDone:
      return EndPhase(index);
    case EventKind::kMemberLeft:
      return EndMember(index);
    default:
      CHECK(false) << "not a collective's event: " << static_cast<int>(event.tag.kind);
  }
}

// ---- Chunks and their lanes.

// The first rank has got to `phase` of `chunk`: it joins its lane's order.
void CollectiveEngine::List(Collective* collective, int32_t phase, int32_t chunk) {
  const CollectivePlan& plan = collective->plan;
  if (collective->phases_listed[chunk] > phase) return;
  ++collective->phases_listed[chunk];
  const int32_t lane = LaneOf(plan.phases[phase], chunk);
  const size_t items_count = plan.phases.size() * plan.chunks_count;
  collective->order[lane * items_count + collective->order_count[lane]++] =
      phase * plan.chunks_count + chunk;
}

int32_t CollectiveEngine::LaneOf(const CollectivePhase& phase, int32_t chunk) {
  return phase.first_lane + chunk % phase.lanes_count;
}

// Starts the next chunks of the lane, as far as this rank has got to them.
void CollectiveEngine::StartWaiting(Collective* collective, int32_t member, int32_t lane_index) {
  const CollectivePlan& plan = collective->plan;
  const size_t items_count = plan.phases.size() * plan.chunks_count;
  const int32_t* order = &collective->order[lane_index * items_count];
  const uint8_t* phase_of = &collective->phase_of[static_cast<size_t>(member) * plan.chunks_count];
  Lane& lane = collective->lanes[static_cast<size_t>(member) * plan.lanes_count + lane_index];
  while (lane.running_count < plan.lane_chunks_count &&
         lane.next < collective->order_count[lane_index]) {
    const int32_t phase = order[lane.next] / plan.chunks_count;
    const int32_t chunk = order[lane.next] % plan.chunks_count;
    if (phase_of[chunk] != phase) return;
    ++lane.next;
    ++lane.running_count;
    StartFlow(*collective, FlowIndex(*collective, phase, chunk, member));
  }
}

void CollectiveEngine::StartFlow(const Collective& collective, size_t index) {
  Flow& flow = flows_[index];
  const CollectivePhase& phase = collective.plan.phases[flow.phase];
  flow.started = true;
  const int64_t ready_ps = queue_->now_ps() + phase.endpoint_delay_ps;
  switch (phase.algorithm) {
    case AlgorithmKind::kRing:
    case AlgorithmKind::kHalvingDoubling:
      SendPair(index, ready_ps);
      return DrainPair(index);
    case AlgorithmKind::kDirect:
      return Push(ready_ps, FlowTag(EventKind::kDirectStarted, 0, index));
    case AlgorithmKind::kDoubleBinaryTree:
      return StartTree(index);
    case AlgorithmKind::kScript:
      return StartScript(index);
  }
}

void CollectiveEngine::EndPhase(size_t index) {
  const Flow flow = flows_[index];
  Collective* collective = collectives_[flow.slot].get();
  const CollectivePlan& plan = collective->plan;
  const int32_t lane = LaneOf(plan.phases[flow.phase], flow.chunk);
  --collective->lanes[static_cast<size_t>(flow.member) * plan.lanes_count + lane].running_count;
  if (flow.phase + size_t{1} < plan.phases.size()) {
    ++collective->phase_of[static_cast<size_t>(flow.member) * plan.chunks_count + flow.chunk];
    List(collective, flow.phase + 1, flow.chunk);
    StartWaiting(collective, flow.member, LaneOf(plan.phases[flow.phase + 1], flow.chunk));
  }
  StartWaiting(collective, flow.member, lane);
  if (flow.phase + size_t{1} < plan.phases.size()) return;
  if (++collective->chunks_done[flow.member] < plan.chunks_count) return;
  const int64_t left_ps = collective->left_ps[flow.member];
  if (left_ps > queue_->now_ps()) return Push(left_ps, FlowTag(EventKind::kMemberLeft, 0, index));
  EndMember(index);
}

void CollectiveEngine::EndMember(size_t index) {
  const Flow flow = flows_[index];
  Collective* collective = collectives_[flow.slot].get();
  const int32_t rank = RankOf(*collective, flow.member);
  const uint32_t node = collective->nodes[flow.member];
  CountBytes(*collective, flow.member);
  if (++collective->members_done == collective->members_count) Close(flow.slot);
  host_->OnCollectiveDone(rank, node);  // Last: may open a collective and move everything.
}

// Adds what the member has sent, once it is through.
void CollectiveEngine::CountBytes(const Collective& collective, int32_t member) {
  int64_t& sum = network_bytes_[RankOf(collective, member)];
  for (const CollectivePhase& phase : collective.plan.phases) {
    if (!TakesPart(phase, member)) continue;
    const int64_t bytes = SentBytes(phase, collective.plan.chunks_count, PlaceOf(phase, member));
    sum = bytes > INT64_MAX - sum ? INT64_MAX : sum + bytes;
  }
}

// ---- Ring and halving-doubling.

void CollectiveEngine::SendPair(size_t index, int64_t at_ps) {
  Flow& flow = flows_[index];
  const Collective& collective = *collectives_[flow.slot];
  const CollectivePhase& phase = collective.plan.phases[flow.phase];
  const int64_t step = flow.sent++;
  flow.at_ps = at_ps;
  const PairStep what = PairStepAt(phase, PlaceOf(phase, flow.member), step,
                                   ChunkDirection(phase, flow.chunk, system_->num_queues_per_dim));
  Send(index, what.peer, what.bytes, at_ps, EventKind::kPairArrived,
       phase.algorithm == AlgorithmKind::kRing ? 0 : step);
}

// Takes all receipts whose message has come, each with what follows from it. A message
// is received when it has come and the one that the flow sends at that step has left.
void CollectiveEngine::DrainPair(size_t index) {
  Flow& flow = flows_[index];
  const Collective& collective = *collectives_[flow.slot];
  const CollectivePhase& phase = collective.plan.phases[flow.phase];
  const bool ring = phase.algorithm == AlgorithmKind::kRing;
  while (flow.received < flow.sent) {
    const uint32_t step = flow.received;
    const bool has_come = ring ? flow.arrived > step : (flow.arrived >> step & 1) != 0;
    if (!has_come) return;
    ++flow.received;
    const PairStep what =
        PairStepAt(phase, PlaceOf(phase, flow.member), step,
                   ChunkDirection(phase, flow.chunk, system_->num_queues_per_dim));
    // Cut at the horizon: a chain of early messages adds up without an event between.
    const int64_t ready_ps =
        std::min(kHorizonPs, std::max(queue_->now_ps(), flow.at_ps) + phase.endpoint_delay_ps +
                                 ReductionPs(*system_, what.reduce_bytes));
    if (flow.received == phase.sends_count) {
      return Push(ready_ps, FlowTag(EventKind::kPhaseDone, 0, index));
    }
    SendPair(index, ready_ps);
  }
}

// ---- Direct.

size_t CollectiveEngine::EarlyWord(const Flow& flow, size_t index, uint32_t number) const {
  const Collective& collective = *collectives_[flow.slot];
  return collective.first_early + (index - collective.first_flow) * collective.early_words_count +
         number / 64;
}

void CollectiveEngine::StartDirect(size_t index) {
  const int32_t window = collectives_[flows_[index].slot]->plan.phases[flows_[index].phase].window;
  for (int32_t i = 0; i < window; ++i) ReadyDirect(index);
}

void CollectiveEngine::ReceiveDirect(size_t index) {
  Flow& flow = flows_[index];
  const CollectivePhase& phase = collectives_[flow.slot]->plan.phases[flow.phase];
  const bool reduces = DirectReceiptReduces(phase, flow.received++);
  Push(queue_->now_ps() + phase.endpoint_delay_ps +
           (reduces ? ReductionPs(*system_, phase.message_bytes) : 0),
       FlowTag(EventKind::kDirectReady, 0, index));
}

void CollectiveEngine::ReadyDirect(size_t index) {
  Flow& flow = flows_[index];
  const CollectivePhase& phase = collectives_[flow.slot]->plan.phases[flow.phase];
  ++flow.ready;
  const uint32_t peers_count = phase.places_count - 1;
  if (phase.op == PhaseOp::kAllReduce && flow.sent >= peers_count) {
    // The second half begins when everything of the first has come; physical: and is reduced.
    const bool astra = phase.semantics == Semantics::kAstra;
    if (astra ? flow.received < peers_count : flow.ready < peers_count + phase.window) return;
    for (int32_t i = 0; i < phase.window; ++i) {
      if (flow.ready == flow.sent || flow.sent == phase.sends_count) break;
      SendDirect(index);
    }
  } else {
    SendDirect(index);
  }
  if (flow.sent == phase.sends_count && flow.ready - flow.sent == uint32_t(phase.window)) {
    EndPhase(index);
  }
}

// Sends the next message, if one is left and there is a turn for it.
void CollectiveEngine::SendDirect(size_t index) {
  Flow& flow = flows_[index];
  const CollectivePhase& phase = collectives_[flow.slot]->plan.phases[flow.phase];
  if (flow.sent == phase.sends_count || flow.ready == flow.sent) return;
  const uint32_t number = flow.sent++;
  const int32_t peer = DirectPeer(phase, PlaceOf(phase, flow.member), number,
                                  ChunkDirection(phase, flow.chunk, system_->num_queues_per_dim));
  Send(index, peer, phase.message_bytes, queue_->now_ps(), EventKind::kDirectArrived, number);
  const uint64_t bit = uint64_t{1} << (number % 64);
  uint64_t& early = early_[EarlyWord(flow, index, number)];
  if ((early & bit) == 0) return;
  early &= ~bit;
  Push(queue_->now_ps(), FlowTag(EventKind::kDirectReceived, 0, index));
}

// ---- Double binary tree.

TreePlace CollectiveEngine::TreeOf(const Flow& flow) const {
  const CollectivePhase& phase = collectives_[flow.slot]->plan.phases[flow.phase];
  return TreePlaceOf(phase.places_count, TreeRootIsLast(flow.chunk), PlaceOf(phase, flow.member));
}

void CollectiveEngine::StartTree(size_t index) {
  Flow& flow = flows_[index];
  const CollectivePhase& phase = collectives_[flow.slot]->plan.phases[flow.phase];
  const TreePlace place = TreeOf(flow);
  if (place.children_count == 0) {
    Send(index, place.parent, phase.chunk_bytes, queue_->now_ps() + phase.endpoint_delay_ps,
         EventKind::kTreeArrived, kFromChild);
    return;
  }
  for (uint64_t i = 0; i < flow.arrived; ++i) ReceiveFromChild(index);
}

void CollectiveEngine::ReceiveFromChild(size_t index) {
  Flow& flow = flows_[index];
  const CollectivePhase& phase = collectives_[flow.slot]->plan.phases[flow.phase];
  const TreePlace place = TreeOf(flow);
  flow.at_ps = std::max(flow.at_ps, queue_->now_ps() + phase.endpoint_delay_ps +
                                        ReductionPs(*system_, phase.chunk_bytes));
  if (++flow.received < uint32_t(place.children_count)) return;
  if (place.parent >= 0) {
    return Send(index, place.parent, phase.chunk_bytes, flow.at_ps, EventKind::kTreeArrived,
                kFromChild);
  }
  Send(index, place.children[0], phase.chunk_bytes, flow.at_ps, EventKind::kTreeArrived,
       kFromParent);
  Push(flow.at_ps, FlowTag(EventKind::kPhaseDone, 0, index));
}

void CollectiveEngine::ReceiveFromParent(size_t index) {
  const Flow& flow = flows_[index];
  const CollectivePhase& phase = collectives_[flow.slot]->plan.phases[flow.phase];
  const TreePlace place = TreeOf(flow);
  // ASTRA-sim reduces again, inside the tree, what has been reduced at its root.
  const bool reduces = phase.semantics == Semantics::kAstra && place.children_count > 0;
  const int64_t ready_ps = queue_->now_ps() + phase.endpoint_delay_ps +
                           (reduces ? ReductionPs(*system_, phase.chunk_bytes) : 0);
  for (int32_t i = 0; i < place.children_count; ++i) {
    Send(index, place.children[i], phase.chunk_bytes, ready_ps, EventKind::kTreeArrived,
         kFromParent);
  }
  Push(ready_ps, FlowTag(EventKind::kPhaseDone, 0, index));
}

}  // namespace chakrad
