#include "trace/link/build_graph.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/link/comm_kernels.h"
#include "trace/link/match_device.h"
#include "trace/link/match_host.h"
#include "trace/link/nesting.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

// Recorded parents that are skipped before a node goes without one.
constexpr int kMaxSkippedParents = 64;
constexpr int kMaxListedInCycle = 20;

absl::Status ParentCycle(const PyTorchEt& et, uint32_t first,
                         const absl::flat_hash_map<uint64_t, uint32_t>& op_of_id) {
  const auto describe = [&et](uint32_t op) {
    return absl::StrCat("node ", et.ops[op].id, " (", et.strings.Get(et.ops[op].name), ")");
  };
  std::string message = absl::StrCat("byte offset ", et.ops[first].byte_offset,
                                     ": dependency cycle: ", describe(first));
  uint32_t at = first;
  for (int listed = 0; listed < kMaxListedInCycle; ++listed) {
    at = op_of_id.find(et.ops[at].parent)->second;
    absl::StrAppend(&message, " -control-> ", describe(at));
    if (at == first) return absl::InvalidArgumentError(message);
  }
  return absl::InvalidArgumentError(absl::StrCat(message, " ..."));
}

// Whether the recorded calls lie in each other without a cycle. Each has one
// parent, so a walk up either ends or comes back to where it was. O(operations).
absl::Status CheckParents(const PyTorchEt& et) {
  absl::flat_hash_map<uint64_t, uint32_t> op_of_id;
  op_of_id.reserve(et.ops.size());
  for (uint32_t i = 0; i < et.ops.size(); ++i) op_of_id.emplace(et.ops[i].id, i);
  std::vector<uint32_t> walk(et.ops.size(), 0);  // The number of the walk that came by.
  for (uint32_t start = 0; start < et.ops.size(); ++start) {
    for (uint32_t at = start; walk[at] == 0;) {
      walk[at] = start + 1;
      const auto parent = op_of_id.find(et.ops[at].parent);
      if (parent == op_of_id.end() || parent->second == at) break;  // A root.
      at = parent->second;
      if (walk[at] == start + 1) return ParentCycle(et, at, op_of_id);
    }
  }
  return absl::OkStatus();
}

class Builder {
 public:
  Builder(const PyTorchEt* et, const KinetoTrace* kineto, const Manifest* manifest,
          const HostMatch& host_match, const Nesting& nesting, const DeviceMatch& device_match)
      : host_match_(host_match), nesting_(nesting), device_match_(device_match) {
    graph_.et = et;
    graph_.kineto = kineto;
    graph_.manifest = manifest;
  }

  absl::StatusOr<LinkGraph> Run() {
    if (graph_.et != nullptr) {
      RETURN_IF_ERROR(CheckParents(*graph_.et));
      AddEtOps();
    }
    const size_t recorded_count = graph_.nodes.size();
    if (graph_.kineto != nullptr) {
      graph_.node_of_event.assign(graph_.kineto->events.size(), kNone);
      for (uint32_t i = 0; i < graph_.size(); ++i) {
        if (graph_.nodes[i].event != kNone) graph_.node_of_event[graph_.nodes[i].event] = i;
      }
      AddHostEvents();
      AddDeviceOps();
      AddCalls();
    }
    if (largest_id_ > UINT64_MAX - (graph_.nodes.size() - recorded_count)) {
      return absl::InvalidArgumentError(
          absl::StrCat("id: ", largest_id_, " leaves no ids for the device's operations"));
    }
    for (size_t i = recorded_count; i < graph_.nodes.size(); ++i) {
      graph_.nodes[i].id = ++largest_id_;
    }
    if (graph_.kineto == nullptr) {
      OrderById();
    } else if (graph_.et != nullptr) {
      PlaceUntimedOps();
    }
    FindParents();
    Order();
    return std::move(graph_);
  }

 private:
  // The graph's queue of a Kineto event.
  uint32_t QueueOfEvent(uint32_t event) {
    const std::vector<Queue>& queues = graph_.kineto->queues;
    const uint32_t recorded = graph_.kineto->events.queue(event);
    if (queue_of_recorded_.size() < queues.size()) queue_of_recorded_.resize(queues.size(), kNone);
    uint32_t& queue = queue_of_recorded_[recorded];
    if (queue == kNone) queue = FindOrAddQueue(&graph_, queues[recorded]);
    return queue;
  }

