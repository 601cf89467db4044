#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/link/host_threads.h"
#include "trace/link/tensors.h"
#include "trace/link/waits.h"

namespace chakrad {
namespace {

constexpr int kMaxCallDepth = 64;

class CommWaiter {
 public:
  explicit CommWaiter(LinkGraph* graph) : graph_(*graph) {}

  CommWaitCounts Run() {
    const std::vector<HostThread> threads = FindHostThreads(graph_);
    std::vector<std::vector<uint32_t>> comms_of_queue(graph_.queues.size());
    std::vector<std::vector<uint32_t>> lost_of_queue(graph_.queues.size());
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const LinkNode& node = graph_.nodes[i];
      if (node.role != NodeRole::kComm || node.caller == kNone) continue;
      if (node.batch_end != kNone) continue;  // A device's: its waits are recorded.
      if (!node.timed() && node.launch_ns == kUnknownNs) continue;
      (node.timed() ? comms_of_queue : lost_of_queue)[graph_.nodes[node.caller].queue].push_back(i);
    }
    for (const HostThread& thread : threads) {
      const std::vector<uint32_t>& comms = comms_of_queue[thread.queue];
      // Without any that worker threads are known to have run, a call may be a device's.
      if (comms.empty()) continue;
      const std::vector<uint32_t>& lost = lost_of_queue[thread.queue];
      uses_.clear();
      FindUses(thread, comms);
      FindUses(thread, lost);
      for (const uint32_t comm : comms) FindWait(thread, comm);
      for (const uint32_t comm : lost) FindWaitForLost(thread, comm);
    }
    return counts_;
  }

 private:
  void Add(uint32_t next, uint32_t comm, int64_t begin_ns, int64_t end_ns) {
    graph_.AddEdge(next, comm, EdgeKind::kSync);
    graph_.waits.push_back({next, comm, begin_ns, std::max(begin_ns, end_ns)});
  }

  void FindWait(const HostThread& thread, uint32_t comm) {
    ++counts_.comm_count;
    const uint32_t consumer = Consumer(comm);
    NoteLateEnd(thread, comm, consumer);
    const Pause pause = PauseAround(thread, comm);
    if (Blocking(thread, comm)) {
      ++counts_.blocking_count;
    } else if (Exposed(pause, comm)) {
      ++counts_.exposed_count;
    } else if (consumer != kNone) {
      // However late T woke up, the pause that its consumer ends was for C.
      const int64_t start_ns = graph_.nodes[consumer].start_ns;
      const bool paused_for_it = consumer == pause.next;
      Add(consumer, comm, paused_for_it ? pause.begin_ns : start_ns,
          paused_for_it ? graph_.nodes[comm].done_ns() : start_ns);
      ++counts_.consumer_count;
    } else if (EndOfMark(thread, comm, graph_.nodes[comm].done_ns())) {
      ++counts_.mark_count;
    } else {
      ++counts_.none_count;
    }
  }

  // Of C only the call is recorded.
  void FindWaitForLost(const HostThread& thread, uint32_t comm) {
    ++counts_.lost_count;
    const int64_t launch_ns = graph_.nodes[comm].launch_ns;
    const uint32_t consumer = FirstUse(comm, launch_ns, INT64_MAX);
    if (consumer == kNone) {
      if (!EndOfMark(thread, comm, launch_ns)) ++counts_.none_count;
      return;
    }
    const int64_t start_ns = graph_.nodes[consumer].start_ns;
    const size_t at = thread.FirstAt(graph_, start_ns);
    const int64_t begin_ns = std::max(thread.busy_until_ns[at], launch_ns);
    Add(consumer, comm, start_ns - begin_ns >= kMinExposedNs ? begin_ns : start_ns, start_ns);
  }

