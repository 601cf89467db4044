#include "sim/workload/workload.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "sim/engine/event_kind.h"
#include "sim/engine/semantics.h"
#include "sim/workload/uneven.h"

namespace chakrad {
namespace {

EventTag Tag(EventKind kind, uint32_t target, uint32_t arg = 0) {
  return EventTag{static_cast<uint8_t>(kind), arg, target};
}

// Event-driven collectives have one answer a rank; so have sends and receives.
bool NeedsSingleRanks(const WorkloadParts& parts) {
  // So have accesses to a memory that ranks share.
  const bool shared =
      parts.system->remote_memory.kind != RemoteMemory::Kind::kNone &&
      RemoteMemoryQueue(parts.system->semantics, parts.system->remote_memory, 1).IsShared();
  for (const uint32_t index : parts.cast->trace_of) {
    const NodePlan& plan = (*parts.plans)[index];
    if (plan.has_point_to_point || (shared && plan.has_memory)) return true;
  }
  return false;
}

// Whether all collectives of the run can be answered whole.
bool BatchCoversAll(const WorkloadParts& parts) {
  std::vector<bool> seen(parts.trace->ranks.size(), false);
  for (const uint32_t index : parts.cast->trace_of) {
    if (seen[index]) continue;
    seen[index] = true;
    // On one slot, a rank's ports are used by one communication at a time.
    const bool exclusive = (*parts.plans)[index].comm_slots_count <= 1;
    if (!exclusive && parts.system->semantics == Semantics::kPhysical) return false;
    const RankTrace& trace = parts.trace->ranks[index];
    for (uint32_t node = 0; node < trace.size(); ++node) {
      if (trace.type[node] != NodeType::kCommColl) continue;
      const CommOp& op = *trace.CommOf(node);
      if (!HasCostModel(parts.system->semantics, op.collective)) continue;
      if (ScriptOf(*parts.system, op.collective, trace.id[node]) >= 0) return false;
      if (!BatchCovers(*parts.system, op.collective, op.involved_dims)) return false;
    }
  }
  return true;
}

}  // namespace

Workload::Workload(const WorkloadParts& parts, Channels channels)
    : parts_(parts),
      trace_(parts.trace),
      system_(parts.system),
      channels_(std::move(channels)),
      queue_(parts.queue),
      observer_(parts.observer),
      wants_intervals_(parts.observer != nullptr && parts.observer->WantsIntervals()),
      rendezvous_(&parts.trace->groups, parts.system,
                  [this](int32_t rank, uint32_t node) { return Describe(rank, node); }),
      cohort_of_(parts.trace->world_size, 0),
      log_(parts.options->max_collectives),
      traffic_(parts.system->dims.size()) {
  all_to_all_bytes_ = FindUneven(system_->semantics, *trace_, *parts.cast, *parts.graphs);
  counts_.uneven_all_to_alls = static_cast<int64_t>(all_to_all_bytes_.size());
  if (system_->remote_memory.kind != RemoteMemory::Kind::kNone) {
    remote_memory_ = std::make_unique<RemoteMemoryQueue>(system_->semantics, system_->remote_memory,
                                                         trace_->world_size);
  }
  const bool batch =
      parts.options->whole_collectives && !parts.options->link_traffic && BatchCoversAll(parts);
  if (batch) {
    batch_ = std::make_unique<BatchEvaluator>(system_, &trace_->groups);
    batch_->SetLook([this] { return Look(); });
  } else {
    engine_ =
        std::make_unique<CollectiveEngine>(system_, &trace_->groups, queue_, parts.network, this);
  }
  MakeCohorts(batch && parts.options->fold && all_to_all_bytes_.empty() &&
              !NeedsSingleRanks(parts));
}

absl::Status Workload::Look() const {
  if (batch_->events_count() > parts_.options->max_events) {
    return absl::ResourceExhaustedError(
        absl::StrCat("max_events: more than ", parts_.options->max_events, " events"));
  }
  if (observer_ == nullptr || !observer_->Cancelled()) return absl::OkStatus();
  return absl::CancelledError(
      absl::StrCat("cancelled at ", queue_->now_ps() / kPsPerNs, " ns, in a collective"));
}

void Workload::Start() {
  const uint32_t cohorts_count = static_cast<uint32_t>(cohorts_.size());
  for (uint32_t cohort = 0; cohort < cohorts_count && status_.ok(); ++cohort) {
    for (const uint32_t node : cohorts_[cohort].graph->roots) BecomeUnblocked(cohort, node);
    Settle(cohort);
  }
  ApplyOutcomes();
}

void Workload::Handle(const Event& event) {
  if (!intervals_.empty() && intervals_.back().end_ps < event.at_ps) Flush();
  const uint32_t target = event.tag.target;
  if (event.tag.kind >= kFirstCollectiveKind) return engine_->Handle(event);
  if (event.tag.kind >= kFirstNetworkKind) return parts_.network->Handle(event);
  switch (static_cast<EventKind>(event.tag.kind)) {
    case EventKind::kSlotDone:
      EndSlot(target, static_cast<uint16_t>(event.tag.arg));
      break;
    case EventKind::kSendArrived:
      EndSend(target, static_cast<uint16_t>(event.tag.arg));
      break;
    case EventKind::kTimer:
      EndTimer(target);
      break;
    default:
      CHECK(false) << "unknown event kind " << static_cast<int>(event.tag.kind);
  }
  if (!complete_.empty()) ApplyOutcomes();
}

void Workload::Flush() {
  std::sort(intervals_.begin(), intervals_.end(),
            [](const TimelineInterval& a, const TimelineInterval& b) {
              return std::tie(a.end_ps, a.rank, a.start_ps, a.node) <
                     std::tie(b.end_ps, b.rank, b.start_ps, b.node);
            });
  for (const TimelineInterval& interval : intervals_) observer_->OnInterval(interval);
  intervals_.clear();
}

// ---- From blocked to running.

void Workload::BecomeUnblocked(uint32_t cohort, uint32_t node) {
  const std::vector<int64_t>& gap_ns = cohorts_[cohort].graph->gap_ns;
  if (!gap_ns.empty() && gap_ns[node] > 0) {
    cohorts_[cohort].account.BeginGap(queue_->now_ps());
    return SetTimer({.kind = Timer::Kind::kGap, .cohort = cohort, .node = node},
                    NsToPs(gap_ns[node]));
  }
  BecomeReady(cohort, node);
}

void Workload::BecomeReady(uint32_t cohort, uint32_t node) {
  Cohort& state = cohorts_[cohort];
  const NodeType type = state.trace->type[node];
  if (type == NodeType::kCommRecv) return PostReceive(cohort, node);
  if (IsMemory(type) && remote_memory_ == nullptr) {
    state.account.Begin(queue_->now_ps(), IntervalKind::kMemory);
    return SetTimer({.kind = Timer::Kind::kMemory, .cohort = cohort, .node = node},
                    NsToPs(state.trace->work_ns[node]));
  }
  const uint16_t slot = state.plan->slot[node];
  if (slot == NodePlan::kNoSlot) return End(cohort, node, queue_->now_ps());
  std::vector<uint32_t>& heap = state.slots[slot].ready;
  heap.push_back(state.graph->OrderOf(node));
  std::push_heap(heap.begin(), heap.end(), std::greater<uint32_t>());
}

// Issues the ready node of lowest id among those whose slot is free.
bool Workload::IssueNext(uint32_t cohort) {
  Cohort& state = cohorts_[cohort];
  int32_t best = -1;
  for (int32_t i = 0; i < static_cast<int32_t>(state.slots.size()); ++i) {
    const Slot& slot = state.slots[i];
    if (slot.ready.empty() || slot.node != kNone) continue;
    if (best < 0 || slot.ready.front() < state.slots[best].ready.front()) best = i;
  }
  if (best < 0) return false;
  Slot& slot = state.slots[best];
  const uint32_t node = state.graph->ByOrder(slot.ready.front());
  std::pop_heap(slot.ready.begin(), slot.ready.end(), std::greater<uint32_t>());
  slot.ready.pop_back();
  slot.node = node;
  slot.since_ps = queue_->now_ps();
  slot.until_ps = Slot::kNotYet;
  state.account.Begin(slot.since_ps, KindOf(state, node));
  Issue(cohort, static_cast<uint16_t>(best), node);
  return true;
}

void Workload::Issue(uint32_t cohort, uint16_t slot, uint32_t node) {
  Cohort& state = cohorts_[cohort];
  const NodeType type = state.trace->type[node];
  if (type == NodeType::kCommSend) return IssueSend(cohort, slot, node);
  if (type == NodeType::kCommColl) return IssueCollective(cohort, slot, node);
  if (IsMemory(type)) return IssueMemory(cohort, slot, node);
  int64_t takes_ps = state.plan->costs.takes_ps[node];
  if (state.compute_scale != 1) {
    const double scaled = static_cast<double>(takes_ps) * state.compute_scale;
    takes_ps = scaled < static_cast<double>(kMaxDelayPs) ? std::llround(scaled) : kMaxDelayPs;
  }
  PushSlotEnd(cohort, slot, queue_->now_ps() + takes_ps);
}

// An access that states no size takes what was recorded.
void Workload::IssueMemory(uint32_t cohort, uint16_t slot, uint32_t node) {
  Cohort& state = cohorts_[cohort];
  const int64_t now_ps = queue_->now_ps();
  const WorkSize* size = state.trace->WorkSizeOf(node);
  const int64_t until_ps = size == nullptr
                               ? now_ps + NsToPs(std::max<int64_t>(state.trace->work_ns[node], 0))
                               : remote_memory_->Access(now_ps, state.ranks[0],
                                                        std::max<int64_t>(size->tensor_bytes, 0));
  counts_.charged_any_time = counts_.charged_any_time || until_ps > now_ps;
  PushSlotEnd(cohort, slot, until_ps);
}

void Workload::AddBytes(Cohort* cohort, int64_t bytes) {
  int64_t& sum = cohort->network_bytes;
  sum = bytes > INT64_MAX - sum ? INT64_MAX : sum + bytes;
}

void Workload::IssueSend(uint32_t cohort, uint16_t slot, uint32_t node) {
  Cohort& state = cohorts_[cohort];
  Channel& channel = ChannelOf(state, node);
  AddBytes(&state, channel.bytes);
  if (channel.bytes == 0) ++counts_.zero_sends;
  channel.sends.push_back({node, queue_->now_ps()});
  parts_.network->Send(queue_->now_ps(), channel.src, channel.dst,
                       static_cast<double>(channel.bytes),
                       Tag(EventKind::kSendArrived, cohort, slot));
}

Channel& Workload::ChannelOf(const Cohort& cohort, uint32_t node) {
  return channels_.all[channels_.channel_of[cohort.ranks[0]][cohort.trace->side[node]]];
}

void Workload::PostReceive(uint32_t cohort, uint32_t node) {
  Cohort& state = cohorts_[cohort];
  Channel& channel = ChannelOf(state, node);
  const int64_t number = static_cast<int64_t>(channel.receives.size());
  channel.receives.push_back({node, queue_->now_ps()});
  state.account.Begin(queue_->now_ps(), IntervalKind::kComm);
  if (channel.arrived_count > number) {
    SetTimer({.kind = Timer::Kind::kReceive, .cohort = cohort, .node = node, .number = number}, 0);
  }
}

void Workload::SetTimer(Timer timer, int64_t dur_ps) {
  timer.start_ps = queue_->now_ps();
  timer.end_ps = timer.start_ps + dur_ps;
  PushTimer(timer);
}

void Workload::PushTimer(const Timer& timer) {
  if (free_timers_.empty()) {
    free_timers_.push_back(static_cast<uint32_t>(timers_.size()));
    timers_.emplace_back();
  }
  const uint32_t index = free_timers_.back();
  free_timers_.pop_back();
  timers_[index] = timer;
  timers_[index].push = ++pushes_count_;
  std::vector<uint32_t>& of_cohort = cohorts_[timer.cohort].timers;
  timers_[index].place = of_cohort.size();
  of_cohort.push_back(index);
  queue_->Push(timer.end_ps, Tag(EventKind::kTimer, index));
}

void Workload::PushSlotEnd(uint32_t cohort, uint16_t slot, int64_t until_ps) {
  cohorts_[cohort].slots[slot].until_ps = until_ps;
  cohorts_[cohort].slots[slot].push = ++pushes_count_;
  queue_->Push(until_ps, Tag(EventKind::kSlotDone, cohort, slot));
}

// ---- From running to ended.

void Workload::EndSlot(uint32_t cohort, uint16_t slot_index) {
  Cohort& state = cohorts_[cohort];
  Slot& slot = state.slots[slot_index];
  const uint32_t node = slot.node;
  CHECK(node != kNone) << "cohort " << cohort << " slot " << slot_index;
  slot.node = kNone;
  state.account.End(queue_->now_ps(), KindOf(state, node));
  End(cohort, node, slot.since_ps);
  Settle(cohort);
}

void Workload::EndSend(uint32_t cohort, uint16_t slot) {
  Channel& channel = ChannelOf(cohorts_[cohort], cohorts_[cohort].slots[slot].node);
  const size_t number = static_cast<size_t>(channel.arrived_count++);
  EndSlot(cohort, slot);
  if (number >= channel.receives.size()) return;  // Posted later: see PostReceive.
  const uint32_t receiver = cohort_of_[channel.dst];
  EndReceive(receiver, channel.receives[number].node, channel.receives[number].start_ps,
             static_cast<int64_t>(number));
  Settle(receiver);
}

void Workload::EndReceive(uint32_t cohort, uint32_t node, int64_t start_ps, int64_t number) {
  Cohort& state = cohorts_[cohort];
  const Channel& channel = ChannelOf(state, node);
  const PostedHalf& send = channel.sends[number];
  const int64_t wait_ps = std::max<int64_t>(send.start_ps - start_ps, 0);
  if (wait_ps > 0) {
    state.AddWait(kNone, channel.src, wait_ps);
    if (parts_.options->critical_path) {
      state.crossings.push_back({node, kNone, channel.src, send.node, send.start_ps});
    }
  }
  state.account.End(queue_->now_ps(), IntervalKind::kComm);
  End(cohort, node, start_ps);
}

void Workload::EndTimer(uint32_t index) {
  const Timer timer = timers_[index];
  free_timers_.push_back(index);
  Cohort& state = cohorts_[timer.cohort];
  timers_[state.timers.back()].place = timer.place;
  state.timers[timer.place] = state.timers.back();
  state.timers.pop_back();
  switch (timer.kind) {
    case Timer::Kind::kGap:
      state.account.EndGap(queue_->now_ps());
      BecomeReady(timer.cohort, timer.node);
      break;
    case Timer::Kind::kMemory:
      state.account.End(queue_->now_ps(), IntervalKind::kMemory);
      End(timer.cohort, timer.node, timer.start_ps);
      break;
    case Timer::Kind::kReceive:
      EndReceive(timer.cohort, timer.node, timer.start_ps, timer.number);
      break;
  }
  Settle(timer.cohort);
}

void Workload::End(uint32_t cohort, uint32_t node, int64_t start_ps) {
  Cohort& state = cohorts_[cohort];
  const int64_t now_ps = queue_->now_ps();
  state.end_ps = now_ps;
  ++state.nodes_done;
  counts_.nodes_done += static_cast<int64_t>(state.ranks.size());
  ended_.push_back(node);
  if (!state.start_ps.empty()) {
    state.start_ps[node] = start_ps;
    state.node_end_ps[node] = now_ps;
  }
  if (!wants_intervals_ || start_ps == now_ps) return;
  for (const int32_t rank : state.ranks) {
    intervals_.push_back(
        {start_ps, now_ps, rank, node, state.trace->queue[node], KindOf(state, node)});
  }
}

IntervalKind Workload::KindOf(const Cohort& cohort, uint32_t node) const {
  const NodeType type = cohort.trace->type[node];
  if (IsComm(type)) return IntervalKind::kComm;
  if (IsMemory(type)) return IntervalKind::kMemory;
  return cohort.trace->is_host(node) && cohort.plan->has_device_compute ? IntervalKind::kHost
                                                                        : IntervalKind::kCompute;
}

void Workload::Settle(uint32_t cohort) {
  Cohort& state = cohorts_[cohort];
  const RankGraph& graph = *state.graph;
  do {
    // Ending a node may end others at once, which join the list; no recursion.
    for (size_t i = 0; i < ended_.size(); ++i) {
      const uint32_t node = ended_[i];
      for (uint32_t j = graph.dependent_begin[node]; j < graph.dependent_begin[node + 1]; ++j) {
        const uint32_t dependent = graph.dependent[j];
        if (--state.pending[dependent] == 0) BecomeUnblocked(cohort, dependent);
      }
    }
    ended_.clear();
  } while (status_.ok() && IssueNext(cohort));
}

std::string Workload::Describe(int32_t rank, uint32_t node) const {
  return absl::StrCat("rank ", rank, ", ", DescribeNode(*cohorts_[cohort_of_[rank]].trace, node));
}

}  // namespace chakrad
