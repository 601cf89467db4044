#include "sim/workload/workload.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "sim/engine/event_kind.h"
#include "sim/engine/semantics.h"
#include "sim/workload/node_cost.h"

namespace chakrad {
namespace {

EventTag Tag(EventKind kind, uint32_t target) {
  return EventTag{static_cast<uint8_t>(kind), 0, target};
}

uint64_t RankAndNode(int32_t rank, uint32_t node) {
  return static_cast<uint64_t>(rank) << 32 | node;
}

}  // namespace

Workload::Workload(const Trace* trace, const SystemDescription* system, const Cast* cast,
                   const std::vector<RankGraph>* graphs, Channels channels, EventQueue* queue,
                   Network* network, SimObserver* observer)
    : trace_(trace),
      system_(system),
      cast_(cast),
      channels_(std::move(channels)),
      queue_(queue),
      network_(network),
      observer_(observer),
      collectives_(system, &trace->groups, queue, network, this),
      ranks_(trace->world_size) {
  std::vector<bool> has_device_compute;
  for (const RankTrace& rank : trace->ranks) has_device_compute.push_back(rank.HasDeviceCompute());
  for (int32_t rank = 0; rank < trace->world_size; ++rank) {
    RankState& state = ranks_[rank];
    const uint32_t index = cast->trace_of[rank];
    state.trace = &trace->ranks[index];
    state.graph = &(*graphs)[index];
    state.has_device_compute = has_device_compute[index];
    state.first_pending = pending_.size();
    pending_.insert(pending_.end(), state.graph->deps_count.begin(), state.graph->deps_count.end());
  }
  nodes_count_ = static_cast<int64_t>(pending_.size());
  FindUnevenAllToAlls();
}

// The members of an uneven all-to-all state different sizes; the largest decides. Which
// ones belong together is taken from the order of ids in each group.
void Workload::FindUnevenAllToAlls() {
  bool any_all_to_all = false;
  for (const RankTrace& rank : trace_->ranks) {
    for (const CommOp& op : rank.comm) {
      any_all_to_all = any_all_to_all || op.collective == CollectiveType::kAllToAll;
    }
  }
  if (!any_all_to_all) return;
  std::map<std::pair<uint32_t, uint32_t>, std::pair<int64_t, int64_t>> min_max_bytes;
  const auto for_each = [&](const std::function<void(int32_t, uint32_t, uint32_t, uint32_t)>& use) {
    std::map<uint32_t, uint32_t> number_in_group;
    for (int32_t rank = 0; rank < trace_->world_size; ++rank) {
      const RankTrace& trace = *ranks_[rank].trace;
      number_in_group.clear();
      for (const uint32_t node : ranks_[rank].graph->by_order) {
        if (trace.type[node] != NodeType::kCommColl) continue;
        const CommOp& op = *trace.CommOf(node);
        if (!HasCostModel(op.collective)) continue;
        const uint32_t group = cast_->GroupFor(rank, op.group);
        const uint32_t number = number_in_group[group]++;
        if (op.collective == CollectiveType::kAllToAll) use(rank, node, group, number);
      }
    }
  };
  for_each([&](int32_t rank, uint32_t node, uint32_t group, uint32_t number) {
    const int64_t bytes = ranks_[rank].trace->CommOf(node)->bytes;
    const auto [it, added] = min_max_bytes.try_emplace({group, number}, bytes, bytes);
    it->second.first = std::min(it->second.first, bytes);
    it->second.second = std::max(it->second.second, bytes);
  });
  bool any = false;
  for (const auto& [key, bytes] : min_max_bytes) any = any || bytes.first != bytes.second;
  if (!any) return;
  for_each([&](int32_t rank, uint32_t node, uint32_t group, uint32_t number) {
    const int64_t largest = min_max_bytes.at({group, number}).second;
    if (ranks_[rank].trace->CommOf(node)->bytes == largest) return;
    all_to_all_bytes_[RankAndNode(rank, node)] = largest;
    ++counts_.uneven_all_to_alls;
  });
}

void Workload::Start() {
  for (int32_t rank = 0; rank < trace_->world_size && status_.ok(); ++rank) {
    for (const uint32_t node : ranks_[rank].graph->roots) BecomeUnblocked(rank, node);
    Settle(rank);
  }
}

void Workload::Handle(const Event& event) {
  const uint32_t target = event.tag.target;
  if (event.tag.kind >= kFirstCollectiveKind) return collectives_.Handle(event);
  if (event.tag.kind >= kFirstNetworkKind) return network_->Handle(event);
  const int32_t rank = static_cast<int32_t>(target);
  switch (static_cast<EventKind>(event.tag.kind)) {
    case EventKind::kHostDone:
      return EndResource(rank, Resource::kHost);
    case EventKind::kDeviceDone:
      return EndResource(rank, Resource::kDevice);
    case EventKind::kCommDone:
      return EndResource(rank, Resource::kComm);
    case EventKind::kSendArrived:
      return EndSend(rank);
    case EventKind::kTimer:
      return EndTimer(target);
    default:
      CHECK(false) << "unknown event kind " << static_cast<int>(event.tag.kind);
  }
}

// ---- From blocked to running.

void Workload::BecomeUnblocked(int32_t rank, uint32_t node) {
  const std::vector<int64_t>& gap_ns = ranks_[rank].graph->gap_ns;
  if (!gap_ns.empty() && gap_ns[node] > 0) {
    return SetTimer(Timer::Kind::kGap, rank, node, NsToPs(gap_ns[node]));
  }
  BecomeReady(rank, node);
}

void Workload::BecomeReady(int32_t rank, uint32_t node) {
  RankState& state = ranks_[rank];
  const NodeType type = state.trace->type[node];
  if (type == NodeType::kCommRecv) return PostReceive(rank, node);
  if (IsMemory(type)) {
    const int64_t dur_ps = NsToPs(state.trace->work_ns[node]);
    counts_.charged_any_time = counts_.charged_any_time || dur_ps > 0;
    return SetTimer(Timer::Kind::kMemory, rank, node, dur_ps);
  }
  Resource resource = ResourceOf(type, state.trace->is_host(node));
  if (type == NodeType::kComp &&
      CostOfCompute(*system_, *state.trace, node).basis == ComputeCost::Basis::kSkipped) {
    ++counts_.roofline_skipped;
    resource = Resource::kNoResource;
  }
  if (resource == Resource::kNoResource) return End(rank, node, queue_->now_ps());
  std::vector<uint32_t>& heap = state.ready[static_cast<int>(resource)];
  heap.push_back(state.graph->order_of[node]);
  std::push_heap(heap.begin(), heap.end(), std::greater<uint32_t>());
}

// Issues the ready node of lowest id among those whose resource is free.
bool Workload::IssueNext(int32_t rank) {
  RankState& state = ranks_[rank];
  int best = -1;
  for (int i = 0; i < kResourcesCount; ++i) {
    if (state.running[i] != kFree || state.ready[i].empty()) continue;
    if (best < 0 || state.ready[i].front() < state.ready[best].front()) best = i;
  }
  if (best < 0) return false;
  std::vector<uint32_t>& heap = state.ready[best];
  const uint32_t node = state.graph->by_order[heap.front()];
  std::pop_heap(heap.begin(), heap.end(), std::greater<uint32_t>());
  heap.pop_back();
  state.running[best] = node;
  state.running_since_ps[best] = queue_->now_ps();
  Issue(rank, static_cast<Resource>(best), node);
  return true;
}

void Workload::Issue(int32_t rank, Resource resource, uint32_t node) {
  const RankTrace& trace = *ranks_[rank].trace;
  if (resource == Resource::kComm) {
    if (trace.type[node] == NodeType::kCommSend) return IssueSend(rank, node);
    return IssueCollective(rank, node);
  }
  const ComputeCost cost = CostOfCompute(*system_, trace, node);
  if (cost.basis == ComputeCost::Basis::kUnknown) ++counts_.unknown_durations;
  if (cost.basis != ComputeCost::Basis::kRoofline &&
      system_->compute.basis == ComputeBasis::kRoofline && resource == Resource::kDevice) {
    ++counts_.roofline_without_size;
  }
  counts_.charged_any_time = counts_.charged_any_time || cost.charged_ps > 0;
  queue_->Push(queue_->now_ps() + cost.takes_ps,
               Tag(resource == Resource::kHost ? EventKind::kHostDone : EventKind::kDeviceDone,
                   static_cast<uint32_t>(rank)));
}

void Workload::IssueCollective(int32_t rank, uint32_t node) {
  const RankTrace& trace = *ranks_[rank].trace;
  const CommOp& op = *trace.CommOf(node);
  if (!HasCostModel(op.collective)) {
    ++counts_.unmodelled[static_cast<int>(op.collective)];
    counts_.charged_any_time = counts_.charged_any_time || trace.work_ns[node] > 0;
    queue_->Push(queue_->now_ps() + RecordedCommPs(trace, node),
                 Tag(EventKind::kCommDone, static_cast<uint32_t>(rank)));
    return;
  }
  CollectiveCall call;
  call.rank = rank;
  call.node = node;
  call.group = cast_->GroupFor(rank, op.group);
  call.type = op.collective == CollectiveType::kReduceScatterBlock ? CollectiveType::kReduceScatter
                                                                   : op.collective;
  call.bytes = op.bytes;
  call.involved_dims = op.involved_dims;
  if (!all_to_all_bytes_.empty()) {
    const auto it = all_to_all_bytes_.find(RankAndNode(rank, node));
    if (it != all_to_all_bytes_.end()) call.bytes = it->second;
  }
  if (call.type != CollectiveType::kAllReduce &&
      ImplementationOf(*system_, call.type).per_dim[0].kind == AlgorithmKind::kDoubleBinaryTree) {
    ++counts_.tree_substitutes;
  }
  if (call.bytes == 0) ++counts_.zero_bytes;
  bool done = false;
  status_ = collectives_.Join(call, &done);
  if (!status_.ok() || !done) return;
  ++counts_.without_work;
  ranks_[rank].running[static_cast<int>(Resource::kComm)] = kFree;
  End(rank, node, queue_->now_ps());
}

void Workload::IssueSend(int32_t rank, uint32_t node) {
  const Channel& channel = ChannelOf(rank, node);
  int64_t& sum = ranks_[rank].sent_bytes;
  sum = channel.bytes > INT64_MAX - sum ? INT64_MAX : sum + channel.bytes;
  network_->Send(queue_->now_ps(), channel.src, channel.dst, static_cast<double>(channel.bytes),
                 Tag(EventKind::kSendArrived, static_cast<uint32_t>(rank)));
}

Channel& Workload::ChannelOf(int32_t rank, uint32_t node) {
  return channels_.all[channels_.channel_of[rank][ranks_[rank].trace->side[node]]];
}

void Workload::PostReceive(int32_t rank, uint32_t node) {
  Channel& channel = ChannelOf(rank, node);
  channel.receives.push_back({node, queue_->now_ps()});
  if (channel.arrived_count >= static_cast<int64_t>(channel.receives.size())) {
    SetTimer(Timer::Kind::kReceive, rank, node, 0);
  }
}

void Workload::SetTimer(Timer::Kind kind, int32_t rank, uint32_t node, int64_t dur_ps) {
  if (free_timers_.empty()) {
    free_timers_.push_back(static_cast<uint32_t>(timers_.size()));
    timers_.emplace_back();
  }
  const uint32_t index = free_timers_.back();
  free_timers_.pop_back();
  timers_[index] = {kind, rank, node, queue_->now_ps()};
  queue_->Push(queue_->now_ps() + dur_ps, Tag(EventKind::kTimer, index));
}

// ---- From running to ended.

void Workload::OnCollectiveDone(int32_t rank, uint32_t /*node*/) {
  EndResource(rank, Resource::kComm);
}

void Workload::EndResource(int32_t rank, Resource resource) {
  RankState& state = ranks_[rank];
  const int index = static_cast<int>(resource);
  const uint32_t node = state.running[index];
  CHECK(node != kFree) << "rank " << rank << " resource " << index;
  state.running[index] = kFree;
  End(rank, node, state.running_since_ps[index]);
  Settle(rank);
}

void Workload::EndSend(int32_t rank) {
  const uint32_t node = ranks_[rank].running[static_cast<int>(Resource::kComm)];
  Channel& channel = ChannelOf(rank, node);
  const size_t number = static_cast<size_t>(channel.arrived_count++);
  EndResource(rank, Resource::kComm);
  if (number >= channel.receives.size()) return;  // Posted later: see PostReceive.
  End(channel.dst, channel.receives[number].node, channel.receives[number].start_ps);
  Settle(channel.dst);
}

void Workload::EndTimer(uint32_t index) {
  const Timer timer = timers_[index];
  free_timers_.push_back(index);
  if (timer.kind == Timer::Kind::kGap) {
    BecomeReady(timer.rank, timer.node);
  } else {
    End(timer.rank, timer.node, timer.start_ps);
  }
  Settle(timer.rank);
}

void Workload::End(int32_t rank, uint32_t node, int64_t start_ps) {
  RankState& state = ranks_[rank];
  const int64_t now_ps = queue_->now_ps();
  state.end_ps = now_ps;
  ++state.nodes_done;
  ++counts_.nodes_done;
  ended_.push_back(node);
  if (observer_ == nullptr || start_ps == now_ps) return;
  observer_->OnInterval(
      {start_ps, now_ps, rank, node, state.trace->queue[node], KindOf(state, node)});
}

IntervalKind Workload::KindOf(const RankState& state, uint32_t node) const {
  const NodeType type = state.trace->type[node];
  if (IsComm(type)) return IntervalKind::kComm;
  if (IsMemory(type)) return IntervalKind::kMemory;
  return state.trace->is_host(node) && state.has_device_compute ? IntervalKind::kHost
                                                                : IntervalKind::kCompute;
}

void Workload::Settle(int32_t rank) {
  const RankState& state = ranks_[rank];
  const RankGraph& graph = *state.graph;
  do {
    // Ending a node may end others at once, which join the list; no recursion.
    for (size_t i = 0; i < ended_.size(); ++i) {
      const uint32_t node = ended_[i];
      for (uint32_t j = graph.dependent_begin[node]; j < graph.dependent_begin[node + 1]; ++j) {
        const uint32_t dependent = graph.dependent[j];
        if (--pending_[state.first_pending + dependent] == 0) BecomeUnblocked(rank, dependent);
      }
    }
    ended_.clear();
  } while (status_.ok() && IssueNext(rank));
}

std::vector<RankEnd> Workload::RankEnds() const {
  std::vector<RankEnd> ends;
  for (int32_t rank = 0; rank < trace_->world_size; ++rank) {
    const int64_t collective_bytes = collectives_.network_bytes(rank);
    const int64_t sent_bytes = ranks_[rank].sent_bytes;
    ends.push_back(
        {rank, ranks_[rank].end_ps,
         sent_bytes > INT64_MAX - collective_bytes ? INT64_MAX : sent_bytes + collective_bytes});
  }
  return ends;
}

std::string Workload::Describe(int32_t rank, uint32_t node) const {
  return absl::StrCat("rank ", rank, ", ", DescribeNode(*ranks_[rank].trace, node));
}

}  // namespace chakrad
