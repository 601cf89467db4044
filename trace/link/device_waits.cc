#include "trace/link/device_waits.h"

#include <algorithm>
#include <deque>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "trace/link/comm_kernels.h"
#include "trace/link/match_device.h"
#include "trace/readers/kineto/kineto.h"

namespace chakrad {
namespace {

// Clocks of host and device agree to about this.
constexpr int64_t kClockSlackNs = 1000;
// Launches looked at for the one that had ended when a call returned.
constexpr size_t kMaxLaunchesSearched = 64;
constexpr int kMaxCallDepth = 64;
// Collectives of a thread that nobody has waited for; older ones are forgotten.
constexpr size_t kMaxPending = 1024;

enum class CallKind { kUnknown, kOther, kDeviceSync, kStreamSync, kSyncCopy, kStreamWait };

CallKind KindOfCall(absl::string_view name) {
  if (absl::StrContains(name, "DeviceSynchronize") || absl::StrContains(name, "CtxSynchronize")) {
    return CallKind::kDeviceSync;
  }
  if (absl::StrContains(name, "StreamSynchronize") || absl::StrContains(name, "EventSynchronize")) {
    return CallKind::kStreamSync;
  }
  if (absl::StrContains(name, "StreamWaitEvent")) return CallKind::kStreamWait;
  if (name == "cudaMemcpy" || name == "hipMemcpy" || name == "hipMemcpyWithStream" ||
      name == "cudaMemcpyToSymbol" || name == "cudaMemcpyFromSymbol") {
    return CallKind::kSyncCopy;
  }
  return CallKind::kOther;
}

class Walker {
 public:
  explicit Walker(LinkGraph* graph) : graph_(*graph), kineto_(*graph->kineto) {
    launched_on_.resize(graph->queues.size());
    launched_by_.resize(graph->queues.size());
    other_kernel_by_.assign(graph->queues.size(), kNone);
    pending_by_.resize(graph->queues.size());
    awaited_by_.resize(graph->queues.size());
    awaited_on_.resize(graph->queues.size());
  }

  void Run() {
    std::vector<std::pair<uint32_t, uint32_t>> launches;  // Call's event, device node.
    for (uint32_t event = 0; event < kineto_.events.size(); ++event) {
      if (kineto_.events.kind(event) != KinetoKind::kSync) continue;
      const KinetoEvent sync = kineto_.events[event];
      if (sync.correlation >= 0) sync_of_correlation_[sync.correlation] = event;
      call_start_of_correlation_[sync.sync_record_correlation] = kUnknownNs;
    }
    for (uint32_t event = 0; event < kineto_.events.size(); ++event) {
      if (call_start_of_correlation_.empty()) break;  // Most profiles have no such events.
      if (kineto_.events.kind(event) != KinetoKind::kRuntime) continue;
      const int64_t correlation = kineto_.events.correlation(event);
      const auto call = call_start_of_correlation_.find(correlation);
      if (correlation < 0 || call == call_start_of_correlation_.end()) continue;
      call->second = kineto_.events.start_ns(event);
    }
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (graph_.nodes[i].launch_event != kNone) {
        launches.emplace_back(graph_.nodes[i].launch_event, i);
      }
    }
    std::sort(launches.begin(), launches.end());
    for (const RuntimeCall& call : graph_.calls) {
      auto it = std::lower_bound(launches.begin(), launches.end(), std::make_pair(call.event, 0u));
      last_launched_ = kNone;
      for (; it != launches.end() && it->first == call.event; ++it) Launch(call, it->second);
      Visit(call);
    }
  }

 private:
  void Wait(uint32_t node, uint32_t awaited) {
    if (node != awaited) graph_.AddEdge(node, awaited, EdgeKind::kSync);
  }

  void Launch(const RuntimeCall& call, uint32_t index) {
    const LinkNode& node = graph_.nodes[index];
    if (IsComm(node.type) || node.batch_end != kNone) {
      if (other_kernel_by_[call.queue] != kNone) Wait(index, other_kernel_by_[call.queue]);
      std::deque<uint32_t>& pending = pending_by_[call.queue];
      pending.push_back(index);
      if (pending.size() > kMaxPending) pending.pop_front();
      const int64_t sequence = SequenceAround(call);
      if (sequence >= 0) comm_of_sequence_[sequence] = index;
    } else {
      for (const uint32_t awaited : awaited_by_[call.queue]) Wait(index, awaited);
      awaited_by_[call.queue].clear();
      if (node.type == NodeType::kComp) other_kernel_by_[call.queue] = index;
    }
    for (const uint32_t awaited : awaited_on_[node.queue]) Wait(index, awaited);
    awaited_on_[node.queue].clear();
    launched_on_[node.queue].push_back(index);
    launched_by_[call.queue].push_back(index);
    last_launched_ = index;
  }