  // The mark around the call ends a phase, after which its results are used.
  bool EndOfMark(const HostThread& thread, uint32_t comm, int64_t done_ns) {
    uint32_t mark = graph_.nodes[comm].caller;
    for (int depth = 0; mark != kNone && depth < kMaxCallDepth; ++depth) {
      const LinkNode& around = graph_.nodes[mark];
      if (around.role == NodeRole::kAnnotation && around.end_ns() >= done_ns) break;
      mark = around.parent;
    }
    if (mark == kNone || graph_.nodes[mark].role != NodeRole::kAnnotation) return false;
    const size_t at = thread.FirstAt(graph_, graph_.nodes[mark].end_ns());
    if (at == thread.ops.size()) return false;
    const int64_t start_ns = graph_.nodes[thread.ops[at]].start_ns;
    Add(thread.ops[at], comm, start_ns, start_ns);
    return true;
  }

  bool CalledUnder(uint32_t index, absl::string_view part) const {
    for (int depth = 0; index != kNone && depth < kMaxCallDepth; ++depth) {
      if (absl::StrContains(graph_.nodes[index].name, part)) return true;
      index = graph_.nodes[index].parent;
    }
    return false;
  }

  // Whether `outer` is `inner` or a call around it.
  bool Encloses(uint32_t outer, uint32_t inner) const {
    for (int depth = 0; inner != kNone && depth < kMaxCallDepth; ++depth) {
      if (inner == outer) return true;
      inner = graph_.nodes[inner].parent;
    }
    return false;
  }

  bool Blocking(const HostThread& thread, uint32_t comm) {
    const LinkNode& node = graph_.nodes[comm];
    const LinkNode& caller = graph_.nodes[node.caller];
    if (CalledUnder(node.caller, "AccumulateGrad")) return false;
    size_t at = thread.FirstAt(graph_, std::max(node.launch_ns, caller.start_ns + 1));
    while (at < thread.ops.size() && Encloses(node.caller, thread.ops[at])) ++at;
    if (at == thread.ops.size() || graph_.nodes[thread.ops[at]].start_ns < node.done_ns()) {
      return false;
    }
    Add(thread.ops[at], comm, node.launch_ns, node.done_ns());
    return true;
  }

  // The pause of T around C's end: since the last start or end of an operation,
  // until T goes on. `next` is kNone when T was busy with something else.
  struct Pause {
    uint32_t next = kNone;
    int64_t begin_ns = 0;
    int64_t until_ns = 0;
  };
  Pause PauseAround(const HostThread& thread, uint32_t comm) const {
    const LinkNode& node = graph_.nodes[comm];
    const size_t at = thread.FirstAt(graph_, node.done_ns());
    if (at == 0 || at == thread.ops.size()) return {};
    uint32_t open = thread.ops[at - 1];  // In the end: the innermost one still running, if any.
    Pause pause{thread.ops[at], graph_.nodes[open].start_ns, graph_.nodes[thread.ops[at]].start_ns};
    for (int depth = 0; open != kNone && depth < kMaxCallDepth; ++depth) {
      const LinkNode& around = graph_.nodes[open];
      const bool op = around.role == NodeRole::kHostOp && around.timed();
      if (op && around.end_ns() > node.done_ns()) {
        pause.until_ns = std::min(pause.until_ns, around.end_ns());
        break;
      }
      if (op) pause.begin_ns = std::max(pause.begin_ns, around.end_ns());
      open = around.parent;
    }
    if (thread.busy_until_ns[at] <= node.done_ns()) {  // Idle.
      open = kNone;
      pause.begin_ns = std::max(pause.begin_ns, thread.busy_until_ns[at]);
    }
    if (open != kNone && !Encloses(open, node.caller)) return {};
    pause.begin_ns = std::max(pause.begin_ns, node.launch_ns);
    return pause;
  }

  bool Exposed(const Pause& pause, uint32_t comm) {
    if (pause.next == kNone) return false;
    const int64_t end_ns = graph_.nodes[comm].done_ns();
    const int64_t waited_ns = end_ns - pause.begin_ns;
    if (waited_ns < kMinExposedNs || 3 * (pause.until_ns - end_ns) > waited_ns) return false;
    Add(pause.next, comm, pause.begin_ns, end_ns);
    return true;
  }

