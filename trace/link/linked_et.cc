#include "trace/link/linked_et.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

constexpr uint32_t kAnnotationScope = 7;
// Clocks of host and device agree to about this.
constexpr int64_t kClockSlackNs = 1000;

class ViewBuilder {
 public:
  explicit ViewBuilder(const PyTorchEt& et) : et_(et) {}

  LinkedView Run() {
    view_.kineto.base_unix_ns = et_.base_unix_ns;
    AddTimedNodes();
    AddLaunches();
    Sort();
    view_.nesting = FindNesting(view_.kineto);
    FillMatches();
    return std::move(view_);
  }

 private:
  struct Source {
    uint32_t op = kNone;      // The node that the event is; of a launch, that it launches.
    uint32_t parent = kNone;  // Of a launch: the source that it lies in.
    bool launch = false;
  };

  uint32_t FindQueue(const Queue& queue) {
    const auto [it, added] =
        queues_.emplace(std::make_tuple(queue.kind, queue.device, queue.raw_id),
                        static_cast<uint32_t>(view_.kineto.queues.size()));
    if (added) view_.kineto.queues.push_back(queue);
    return it->second;
  }

  void AddTimedNodes() {
    event_of_op_.assign(et_.ops.size(), kNone);
    for (const EtLinkedOp& linked : et_.linked) {
      const EtOp& op = et_.ops[linked.op];
      KinetoEvent event;
      event.kind = linked.device == EtDevice::kKernel   ? KinetoKind::kKernel
                   : linked.device == EtDevice::kMemcpy ? KinetoKind::kMemcpy
                   : linked.device == EtDevice::kMemset ? KinetoKind::kMemset
                   : op.scope == kAnnotationScope       ? KinetoKind::kAnnotation
                                                        : KinetoKind::kHostOp;
      // One rank's file; the linker does not tell devices apart.
      const Queue queue =
          linked.device == EtDevice::kNone
              ? Queue{Queue::Kind::kHostThread, -1, static_cast<int64_t>(op.tid & INT32_MAX)}
              : Queue{Queue::Kind::kDeviceStream, 0, linked.stream};
      event.queue = FindQueue(queue);
      if (linked.device == EtDevice::kNone) view_.host_match.queue_of_tid[op.tid] = event.queue;
      event.name = interner_.Intern(et_.strings.Get(op.name));
      event.start_ns = linked.start_ns;
      event.dur_ns = linked.dur_ns;
      event_of_op_[linked.op] = static_cast<uint32_t>(events_.size());
      Add(event, {linked.op, kNone, false});
    }
  }

  void Add(KinetoEvent event, const Source& source) {
    event.record = static_cast<int64_t>(events_.size());
    events_.push_back(event);
    sources_.push_back(source);
  }

  void AddLaunches() {
    absl::flat_hash_map<uint64_t, uint32_t> op_of_id;
    for (uint32_t op = 0; op < et_.ops.size(); ++op) op_of_id.emplace(et_.ops[op].id, op);
    const uint32_t name = interner_.Intern("launch");
    for (const EtLinkedOp& linked : et_.linked) {
      if (linked.device == EtDevice::kNone) continue;
      ++view_.device_match.device_ops_count;
      const auto parent = op_of_id.find(et_.ops[linked.op].parent);
      const uint32_t around = parent == op_of_id.end() ? kNone : event_of_op_[parent->second];
      if (around == kNone || IsDeviceOp(events_[around])) {
        ++view_.device_match.unlinked_count;
        continue;
      }
      ++view_.device_match.by_correlation_count;
      KinetoEvent call;
      call.kind = KinetoKind::kRuntime;
      call.name = name;
      call.queue = events_[around].queue;
      call.start_ns = events_[around].start_ns;
      call.correlation = view_.device_match.by_correlation_count;
      Add(call, {linked.op, around, true});
    }
  }

  // Into a reader's order.
  void Sort() {
    std::vector<uint32_t> order(events_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      return std::make_tuple(events_[a].start_ns, -events_[a].dur_ns, a) <
             std::make_tuple(events_[b].start_ns, -events_[b].dur_ns, b);
    });
    place_.assign(events_.size(), kNone);
    for (uint32_t i = 0; i < order.size(); ++i) {
      place_[order[i]] = i;
      view_.kineto.events.push_back(events_[order[i]]);
    }
  }

  void FillMatches() {
    const size_t events_count = events_.size();
    view_.host_match.event_of_op.assign(et_.ops.size(), kNone);
    view_.host_match.op_of_event.assign(events_count, kNone);
    view_.device_match.launch.assign(events_count, kNone);
    view_.device_match.host_op.assign(events_count, kNone);
    for (uint32_t i = 0; i < events_count; ++i) {
      const Source& source = sources_[i];
      if (source.launch) {
        view_.device_match.launch[place_[event_of_op_[source.op]]] = place_[i];
        // As recorded: times alone would put it into a child that starts with its parent.
        view_.nesting.enclosing[place_[i]] = place_[source.parent];
      } else {
        view_.host_match.event_of_op[source.op] = place_[i];
        view_.host_match.op_of_event[place_[i]] = source.op;
      }
    }
    view_.host_match.matched_count = static_cast<int64_t>(et_.linked.size());
  }

  const PyTorchEt& et_;
  LinkedView view_;
  StringInterner interner_{&view_.kineto.strings};
  std::vector<KinetoEvent> events_;
  std::vector<Source> sources_;  // Of each of events_.
  std::vector<uint32_t> event_of_op_;
  std::vector<uint32_t> place_;  // Of each of events_, in order.
  std::map<std::tuple<Queue::Kind, int32_t, int64_t>, uint32_t> queues_;
};