  // Of the communication call around a launch, where recorded.
  int64_t SequenceAround(const RuntimeCall& call) const {
    uint32_t at = call.enclosing;
    for (int depth = 0; at != kNone && depth < kMaxCallDepth; ++depth) {
      const CommArgs* args = graph_.nodes[at].args;
      if (args != nullptr && args->sequence >= 0) return args->sequence;
      at = graph_.nodes[at].parent;
    }
    return -1;
  }

  void Visit(const RuntimeCall& call) {
    const uint32_t name = kineto_.events.name(call.event);
    if (kind_of_name_.size() <= name) kind_of_name_.resize(name + 1, CallKind::kUnknown);
    if (kind_of_name_[name] == CallKind::kUnknown) {
      kind_of_name_[name] = KindOfCall(kineto_.strings.Get(name));
    }
    const CallKind kind = kind_of_name_[name];
    switch (kind) {
      case CallKind::kUnknown:
      case CallKind::kOther:
        return;
      case CallKind::kStreamWait:
        return StreamWait(call);
      case CallKind::kSyncCopy:
        if (last_launched_ != kNone) HostWaits(call, {last_launched_});
        return;
      case CallKind::kDeviceSync: {
        std::vector<uint32_t> awaited;
        for (const std::vector<uint32_t>& launched : launched_on_) {
          const uint32_t last = LastEnded(launched, call);
          if (last != kNone) awaited.push_back(last);
        }
        return HostWaits(call, awaited);
      }
      case CallKind::kStreamSync: {
        const uint32_t stream = SyncedStream(call);
        const uint32_t last =
            LastEnded(stream != kNone ? launched_on_[stream] : launched_by_[call.queue], call);
        if (last != kNone) HostWaits(call, {last});
        return;
      }
    }
  }

  uint32_t FindStream(int32_t device, int64_t stream) const {
    const auto it =
        graph_.queue_index.find(std::make_tuple(Queue::Kind::kDeviceStream, device, stream));
    return it == graph_.queue_index.end() ? kNone : it->second;
  }

  // The stream that a call synchronises with, from the cuda_sync event beside it.
  uint32_t SyncedStream(const RuntimeCall& call) const {
    const auto it = sync_of_correlation_.find(kineto_.events.correlation(call.event));
    if (it == sync_of_correlation_.end()) return kNone;
    const KinetoEvent sync = kineto_.events[it->second];
    const Queue& queue = kineto_.queues[sync.queue];
    return FindStream(queue.device, sync.sync_stream >= 0 ? sync.sync_stream : queue.raw_id);
  }

  // How many of `launched` come before the event was recorded for which a call
  // waits; all where the trace does not tell.
  size_t BeforeRecord(const std::vector<uint32_t>& launched, const RuntimeCall& call) const {
    const auto sync = sync_of_correlation_.find(kineto_.events.correlation(call.event));
    if (sync == sync_of_correlation_.end()) return launched.size();
    const auto record =
        call_start_of_correlation_.find(kineto_.events[sync->second].sync_record_correlation);
    if (record == call_start_of_correlation_.end() || record->second == kUnknownNs) {
      return launched.size();
    }
    const auto it = std::partition_point(launched.begin(), launched.end(), [&](uint32_t node) {
      return graph_.nodes[node].launch_ns < record->second;
    });
    return static_cast<size_t>(it - launched.begin());
  }

  uint32_t LastEnded(const std::vector<uint32_t>& launched, const RuntimeCall& call) const {
    const int64_t end_ns = kineto_.events.end_ns(call.event) + kClockSlackNs;
    const size_t count = BeforeRecord(launched, call);
    const size_t stop = count > kMaxLaunchesSearched ? count - kMaxLaunchesSearched : 0;
    for (size_t i = count; i > stop; --i) {
      if (graph_.nodes[launched[i - 1]].end_ns() <= end_ns) return launched[i - 1];
    }
    return kNone;
  }

