#include "trace/link/comm_calls.h"

#include <algorithm>
#include <deque>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/link/comm_batches.h"
#include "trace/link/complete_args.h"
#include "trace/link/kernel_names.h"
#include "trace/link/tensors.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

// How far a search goes up the calls around a launch, and through the calls
// that wait for their communication: real ones need a handful.
constexpr int kMaxCallDepth = 64;
constexpr size_t kMaxPendingSearched = 64;
constexpr size_t kMaxShownNameBytes = 200;
constexpr int kMaxMarksSearched = 8;

absl::string_view OpName(const LinkNode& node) {
  if (node.args != nullptr && !node.args->op.empty()) return node.args->op;
  const size_t colon = node.name.rfind(':');
  return colon == absl::string_view::npos ? node.name : node.name.substr(colon + 1);
}

bool IsCommRecord(const LinkNode& node) {
  return (node.role == NodeRole::kHostOp || node.role == NodeRole::kAnnotation) &&
         (IsRecordParamComms(node.name) || IsC10d(node.name) || IsDeviceCommMark(node.name));
}

class Finder {
 public:
  explicit Finder(LinkGraph* graph) : graph_(*graph), used_(graph->size(), false) {}

  std::vector<CommCall> Run() {
    FindDeviceComm();
    FindWorkerComm();
    FindHostOnlyComm();
    ListSuspects();
    std::sort(calls_.begin(), calls_.end(),
              [](const CommCall& a, const CommCall& b) { return a.node < b.node; });
    return std::move(calls_);
  }

 private:
  // ---- 1. gloo:* on worker threads.

  // The thread that called: from the recorder's thread number, which the
  // profiler also writes as the launching thread.
  uint32_t LaunchQueue(const LinkNode& node) {
    if (node.et_op != kNone) {
      const uint64_t tid = graph_.et->ops[node.et_op].tid;
      const auto it = queue_of_tid_.find(tid);
      if (it != queue_of_tid_.end()) return it->second;
    }
    if (node.event != kNone && graph_.kineto->events[node.event].launch_tid >= 0) {
      const auto it = graph_.queue_index.find(std::make_tuple(
          Queue::Kind::kHostThread, -1, graph_.kineto->events[node.event].launch_tid));
      if (it != graph_.queue_index.end()) return it->second;
    }
    return busiest_queue_;
  }

  void FindThreads() {
    std::vector<int64_t> ops_count(graph_.queues.size(), 0);
    for (const LinkNode& node : graph_.nodes) {
      if (node.role != NodeRole::kHostOp && node.role != NodeRole::kAnnotation) continue;
      ++ops_count[node.queue];
      if (node.et_op != kNone) queue_of_tid_[graph_.et->ops[node.et_op].tid] = node.queue;
    }
    const auto most = std::max_element(ops_count.begin(), ops_count.end());
    busiest_queue_ = most == ops_count.end() || *most == 0
                         ? kNone
                         : static_cast<uint32_t>(most - ops_count.begin());
  }