  absl::string_view EventName(uint32_t event) const {
    return graph_.kineto->strings.Get(graph_.kineto->events.name(event));
  }

  void AddEtOps() {
    const PyTorchEt& et = *graph_.et;
    std::vector<uint32_t> ops(et.ops.size());
    std::iota(ops.begin(), ops.end(), 0);
    std::sort(ops.begin(), ops.end(),
              [&et](uint32_t a, uint32_t b) { return et.ops[a].id < et.ops[b].id; });
    for (const uint32_t index : ops) {
      const EtOp& op = et.ops[index];
      LinkNode node;
      node.id = op.id;
      node.name = et.strings.Get(op.name);
      node.et_op = index;
      if (op.comm != kNone) node.args = &et.comm_args[op.comm];
      if (index < host_match_.event_of_op.size()) node.event = host_match_.event_of_op[index];
      node.role = IsEtRoot(et, index)            ? NodeRole::kRoot
                  : IsLinkedDeviceOp(node)       ? NodeRole::kDevice
                  : IsAsyncHostComm(node.name)   ? NodeRole::kComm
                  : op.scope == kAnnotationScope ? NodeRole::kAnnotation
                                                 : NodeRole::kHostOp;
      node.queue = node.event != kNone ? QueueOfEvent(node.event)
                                       : FindOrAddQueue(&graph_, QueueOf(op, node));
      if (node.event != kNone) TakeTimes(&node);
      if (node.role == NodeRole::kDevice) SetWork(&node);
      largest_id_ = std::max(largest_id_, op.id);
      graph_.nodes.push_back(node);
    }
  }

  Queue QueueOf(const EtOp& op, const LinkNode& node) const {
    if (node.event != kNone) return graph_.kineto->queues[graph_.kineto->events.queue(node.event)];
    if (node.role == NodeRole::kComm) return {Queue::Kind::kHostThread, -1, kUnknownWorker};
    const auto it = host_match_.queue_of_tid.find(op.tid);
    if (it != host_match_.queue_of_tid.end()) return graph_.kineto->queues[it->second];
    // The recorder's own thread number; below zero beside Kineto's, which are the system's.
    const int64_t tid = static_cast<int64_t>(op.tid & INT32_MAX);
    return {Queue::Kind::kHostThread, -1, graph_.kineto == nullptr ? tid : -2 - tid};
  }

  void TakeTimes(LinkNode* node) const {
    const KinetoEvents& events = graph_.kineto->events;
    node->start_ns = events.start_ns(node->event);
    node->dur_ns = events.dur_ns(node->event);
    node->order_ns = node->start_ns;
    const uint32_t comm = events.comm(node->event);
    if (node->args == nullptr && comm != kNone) node->args = &graph_.kineto->comm_args[comm];
  }

  LinkNode EventNode(uint32_t index, NodeRole role) {
    LinkNode node;
    node.name = EventName(index);
    node.role = role;
    node.event = index;
    node.queue = QueueOfEvent(index);
    TakeTimes(&node);
    return node;
  }

  void Add(uint32_t index, const LinkNode& node) {
    graph_.node_of_event[index] = graph_.size();
    graph_.nodes.push_back(node);
  }

  // Host events that the execution trace lacks, and launches outside of any.
  void AddHostEvents() {
    const KinetoTrace& kineto = *graph_.kineto;
    std::vector<bool> launches(kineto.events.size(), false);
    for (const uint32_t call : device_match_.launch) {
      if (call != kNone) launches[call] = true;
    }
    for (uint32_t index = 0; index < kineto.events.size(); ++index) {
      const KinetoKind kind = kineto.events.kind(index);
      if (kind == KinetoKind::kRuntime) {
        if (launches[index] && nesting_.enclosing[index] == kNone) {
          Add(index, EventNode(index, NodeRole::kHostOp));
        }
      } else if ((kind == KinetoKind::kHostOp || kind == KinetoKind::kAnnotation) &&
                 graph_.node_of_event[index] == kNone) {
        Add(index, EventNode(index, IsAsyncHostComm(EventName(index)) ? NodeRole::kComm
                                    : kind == KinetoKind::kAnnotation ? NodeRole::kAnnotation
                                                                      : NodeRole::kHostOp));
      }
    }
  }

  // A device operation that the execution trace itself holds, linked already.
  bool IsLinkedDeviceOp(const LinkNode& node) const {
    return node.event != kNone && IsDeviceOp(graph_.kineto->events.kind(node.event));
  }