  void HostWaits(const RuntimeCall& call, const std::vector<uint32_t>& awaited) {
    const int64_t start_ns = kineto_.events.start_ns(call.event);
    const int64_t end_ns = kineto_.events.end_ns(call.event);
    const std::vector<uint32_t>& thread = graph_.in_order[call.queue];
    size_t at = FirstStartingAt(graph_, call.queue, end_ns);
    while (at < thread.size() && (graph_.nodes[thread[at]].role != NodeRole::kHostOp ||
                                  !graph_.nodes[thread[at]].timed())) {
      ++at;
    }
    if (at == thread.size()) return;
    for (const uint32_t node : awaited) {
      Wait(thread[at], node);
      const int64_t until_ns = std::clamp(graph_.nodes[node].end_ns(), start_ns, end_ns);
      graph_.waits.push_back({thread[at], node, start_ns, until_ns});
    }
  }

  void StreamWait(const RuntimeCall& call) {
    const auto sync = sync_of_correlation_.find(kineto_.events.correlation(call.event));
    if (sync != sync_of_correlation_.end()) {
      const KinetoEvent event = kineto_.events[sync->second];
      const Queue& waiting = kineto_.queues[event.queue];
      const uint32_t on = FindStream(waiting.device, waiting.raw_id);
      const uint32_t other = FindStream(waiting.device, event.sync_stream);
      if (on != kNone && other != kNone) {
        const size_t count = BeforeRecord(launched_on_[other], call);
        if (count > 0) awaited_on_[on].push_back(launched_on_[other][count - 1]);
        return;
      }
    }
    bool in_comm_call = false;
    uint32_t at = call.enclosing;
    for (int depth = 0; at != kNone && depth < kMaxCallDepth && !in_comm_call; ++depth) {
      const LinkNode& around = graph_.nodes[at];
      if (around.args != nullptr && around.args->op == "wait") {
        return TakePending(call, around.args->sequence);
      }
      in_comm_call =
          IsRecordParamComms(around.name) || IsC10d(around.name) || IsDeviceCommMark(around.name);
      at = around.parent;
    }
    if (!in_comm_call) TakePending(call, -1);
  }

  // The thread's next work waits for the collective of that sequence number, or
  // for the oldest that it has not waited for.
  void TakePending(const RuntimeCall& call, int64_t sequence) {
    std::deque<uint32_t>& pending = pending_by_[call.queue];
    const auto known = comm_of_sequence_.find(sequence);
    if (sequence >= 0 && known == comm_of_sequence_.end()) return;  // Launched before recording.
    if (known != comm_of_sequence_.end()) {
      awaited_by_[call.queue].push_back(known->second);
      const auto it = std::find(pending.begin(), pending.end(), known->second);
      if (it != pending.end()) pending.erase(it);
    } else if (!pending.empty()) {
      awaited_by_[call.queue].push_back(pending.front());
      pending.pop_front();
    }
  }

  LinkGraph& graph_;
  const KinetoTrace& kineto_;
  absl::flat_hash_map<int64_t, uint32_t> sync_of_correlation_;
  // Of the calls that recorded an event for which something waits.
  absl::flat_hash_map<int64_t, int64_t> call_start_of_correlation_;
  std::vector<CallKind> kind_of_name_;
  absl::flat_hash_map<int64_t, uint32_t> comm_of_sequence_;
  std::vector<std::vector<uint32_t>> launched_on_;  // Of each stream, in launch order.
  std::vector<std::vector<uint32_t>> launched_by_;  // Of each thread, in launch order.
  std::vector<uint32_t> other_kernel_by_;           // The thread's last compute kernel.
  std::vector<std::deque<uint32_t>> pending_by_;    // Collectives nobody waited for yet.
  std::vector<std::vector<uint32_t>> awaited_by_;   // By the thread's next launch.
  std::vector<std::vector<uint32_t>> awaited_on_;   // By the stream's next operation.
  uint32_t last_launched_ = kNone;                  // By the call being visited.
};

}  // namespace

void AddDeviceWaits(LinkGraph* graph) {
  if (graph->kineto != nullptr) Walker(graph).Run();
}

}  // namespace chakrad
