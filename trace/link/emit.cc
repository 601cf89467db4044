#include "trace/link/emit.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "trace/readers/cold_writer.h"
#include "trace/readers/comm_args.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

// Memory of the graph is given back each time that so many nodes are done.
constexpr uint32_t kNodesBetweenFrees = 1 << 14;
// No cold block of an event is longer: eight attributes.
constexpr size_t kMaxEventColdBytes = 200;

void WriteKnown(absl::string_view name, int64_t value, ColdWriter* cold) {
  if (value >= 0) cold->Int(name, value);
}

// Gives back the memory of an execution trace's cold blocks from the front: they
// are copied nearly in the order in which they lie there.
class ColdFreer {
 public:
  explicit ColdFreer(PyTorchEt* et) : et_(et), taken_(et == nullptr ? 0 : et->ops.size()) {}

  void Take(uint32_t op) { taken_[op] = true; }
  void Free() {
    if (et_ == nullptr || et_->cold.empty()) return;
    while (next_ < taken_.size() && taken_[next_]) ++next_;
    const size_t done = next_ < taken_.size() ? et_->ops[next_].cold_begin : et_->cold.size();
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<uintptr_t>(et_->cold.data());
    const uintptr_t from = std::max(freed_, (begin + page - 1) / page * page);
    const uintptr_t to = (begin + done) / page * page;
    if (to <= from) return;
    // The string stays as it is, its bytes read as zeros.
    madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
    freed_ = to;
  }

 private:
  PyTorchEt* et_;
  std::vector<bool> taken_;  // Of each operation.
  size_t next_ = 0;          // The first one that is not.
  uintptr_t freed_ = 0;
};

class Emitter {
 public:
  Emitter(LinkGraph* graph, PyTorchEt* et)
      : graph_(*graph), kineto_(graph->kineto), interner_(&trace_.strings), freer_(et) {}

  RankTrace Run() {
    trace_.groups = std::move(graph_.groups);
    if (kineto_ != nullptr) trace_.base_unix_ns = kineto_->base_unix_ns;
    trace_.schema = graph_.et != nullptr ? graph_.et->schema : "kineto";
    graph_.in_order = std::vector<std::vector<uint32_t>>();  // "= {}" would keep the memory.
    EmitEdges();
    EmitTimes();
    EmitNodes();
    return std::move(trace_);
  }

 private:
  // Edges of each node by (kind, dependency), equal ones once.
  void EmitEdges() {
    const uint32_t size = graph_.size();
    std::vector<uint32_t>& begin = trace_.dep_begin;
    begin.assign(size + 1, 0);
    for (const LinkEdge& edge : graph_.edges) ++begin[edge.node + 1];
    for (uint32_t node = 0; node < size; ++node) begin[node + 1] += begin[node];
    std::vector<uint32_t>& dep = trace_.dep_node;
    std::vector<EdgeKind>& kind = trace_.dep_kind;
    dep.resize(graph_.edges.size());
    kind.resize(graph_.edges.size());
    // Filled from each range's begin, which moves to its end: that of the next.
    for (const LinkEdge& edge : graph_.edges) {
      const uint32_t at = begin[edge.node]++;
      dep[at] = edge.dependency;
      kind[at] = edge.kind;
    }
    graph_.edges.clear();
    std::vector<std::pair<EdgeKind, uint32_t>> sorted;
    uint32_t kept = 0, from = 0;
    for (uint32_t node = 0; node < size; ++node) {
      const uint32_t to = begin[node];
      sorted.clear();
      for (uint32_t i = from; i < to; ++i) sorted.emplace_back(kind[i], dep[i]);
      std::sort(sorted.begin(), sorted.end());
      sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      begin[node] = kept;
      for (const auto& [edge_kind, dependency] : sorted) {
        kind[kept] = edge_kind;
        dep[kept++] = dependency;
      }
      from = to;
    }
    begin[size] = kept;
    dep.resize(kept);
    kind.resize(kept);
  }