class SyncAdder {
 public:
  SyncAdder(LinkGraph* graph, Ledger* ledger) : graph_(*graph), ledger_(ledger) {
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (graph_.nodes[i].et_op != kNone) node_of_id_.emplace(graph_.nodes[i].id, i);
    }
  }

  void Run() {
    std::vector<std::pair<uint32_t, const EtLinkedDep*>> deps;  // By place in time.
    for (const EtLinkedDep& dep : graph_.et->linked_deps) {
      deps.emplace_back(node_of_id_.find(graph_.et->ops[dep.op].id)->second, &dep);
    }
    std::stable_sort(deps.begin(), deps.end(), [this](const auto& a, const auto& b) {
      return a.first != b.first && InOrder(graph_, a.first, b.first);
    });
    for (const auto& [node, dep] : deps) {
      const uint32_t awaited = node_of_id_.find(dep->dependency)->second;
      if (dep->inter_thread) {
        const auto [last, first_of_thread] =
            last_of_queue_.emplace(graph_.nodes[node].queue, awaited);
        if (!first_of_thread && last->second == awaited) {
          ++implied_count_;
          continue;
        }
        last->second = awaited;
      }
      Add(node, awaited, *dep);
    }
    if (deps.empty()) return;
    ledger_->notices.push_back(absl::StrCat(
        "of ", deps.size(), " waits that the linker recorded, ", kept_count_,
        " became dependencies, ", implied_count_, " follow from thread order, ", last_count_,
        " have nothing behind them, ", backwards_count_, " point back in time and were dropped"));
  }

 private:
  void Add(uint32_t index, uint32_t awaited, const EtLinkedDep& dep) {
    const LinkNode& node = graph_.nodes[index];
    const LinkNode& other = graph_.nodes[awaited];
    const bool timed = node.timed() && other.timed();
    if (InOrder(graph_, awaited, index) &&
        (!timed || other.end_ns() <= node.start_ns + kClockSlackNs)) {
      graph_.AddEdge(index, awaited, EdgeKind::kSync);
      ++kept_count_;
      return;
    }
    const bool inside = timed && !dep.inter_thread && node.role != NodeRole::kDevice &&
                        index != awaited && other.end_ns() <= node.end_ns() + kClockSlackNs &&
                        InOrder(graph_, awaited, index);
    if (inside) return AddToNext(index, awaited);
    ++backwards_count_;
    ledger_->AddFlaw(
        "linked_sync_backwards", -1, graph_.et->ops[dep.op].byte_offset,
        absl::StrCat("node ", node.id, " (", node.name.substr(0, 100), ") ",
                     dep.inter_thread ? "inter_thread_dep" : "sync_dep", " on node ", other.id,
                     " (", other.name.substr(0, 100), "), which ends later: dropped"));
  }

  // The wait ended inside the node: what follows on its thread depends on it.
  void AddToNext(uint32_t index, uint32_t awaited) {
    const LinkNode& node = graph_.nodes[index];
    const int64_t end_ns = std::min(graph_.nodes[awaited].end_ns(), node.end_ns());
    const std::vector<uint32_t>& thread = graph_.in_order[node.queue];
    size_t at = FirstStartingAt(graph_, node.queue, end_ns);
    while (at < thread.size() && (!graph_.nodes[thread[at]].timed() || thread[at] == index)) ++at;
    if (at == thread.size()) {
      ++last_count_;
      return;
    }
    graph_.AddEdge(thread[at], awaited, EdgeKind::kSync);
    graph_.waits.push_back({thread[at], awaited, end_ns, end_ns});
    ++kept_count_;
  }

  LinkGraph& graph_;
  Ledger* ledger_;
  absl::flat_hash_map<uint64_t, uint32_t> node_of_id_;
  absl::flat_hash_map<uint32_t, uint32_t> last_of_queue_;  // inter_thread_dep in force.
  int64_t kept_count_ = 0;
  int64_t implied_count_ = 0;
  int64_t last_count_ = 0;
  int64_t backwards_count_ = 0;
};

}  // namespace

LinkedView ViewOfLinkedEt(const PyTorchEt& et) { return ViewBuilder(et).Run(); }

void AddLinkedSyncEdges(LinkGraph* graph, Ledger* ledger) { SyncAdder(graph, ledger).Run(); }

}  // namespace chakrad
