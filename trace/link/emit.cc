#include "trace/link/emit.h"

#include <string>

#include "common/status.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/readers/cold_writer.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

void WriteKnown(absl::string_view name, int64_t value, ColdWriter* cold) {
  if (value >= 0) cold->Int(name, value);
}

void WriteColdOfEvent(const LinkGraph& graph, const LinkNode& node, std::string* bytes) {
  const KinetoEvent& event = graph.kineto->events[node.event];
  ColdWriter cold(bytes);
  WriteKnown("correlation", event.correlation, &cold);
  WriteKnown("external_id", event.external_id, &cold);
  WriteKnown("rf_id", event.rf_id, &cold);
  WriteKnown("seq_id", event.sequence, &cold);
  if (node.role != NodeRole::kDevice) return;
  const Queue& queue = graph.kineto->queues[event.queue];
  WriteKnown("stream", queue.raw_id, &cold);
  WriteKnown("device", queue.device, &cold);
  WriteKnown("bytes", event.bytes, &cold);
  WriteKnown("launch_ns", node.launch_ns, &cold);
}

absl::string_view ColdOfOp(const PyTorchEt& et, const EtOp& op) {
  if (op.cold_end <= op.cold_begin || op.cold_end > et.cold.size()) return {};
  return absl::string_view(et.cold.data() + op.cold_begin, op.cold_end - op.cold_begin);
}

void AddNode(const LinkGraph& graph, const LinkNode& node, RankTraceBuilder* builder) {
  NodeSpec spec;
  spec.id = node.id;
  spec.name = node.name;
  spec.queue = graph.queues[node.queue];
  spec.start_ns = node.start_ns;
  spec.dur_ns = node.dur_ns;
  spec.work_ns = node.work_ns;
  spec.gap_ns = node.gap_ns;
  const bool mark = node.role == NodeRole::kRoot || node.role == NodeRole::kAnnotation;
  const bool host = node.role != NodeRole::kDevice && spec.queue.kind == Queue::Kind::kHostThread;
  spec.type = mark ? NodeType::kMetadata : node.type;
  spec.flags = (host ? RankTrace::kHostOp : 0) | (mark ? RankTrace::kAnnotation : 0);
  if (node.comm != kNone) spec.comm = &graph.comm[node.comm];
  WorkSize size;
  if (IsMemory(node.type) && node.event != kNone && graph.kineto->events[node.event].bytes > 0) {
    size.tensor_bytes = graph.kineto->events[node.event].bytes;
    spec.work_size = &size;
  }
  std::string cold;
  if (node.et_op != kNone) {
    spec.cold = ColdOfOp(*graph.et, graph.et->ops[node.et_op]);
  } else if (node.event != kNone) {
    WriteColdOfEvent(graph, node, &cold);
    spec.cold = cold;
  }
  builder->AddNode(spec);
}

}  // namespace

absl::StatusOr<RankTrace> EmitRankTrace(const LinkGraph& graph) {
  RankTraceBuilder builder;
  for (const LinkNode& node : graph.nodes) AddNode(graph, node, &builder);
  for (const LinkEdge& edge : graph.edges) builder.AddEdge(edge.node, edge.dependency, edge.kind);
  builder.header().groups = graph.groups;
  if (graph.kineto != nullptr) builder.header().base_unix_ns = graph.kineto->base_unix_ns;
  builder.header().schema = graph.et != nullptr ? graph.et->schema : "kineto";
  return builder.Build(nullptr);
}

}  // namespace chakrad