  void FindWorkerComm() {
    FindThreads();
    std::vector<uint32_t> comms;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const LinkNode& node = graph_.nodes[i];
      if (node.role == NodeRole::kComm) comms.push_back(i);
      if (node.role == NodeRole::kHostOp && IsC10d(node.name) && !used_[i]) {
        pending_[node.queue].push_back(i);
      }
    }
    if (comms.empty()) return;
    const auto earlier = [this](uint32_t a, uint32_t b) { return InOrder(graph_, a, b); };
    for (auto& [queue, list] : pending_) std::sort(list.begin(), list.end(), earlier);
    std::sort(comms.begin(), comms.end(), earlier);
    for (const uint32_t index : comms) FindCaller(index);
  }

  void FindCaller(uint32_t index) {
    LinkNode& node = graph_.nodes[index];
    CommCall call;
    call.node = index;
    const std::optional<CommKind> kind = CommKindOfOp(OpName(node));
    call.undecided = !kind.has_value();
    call.kind = kind.value_or(CommKind());
    if (node.args != nullptr) call.args = *node.args;
    const uint32_t queue = LaunchQueue(node);
    call.record = queue == kNone ? kNone : TakePending(queue, index, call);
    if (call.record != kNone) {
      used_[call.record] = true;
      node.caller = call.record;
      const LinkNode& record = graph_.nodes[call.record];
      if (record.args != nullptr) CompleteArgs(*record.args, &call.args);
    } else if (queue != kNone) {
      node.caller = LastStarted(queue, index);
    }
    if (node.caller != kNone && node.timed()) {
      node.launch_ns = std::min(node.start_ns, graph_.nodes[node.caller].end_ns());
    }
    node.type = call.kind.type;
    calls_.push_back(std::move(call));
  }

  uint32_t TakePending(uint32_t queue, uint32_t index, const CommCall& call) {
    const auto it = pending_.find(queue);
    if (it == pending_.end()) return kNone;
    std::deque<uint32_t>& list = it->second;
    size_t best = SIZE_MAX;
    int best_score = -1;
    for (size_t i = 0; i < std::min(list.size(), kMaxPendingSearched); ++i) {
      const LinkNode& candidate = graph_.nodes[list[i]];
      if (!InOrder(graph_, list[i], index)) break;
      if (CommKindOfOp(OpName(candidate)) != call.kind) continue;
      const int score = Likeness(candidate, graph_.nodes[index]);
      if (score > best_score) best = i, best_score = score;
    }
    if (best == SIZE_MAX) return kNone;
    const uint32_t record = list[best];
    list.erase(list.begin() + static_cast<ptrdiff_t>(best));
    return record;
  }

  // 2: works on the same buffer, 1: as many bytes, 0: only of the same kind.
  int Likeness(const LinkNode& call, const LinkNode& comm) const {
    if (call.et_op != kNone && comm.et_op != kNone) {
      const std::vector<uint64_t> of_call = InputStorages(*graph_.et, call.et_op);
      for (const uint64_t storage : InputStorages(*graph_.et, comm.et_op)) {
        if (std::find(of_call.begin(), of_call.end(), storage) != of_call.end()) return 2;
      }
    }
    return call.args != nullptr && comm.args != nullptr && call.args->in_bytes != kNotStated &&
                   call.args->in_bytes == comm.args->in_bytes
               ? 1
               : 0;
  }

  // The host operation of a thread that started last before the call. The
  // recorder numbers operations when they start, and counts communication too.
  uint32_t LastStarted(uint32_t queue, uint32_t index) const {
    const std::vector<uint32_t>& list = graph_.in_order[queue];
    const bool by_id = graph_.nodes[index].et_op != kNone;
    const auto before = [&](uint32_t other) {
      const LinkNode& node = graph_.nodes[other];
      return by_id && node.et_op != kNone ? node.id < graph_.nodes[index].id
                                          : InOrder(graph_, other, index);
    };
    auto it = std::partition_point(list.begin(), list.end(), before);
    while (it != list.begin()) {
      const LinkNode& node = graph_.nodes[*--it];
      if (node.role == NodeRole::kHostOp && (node.timed() || graph_.kineto == nullptr)) return *it;
    }
    return kNone;
  }

  // ---- 2. Device kernels.

  void FindDeviceComm() {
    FindMarks();
    std::map<uint32_t, std::vector<size_t>> calls_of_record;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      LinkNode& node = graph_.nodes[i];
      if (node.role != NodeRole::kDevice || node.type != NodeType::kComp) continue;
      const CommKernel kernel = Classify(node.name);
      if (kernel.kernel_class == KernelClass::kNotComm) continue;
      if (kernel.kernel_class == KernelClass::kSuspect) {
        ++suspects_[std::string(node.name.substr(0, kMaxShownNameBytes))];
        continue;
      }
      CommCall call = DeviceCall(i, kernel);
      node.type = call.kind.type;
      if (call.record != kNone) calls_of_record[call.record].push_back(calls_.size());
      calls_.push_back(std::move(call));
    }
    for (const auto& [record, list] : calls_of_record) {
      for (size_t i = 0; i < list.size(); ++i) {
        calls_[list[i]].kernel = static_cast<int32_t>(i);
        calls_[list[i]].kernels_count = static_cast<int32_t>(list.size());
      }
    }
  }

  // The nccl:* mark around a launch. It lies inside the host's call, around no
  // operation but the launch, so that the calls around the launch are not it.
  uint32_t MarkAround(const LinkNode& node) const {
    if (node.launch_event == kNone) return kNone;
    const auto marks = marks_of_queue_.find(graph_.kineto->events[node.launch_event].queue);
    if (marks == marks_of_queue_.end()) return kNone;
    const std::vector<uint32_t>& list = marks->second;
    auto it = std::partition_point(list.begin(), list.end(), [&](uint32_t mark) {
      return graph_.nodes[mark].start_ns <= node.launch_ns;
    });
    for (int depth = 0; it != list.begin() && depth < kMaxMarksSearched; ++depth) {
      --it;
      if (graph_.nodes[*it].end_ns() >= node.launch_ns) return *it;
    }
    return kNone;
  }

  void FindMarks() {
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const LinkNode& node = graph_.nodes[i];
      if (node.event == kNone || !node.timed() || !IsDeviceCommMark(node.name)) continue;
      if (node.role != NodeRole::kAnnotation && node.role != NodeRole::kHostOp) continue;
      marks_of_queue_[graph_.kineto->events[node.event].queue].push_back(i);
    }
    for (auto& [queue, list] : marks_of_queue_) {
      std::sort(list.begin(), list.end(), [this](uint32_t a, uint32_t b) {
        return graph_.nodes[a].start_ns < graph_.nodes[b].start_ns;
      });
    }
  }

  // Equal names of a file are one text.
  CommKernel Classify(absl::string_view name) {
    const auto [it, added] = classes_.emplace(name.data(), CommKernel());
    if (added) {
      it->second = graph_.kernel_names == nullptr ? ClassifyKernel(name)
                                                  : graph_.kernel_names->Classify(name);
    }
    return it->second;
  }

  void ListSuspects() {
    for (const auto& [name, count] : suspects_) {
      graph_.flaws.push_back(
          {"unknown_comm_kernel", -1, -1,
           absl::StrCat(count, " kernels \"", name,
                        "\": look like communication and are in no table: taken for compute; "
                        "an entry of kernel_names says what they are")});
    }
  }

  CommCall DeviceCall(uint32_t index, const CommKernel& kernel) {
    const LinkNode& node = graph_.nodes[index];
    CommCall call;
    call.node = index;
    std::vector<const CommArgs*> marks;  // Calls around that say less than record_param_comms.
    std::optional<CommKind> kind;
    if (const uint32_t mark = MarkAround(node); mark != kNone) {
      used_[mark] = true;
      call.record = mark;
      kind = CommKindOfOp(OpName(graph_.nodes[mark]));
      if (graph_.nodes[mark].args != nullptr) marks.push_back(graph_.nodes[mark].args);
    }
    uint32_t at = node.caller;
    for (int depth = 0; at != kNone && depth < kMaxCallDepth; ++depth) {
      const LinkNode& around = graph_.nodes[at];
      if (IsCommRecord(around)) {
        used_[at] = true;
        const bool full = IsRecordParamComms(around.name);
        if (call.record == kNone || full) call.record = at;
        if (around.args != nullptr && full) CompleteArgs(*around.args, &call.args);
        if (around.args != nullptr && !full) marks.push_back(around.args);
        const std::optional<CommKind> said = CommKindOfOp(OpName(around));
        if (said.has_value() && (full || !kind.has_value())) kind = said;
      }
      at = around.parent;
    }
    for (const CommArgs* mark : marks) CompleteArgs(*mark, &call.args);
    if (node.args != nullptr) {
      CompleteArgs(*node.args, &call.args);
      if (!kind.has_value()) kind = CommKindOfOp(node.args->op);
    }
    if (!kind.has_value() && kernel.kernel_class == KernelClass::kComm) kind = kernel.kind;
    call.undecided = !kind.has_value();
    // A group of sends and receives that nobody named: everyone to everyone.
    call.kind = kind.value_or(CommKind{NodeType::kCommColl, CollectiveType::kAllToAll});
    return call;
  }

  // ---- 3. Calls without a device operation.

  void FindHostOnlyComm() {
    // Calls nest: c10d:: around record_param_comms around nccl:*. The outermost
    // stands for all; record_param_comms says most, the mark next.
    std::map<uint32_t, uint32_t> best_of_outermost;
    std::map<uint32_t, bool> moved;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!IsCommRecord(graph_.nodes[i])) continue;
      const uint32_t outermost = Outermost(i);
      moved[outermost] = moved[outermost] || used_[i];
      if (!CommKindOfOp(OpName(graph_.nodes[i])).has_value()) continue;
      uint32_t& best = best_of_outermost.emplace(outermost, i).first->second;
      if (Detail(i) > Detail(best)) best = i;
    }
    FindPositions();
    const size_t batched_count = TakeBatches(best_of_outermost, &moved);
    for (const auto& [outermost, best] : best_of_outermost) {
      if (!moved[outermost]) BecomeComm(best, outermost);
    }
    LeaveThreads();
    if (retyped_.size() > batched_count && graph_.kineto != nullptr) {
      graph_.notices.push_back(
          absl::StrCat(retyped_.size() - batched_count,
                       " communication calls of the host have no operation of their own in the "
                       "profile: they are kept as communication without times"));
    }
  }

  // Gives undecided kernels the sends and receives that were batched into them.
  // Returns how many host calls became communication nodes of their own.
  size_t TakeBatches(const std::map<uint32_t, uint32_t>& best_of_outermost,
                     std::map<uint32_t, bool>* moved) {
    std::vector<uint32_t> kernels, waiting;
    std::map<uint32_t, size_t> call_of_kernel;
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (!calls_[i].undecided || graph_.nodes[calls_[i].node].role != NodeRole::kDevice) continue;
      kernels.push_back(calls_[i].node);
      call_of_kernel[calls_[i].node] = i;
    }
    for (const auto& [outermost, best] : best_of_outermost) {
      const CommKind kind = *CommKindOfOp(OpName(graph_.nodes[best]));
      if (!(*moved)[outermost] && kind.type != NodeType::kCommColl) waiting.push_back(outermost);
    }
    if (kernels.empty() || waiting.empty()) return 0;
    const size_t retyped_before = retyped_.size();
    for (const auto& [kernel, batch] : FindBatches(graph_, kernels, waiting)) {
      for (const uint32_t outermost : batch) (*moved)[outermost] = true;
      const size_t of_kernel = call_of_kernel[kernel];
      const CommArgs kernel_args = calls_[of_kernel].args;  // May tell the group.
      const size_t first = calls_.size();
      std::vector<uint32_t> members;
      for (const uint32_t outermost : batch) {
        const uint32_t best = best_of_outermost.find(outermost)->second;
        if (batch.size() > 1) {
          BecomeComm(best, outermost);
          members.push_back(best);
        } else {
          calls_[of_kernel] = RecordedCall(best, outermost);
          calls_[of_kernel].node = kernel;
          graph_.nodes[kernel].type = calls_[of_kernel].kind.type;
        }
      }
      if (batch.size() == 1) {
        CompleteArgs(kernel_args, &calls_[of_kernel].args);
        continue;
      }
      for (size_t i = first; i < calls_.size(); ++i) CompleteGroup(kernel_args, &calls_[i].args);
      calls_[of_kernel].node = kNone;
      PlaceBatch(kernel, members, &graph_);
    }
    std::erase_if(calls_, [](const CommCall& call) { return call.node == kNone; });
    return retyped_.size() - retyped_before;
  }

  uint32_t Outermost(uint32_t index) const {
    for (int depth = 0; depth < kMaxCallDepth; ++depth) {
      const uint32_t parent = graph_.nodes[index].parent;
      if (parent == kNone || !IsCommRecord(graph_.nodes[parent])) break;
      index = parent;
    }
    return index;
  }

  int Detail(uint32_t index) const {
    const absl::string_view name = graph_.nodes[index].name;
    return IsRecordParamComms(name) ? 2 : IsDeviceCommMark(name) ? 1 : 0;
  }

  CommCall RecordedCall(uint32_t index, uint32_t outermost) const {
    const LinkNode& node = graph_.nodes[index];
    CommCall call;
    call.node = index;
    call.record = index;
    call.kind = *CommKindOfOp(OpName(node));
    if (node.args != nullptr) call.args = *node.args;
    const LinkNode& outer = graph_.nodes[outermost];
    if (outermost != index && outer.args != nullptr) CompleteArgs(*outer.args, &call.args);
    return call;
  }

  void BecomeComm(uint32_t index, uint32_t outermost) {
    LinkNode& node = graph_.nodes[index];
    CommCall call = RecordedCall(index, outermost);
    // Starts after the operation before it on the thread that called.
    const std::vector<uint32_t>& thread = graph_.in_order[node.queue];
    for (size_t at = position_[index]; at > 0 && node.caller == kNone; --at) {
      if (graph_.nodes[thread[at - 1]].role != NodeRole::kComm) node.caller = thread[at - 1];
    }
    retyped_.push_back(index);
    node.launch_ns = node.start_ns;
    node.start_ns = node.dur_ns = kUnknownNs;
    node.role = NodeRole::kComm;
    node.type = call.kind.type;
    calls_.push_back(std::move(call));
  }

  void FindPositions() {
    position_.assign(graph_.size(), 0);
    for (const std::vector<uint32_t>& list : graph_.in_order) {
      for (size_t i = 0; i < list.size(); ++i) position_[list[i]] = i;
    }
  }

  // Takes the calls that became communication out of their threads and puts
  // them where communication of unrecorded place runs.
  void LeaveThreads() {
    if (retyped_.empty()) return;
    std::vector<bool> retyped(graph_.size(), false);
    for (const uint32_t index : retyped_) retyped[index] = true;
    const uint32_t queue = FindOrAddQueue(&graph_, {Queue::Kind::kDeviceStream, -1, -1});
    graph_.in_order.resize(graph_.queues.size());
    for (std::vector<uint32_t>& list : graph_.in_order) {
      std::erase_if(list, [&retyped](uint32_t i) { return retyped[i]; });
    }
    std::sort(retyped_.begin(), retyped_.end(),
              [this](uint32_t a, uint32_t b) { return InOrder(graph_, a, b); });
    for (const uint32_t index : retyped_) {
      graph_.nodes[index].queue = queue;
      graph_.in_order[queue].push_back(index);
    }
    for (LinkNode& node : graph_.nodes) {
      for (int depth = 0; depth < kMaxCallDepth && node.parent != kNone; ++depth) {
        if (graph_.nodes[node.parent].role != NodeRole::kComm) break;
        node.parent = graph_.nodes[node.parent].parent;
      }
    }
  }

  LinkGraph& graph_;
  absl::flat_hash_map<const char*, CommKernel> classes_;  // Of kernel names.
  std::map<std::string, int64_t> suspects_;
  std::map<uint32_t, std::vector<uint32_t>> marks_of_queue_;  // KinetoTrace's; by start.
  std::vector<bool> used_;  // Host calls whose communication was found.
  std::vector<CommCall> calls_;
  std::vector<uint32_t> retyped_;
  std::vector<size_t> position_;  // Of each node in its queue's order.
  std::map<uint64_t, uint32_t> queue_of_tid_;
  std::map<uint32_t, std::deque<uint32_t>> pending_;  // c10d:: calls of a thread.
  uint32_t busiest_queue_ = kNone;
};

}  // namespace

std::vector<CommCall> FindCommCalls(LinkGraph* graph) { return Finder(graph).Run(); }

}  // namespace chakrad