  void AddDeviceOps() {
    const KinetoTrace& kineto = *graph_.kineto;
    for (uint32_t index = 0; index < kineto.events.size(); ++index) {
      if (!IsDeviceOp(kineto.events.kind(index))) continue;
      if (graph_.node_of_event[index] != kNone) {
        SetLaunch(&graph_.nodes[graph_.node_of_event[index]]);
        continue;
      }
      LinkNode node = EventNode(index, NodeRole::kDevice);
      SetWork(&node);
      SetLaunch(&node);
      Add(index, node);
    }
  }

  void SetWork(LinkNode* node) const {
    const KinetoKind kind = graph_.kineto->events.kind(node->event);
    // A copy to the device loads; what leaves it, or fills it, stores.
    node->type = kind == KinetoKind::kKernel   ? NodeType::kComp
                 : kind == KinetoKind::kMemset ? NodeType::kMemStore
                 : IsCopyOut(node->name)       ? NodeType::kMemStore
                                               : NodeType::kMemLoad;
  }

  void SetLaunch(LinkNode* node) const {
    const uint32_t call = device_match_.launch[node->event];
    const uint32_t host_op = device_match_.host_op[node->event];
    if (call != kNone) {
      const uint32_t around = nesting_.enclosing[call];
      node->caller = graph_.node_of_event[around == kNone ? call : around];
      node->launch_event = call;
      node->launch_ns = graph_.kineto->events.start_ns(call);
    } else if (host_op != kNone) {
      node->caller = graph_.node_of_event[host_op];
      node->launch_ns = graph_.nodes[node->caller].start_ns;
    }
  }

  static bool IsCopyOut(absl::string_view name) {
    return name.find("DtoH") != absl::string_view::npos ||
           name.find("DeviceToHost") != absl::string_view::npos ||
           name.find("d2h") != absl::string_view::npos;
  }

  void AddCalls() {
    const KinetoTrace& kineto = *graph_.kineto;
    for (uint32_t index = 0; index < kineto.events.size(); ++index) {
      if (kineto.events.kind(index) != KinetoKind::kRuntime) continue;
      const uint32_t around = nesting_.enclosing[index];
      graph_.calls.push_back(
          {index, around == kNone ? graph_.node_of_event[index] : graph_.node_of_event[around],
           QueueOfEvent(index)});
    }
  }