  void EmitTimes() {
    if (graph_.work_ns.empty()) {
      trace_.work_ns.assign(graph_.size(), kUnknownNs);
      return;
    }
    trace_.work_ns = std::move(graph_.work_ns);
    size_t gaps_count = 0;
    for (const int64_t gap_ns : graph_.gap_ns) gaps_count += gap_ns > 0 ? 1 : 0;
    trace_.gap_node.reserve(gaps_count);
    trace_.gap_ns.reserve(gaps_count);
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      if (graph_.gap_ns[node] <= 0) continue;
      trace_.gap_node.push_back(node);
      trace_.gap_ns.push_back(graph_.gap_ns[node]);
    }
    graph_.gap_ns = std::vector<int64_t>();
  }

  void Reserve() {
    const size_t size = graph_.size();
    trace_.id.reserve(size);
    trace_.type.reserve(size);
    trace_.flags.reserve(size);
    trace_.queue.reserve(size);
    trace_.name.reserve(size);
    trace_.start_ns.reserve(size);
    trace_.dur_ns.reserve(size);
    trace_.side.reserve(size);
    trace_.cold_begin.reserve(size + 1);
    // Only what is written takes memory; growing would take it twice.
    size_t cold_bytes = 0;
    for (const LinkNode& node : graph_.nodes) {
      cold_bytes += node.et_op != kNone ? ColdOfOp(node.et_op).size() : kMaxEventColdBytes;
    }
    trace_.cold.reserve(cold_bytes);
  }

  void EmitNodes() {
    Reserve();
    queue_number_.assign(graph_.queues.size(), kNone);
    if (graph_.et != nullptr) et_name_.assign(graph_.et->strings.size(), kNone);
    if (kineto_ != nullptr) event_name_.assign(kineto_->strings.size(), kNone);
    trace_.cold_begin.push_back(0);
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      EmitNode(graph_.nodes[i]);
      if ((i + 1) % kNodesBetweenFrees != 0) continue;
      graph_.nodes.FreeBefore(i + 1);
      freer_.Free();
    }
    graph_.nodes.clear();
  }

  void EmitNode(const LinkNode& node) {
    const bool mark = node.role == NodeRole::kRoot || node.role == NodeRole::kAnnotation;
    const bool host = node.role != NodeRole::kDevice &&
                      graph_.queues[node.queue].kind == Queue::Kind::kHostThread;
    const NodeType type = mark ? NodeType::kMetadata : node.type;
    trace_.id.push_back(node.id);
    trace_.type.push_back(type);
    trace_.flags.push_back(static_cast<uint8_t>((host ? RankTrace::kHostOp : 0) |
                                                (mark ? RankTrace::kAnnotation : 0)));
    trace_.queue.push_back(QueueNumber(node.queue));
    trace_.name.push_back(NameNumber(node));
    trace_.start_ns.push_back(node.start_ns);
    trace_.dur_ns.push_back(node.dur_ns);
    trace_.side.push_back(SideOf(node, type));
    if (node.et_op != kNone) {
      const absl::string_view cold = ColdOfOp(node.et_op);
      trace_.cold.append(cold.data(), cold.size());
      freer_.Take(node.et_op);
    } else if (node.event != kNone) {
      WriteColdOfEvent(node);
    }
    trace_.cold_begin.push_back(trace_.cold.size());
  }

  uint16_t QueueNumber(uint32_t queue) {
    uint32_t& number = queue_number_[queue];
    if (number == kNone) {
      // A rank with 65,535 threads and streams is beyond anything real; the last
      // entry then takes all others, so that a hostile file stays harmless.
      if (trace_.queues.size() < UINT16_MAX) trace_.queues.push_back(graph_.queues[queue]);
      number = static_cast<uint32_t>(trace_.queues.size() - 1);
    }
    return static_cast<uint16_t>(number);
  }

  uint32_t NameNumber(const LinkNode& node) {
    uint32_t& number = node.et_op != kNone ? et_name_[graph_.et->ops[node.et_op].name]
                                           : event_name_[kineto_->events.name(node.event)];
    if (number == kNone) number = interner_.Intern(node.name);
    return number;
  }

  uint32_t SideOf(const LinkNode& node, NodeType type) {
    if (IsComm(type)) {
      if (node.comm == kNone) return kNone;
      trace_.comm.push_back(graph_.comm[node.comm]);
      return static_cast<uint32_t>(trace_.comm.size() - 1);
    }
    if (!IsMemory(node.type) || node.event == kNone) return kNone;
    const int64_t bytes = kineto_->events.bytes(node.event);
    if (bytes <= 0) return kNone;
    trace_.work_size.push_back({0, bytes});
    return static_cast<uint32_t>(trace_.work_size.size() - 1);
  }

  absl::string_view ColdOfOp(uint32_t index) const {
    const EtOp& op = graph_.et->ops[index];
    const std::string& cold = graph_.et->cold;
    if (op.cold_end <= op.cold_begin || op.cold_end > cold.size()) return {};
    return absl::string_view(cold.data() + op.cold_begin, op.cold_end - op.cold_begin);
  }

  void WriteColdOfEvent(const LinkNode& node) {
    const KinetoEvents& events = kineto_->events;
    ColdWriter cold(&trace_.cold);
    WriteKnown("correlation", events.correlation(node.event), &cold);
    WriteKnown("external_id", events.external_id(node.event), &cold);
    WriteKnown("rf_id", events.rf_id(node.event), &cold);
    WriteKnown("seq_id", events.sequence(node.event), &cold);
    if (node.role == NodeRole::kDevice) WriteColdOfDevice(node, &cold);
    if (node.args != nullptr && node.args->comms_id != 0)
      cold.Uint("comms_id", node.args->comms_id);
  }

  void WriteColdOfDevice(const LinkNode& node, ColdWriter* cold) {
    const KinetoEvents& events = kineto_->events;
    const Queue& queue = kineto_->queues[events.queue(node.event)];
    WriteKnown("stream", queue.raw_id, cold);
    WriteKnown("device", queue.device, cold);
    WriteKnown("bytes", events.bytes(node.event), cold);
    WriteKnown("launch_ns", node.launch_ns, cold);
  }

  LinkGraph& graph_;
  const KinetoTrace* kineto_;
  RankTrace trace_;
  StringInterner interner_;
  ColdFreer freer_;
  // Numbers in the result, of the graph's queues and the inputs' names; kNone: none yet.
  std::vector<uint32_t> queue_number_, et_name_, event_name_;
};

}  // namespace

absl::StatusOr<RankTrace> EmitRankTrace(LinkGraph graph, PyTorchEt* et) {
  return Emitter(&graph, et).Run();
}

}  // namespace chakrad