  // ---- Buffers: which operations of the thread work on which storage.

  void FindUses(const HostThread& thread, const std::vector<uint32_t>& comms) {
    if (graph_.et == nullptr) return;
    for (const uint32_t comm : comms) {
      for (const uint64_t storage : Storages(comm)) uses_[storage];
    }
    for (const uint32_t op : thread.ops) {
      for (const uint64_t storage : Storages(op)) {
        const auto it = uses_.find(storage);
        if (it != uses_.end()) it->second.push_back(op);
      }
    }
  }

  std::vector<uint64_t> Storages(uint32_t index) const {
    const uint32_t op = graph_.nodes[index].et_op;
    if (op == kNone) return {};
    return InputStorages(*graph_.et, op);
  }

  // The first operation that works on C's buffer once it is done, or all but.
  uint32_t Consumer(uint32_t comm) const {
    const LinkNode& node = graph_.nodes[comm];
    return FirstUse(comm, std::max(node.start_ns, node.end_ns() - kMaxLateNs), node.end_ns());
  }

  // The first operation that works on C's buffer and starts at `from_ns` or later; before
  // `done_ns`, not one of the operation that called C.
  uint32_t FirstUse(uint32_t comm, int64_t from_ns, int64_t done_ns) const {
    const uint32_t outermost = OutermostOp(graph_.nodes[comm].caller);
    uint32_t first = kNone;
    for (const uint64_t storage : Storages(comm)) {
      const auto it = uses_.find(storage);
      if (it == uses_.end()) continue;
      auto use = std::partition_point(it->second.begin(), it->second.end(), [&](uint32_t op) {
        return graph_.nodes[op].start_ns < from_ns;
      });
      // The calling operation itself may still touch it before it waits.
      while (use != it->second.end() && graph_.nodes[*use].start_ns < done_ns &&
             OutermostOp(*use) == outermost) {
        ++use;
      }
      if (use != it->second.end() && (first == kNone || InOrder(graph_, *use, first))) first = *use;
    }
    return first;
  }

  uint32_t OutermostOp(uint32_t index) const {
    uint32_t outermost = index;
    for (int depth = 0; index != kNone && depth < kMaxCallDepth; ++depth) {
      if (graph_.nodes[index].role == NodeRole::kHostOp) outermost = index;
      index = graph_.nodes[index].parent;
    }
    return outermost;
  }

  // A worker thread wakes the waiting one first and notes the end then: T may
  // go on a little before the recorded end.
  void NoteLateEnd(const HostThread& thread, uint32_t comm, uint32_t consumer) {
    LinkNode& node = graph_.nodes[comm];
    if (consumer != kNone) {
      node.late_ns = static_cast<uint32_t>(
          std::max<int64_t>(0, node.end_ns() - graph_.nodes[consumer].start_ns));
      return;
    }
    // Without buffers: T went on after a pause, much longer than the lateness.
    const size_t at = thread.FirstAt(graph_, std::max(node.start_ns, node.end_ns() - kMaxLateNs));
    if (at == 0 || at == thread.ops.size()) return;
    const int64_t start_ns = graph_.nodes[thread.ops[at]].start_ns;
    const int64_t pause_begin_ns = std::max(thread.busy_until_ns[at], node.launch_ns);
    const int64_t late_ns = node.end_ns() - start_ns;
    if (late_ns > 0 && start_ns - pause_begin_ns > std::max(kMinExposedNs, 3 * late_ns)) {
      node.late_ns = static_cast<uint32_t>(late_ns);
    }
  }

  LinkGraph& graph_;
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> uses_;
  CommWaitCounts counts_;
};

}  // namespace

CommWaitCounts AddCommWaits(LinkGraph* graph) {
  const CommWaitCounts counts = CommWaiter(graph).Run();
  if (counts.none_count > 0) {
    graph->notices.push_back(absl::StrCat(counts.none_count, " of ", counts.comm_count,
                                          " communication operations: nothing in the trace tells "
                                          "who waits for them"));
  }
  return counts;
}

}  // namespace chakrad