  // Without any times: the recorder numbers operations when they start. Where a
  // caller has a larger number all the same, what it called comes after it.
  void OrderById() {
    absl::flat_hash_map<uint64_t, uint32_t> node_of_id;
    for (uint32_t i = 0; i < graph_.size(); ++i) node_of_id.emplace(graph_.nodes[i].id, i);
    struct Place {
      uint32_t after = kNone;  // The largest index among the node and its callers.
      uint32_t depth = 0;      // Of calls below that one.
    };
    std::vector<Place> places(graph_.size());
    std::vector<uint32_t> chain;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      chain.clear();
      for (uint32_t at = i; places[at].after == kNone;) {
        chain.push_back(at);
        const auto it = node_of_id.find(graph_.et->ops[graph_.nodes[at].et_op].parent);
        if (it == node_of_id.end() || it->second == at)
          places[at].after = at;
        else
          at = it->second;
      }
      // From the outermost call inwards.
      for (size_t k = chain.size(); k > 0; --k) {
        const uint32_t at = chain[k - 1];
        if (places[at].after != kNone) continue;
        const Place& caller =
            places[node_of_id.find(graph_.et->ops[graph_.nodes[at].et_op].parent)->second];
        places[at] = caller.after > at ? Place{caller.after, caller.depth + 1} : Place{at, 0};
      }
    }
    std::vector<uint32_t> order(graph_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&places](uint32_t a, uint32_t b) {
      return std::make_tuple(places[a].after, places[a].depth, a) <
             std::make_tuple(places[b].after, places[b].depth, b);
    });
    for (uint32_t i = 0; i < order.size(); ++i) graph_.nodes[order[i]].order_ns = i;
  }

  // An operation without times comes after the last one before it on its
  // recorder's thread that has some.
  void PlaceUntimedOps() {
    absl::flat_hash_map<uint64_t, int64_t> last_ns;
    const std::vector<EtOp>& ops = graph_.et->ops;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      if (node->et_op == kNone || !node->timed() || node->role == NodeRole::kDevice) continue;
      last_ns[ops[node->et_op].tid] = node->start_ns;
    }
    for (LinkNode& node : graph_.nodes) {
      if (node.et_op == kNone) continue;
      const uint64_t tid = ops[node.et_op].tid;
      if (!node.timed()) {
        const auto it = last_ns.find(tid);
        if (it != last_ns.end()) node.order_ns = it->second;
      } else if (node.role != NodeRole::kComm && node.role != NodeRole::kDevice) {
        last_ns[tid] = node.start_ns;
      }
    }
  }

  // By time where there is one; else as recorded, past communication: the
  // recorder's stack is off after an asynchronous call.
  void FindParents() {
    absl::flat_hash_map<uint64_t, uint32_t> node_of_id;
    if (graph_.et != nullptr) node_of_id.reserve(graph_.et->ops.size());
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (graph_.nodes[i].et_op != kNone) node_of_id.emplace(graph_.nodes[i].id, i);
    }
    int64_t moved_count = 0;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      LinkNode& node = graph_.nodes[i];
      if (node.role == NodeRole::kDevice) {
        if (node.caller == kNone && node.et_op != kNone) {
          node.caller = RecordedParent(i, node_of_id);
        }
        continue;
      }
      const uint32_t recorded = node.et_op == kNone ? kNone : RecordedParent(i, node_of_id);
      if (!node.timed() || node.role == NodeRole::kComm) {
        node.parent = recorded;
        continue;
      }
      const uint32_t around = nesting_.enclosing[node.event];
      node.parent = around == kNone ? kNone : graph_.node_of_event[around];
      if (node.parent == kNone && recorded != kNone) node.parent = RootAbove(recorded, node_of_id);
      if (recorded != kNone && recorded != node.parent) ++moved_count;
    }
    if (moved_count > 0) {
      graph_.notices.push_back(
          absl::StrCat(moved_count,
                       " operations have another parent by time than the execution trace recorded; "
                       "time decides"));
    }
  }

  // The thread or process node that a recorded call lies in.
  uint32_t RootAbove(uint32_t index,
                     const absl::flat_hash_map<uint64_t, uint32_t>& node_of_id) const {
    for (int hop = 0; index != kNone && hop < kMaxSkippedParents; ++hop) {
      if (graph_.nodes[index].role == NodeRole::kRoot) return index;
      index = RecordedParent(index, node_of_id);
    }
    return kNone;
  }

  uint32_t RecordedParent(uint32_t index,
                          const absl::flat_hash_map<uint64_t, uint32_t>& node_of_id) const {
    uint32_t at = index;
    for (int hop = 0; hop < kMaxSkippedParents; ++hop) {
      const EtOp& op = graph_.et->ops[graph_.nodes[at].et_op];
      const auto it = node_of_id.find(op.parent);
      if (it == node_of_id.end() || it->second == at) return kNone;
      at = it->second;
      const NodeRole role = graph_.nodes[at].role;
      if (role != NodeRole::kComm && role != NodeRole::kDevice) return at;
    }
    return kNone;
  }

  void Order() {
    graph_.in_order.resize(graph_.queues.size());
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const LinkNode& node = graph_.nodes[i];
      graph_.in_order[node.queue].push_back(i);
      if (node.timed() &&
          (graph_.first_start_ns == kUnknownNs || node.start_ns < graph_.first_start_ns)) {
        graph_.first_start_ns = node.start_ns;
      }
    }
    const auto before = [this](uint32_t a, uint32_t b) { return InOrder(graph_, a, b); };
    for (std::vector<uint32_t>& list : graph_.in_order) {
      if (!std::is_sorted(list.begin(), list.end(), before)) {
        std::sort(list.begin(), list.end(), before);
      }
    }
  }

  static constexpr uint32_t kAnnotationScope = 7;
  static constexpr int64_t kUnknownWorker = -1;

  const HostMatch& host_match_;
  const Nesting& nesting_;
  const DeviceMatch& device_match_;
  LinkGraph graph_;
  uint64_t largest_id_ = 0;
  std::vector<uint32_t> queue_of_recorded_;  // By index into KinetoTrace::queues; kNone.
};

}  // namespace

absl::StatusOr<LinkGraph> BuildGraph(const PyTorchEt* et, const KinetoTrace* kineto,
                                     const Manifest* manifest, const HostMatch& host_match,
                                     const Nesting& nesting, const DeviceMatch& device_match) {
  return Builder(et, kineto, manifest, host_match, nesting, device_match).Run();
}

}  // namespace chakrad
