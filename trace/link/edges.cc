#include "trace/link/edges.h"

#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

// Clocks of host and device agree to about this.
constexpr int64_t kClockSlackNs = 1000;

void AddQueueOrder(uint32_t queue, LinkGraph* graph) {
  const bool stream = graph->queues[queue].kind == Queue::Kind::kDeviceStream;
  std::map<uint32_t, uint32_t> last_of_group;
  uint32_t last = kNone;
  for (const uint32_t index : graph->in_order[queue]) {
    const LinkNode& node = graph->nodes[index];
    if (node.role == NodeRole::kComm && !node.timed()) {
      // Nothing tells what it ran beside. Group members meet in the same order.
      if (node.comm == kNone || node.type != NodeType::kCommColl) continue;
      const auto [it, first] = last_of_group.emplace(graph->comm[node.comm].group, index);
      if (!first) graph->AddEdge(index, it->second, EdgeKind::kStreamOrder);
      it->second = index;
      continue;
    }
    const bool beside = last != kNone && node.role == NodeRole::kComm &&
                        graph->nodes[last].end_ns() > node.start_ns;
    if (last != kNone && !beside) {
      graph->AddEdge(index, last, stream ? EdgeKind::kStreamOrder : EdgeKind::kThreadOrder);
    }
    last = index;
  }
}

struct Sequence {
  int64_t number = -1;
  bool backward = false;
};

Sequence SequenceOf(const LinkGraph& graph, const LinkNode& node) {
  if (node.event != kNone) {
    const KinetoEvents& events = graph.kineto->events;
    const int64_t number = events.sequence(node.event);
    if (number >= 0) return {number, events.forward_tid(node.event) > 0};
  }
  if (node.et_op == kNone) return {};
  const EtOp& op = graph.et->ops[node.et_op];
  return {op.seq_id, op.fw_tid > 0};
}

}  // namespace

void AddOrderEdges(LinkGraph* graph) {
  for (uint32_t queue = 0; queue < graph->queues.size(); ++queue) AddQueueOrder(queue, graph);
  for (uint32_t i = 0; i < graph->size(); ++i) {
    const LinkNode& node = graph->nodes[i];
    if (node.caller != kNone) {
      graph->AddEdge(i, node.caller, EdgeKind::kLaunch);
    } else if (node.parent != kNone && node.parent != i) {
      // Not for communication with a known caller: the recorder's stack is off there.
      graph->AddEdge(i, node.parent, EdgeKind::kControl);
    }
  }
}

void AddForwardBackwardEdges(LinkGraph* graph) {
  absl::flat_hash_map<int64_t, uint32_t> forward, backward;  // By sequence number.
  for (uint32_t i = 0; i < graph->size(); ++i) {
    if (graph->nodes[i].role != NodeRole::kHostOp) continue;
    const Sequence sequence = SequenceOf(*graph, graph->nodes[i]);
    if (sequence.number < 0) continue;
    // Operations that make no node of the autograd graph carry the number of
    // the next one that does: the last forward one is meant.
    auto& table = sequence.backward ? backward : forward;
    const auto [it, added] = table.emplace(sequence.number, i);
    if (added) continue;
    const bool later = InOrder(*graph, it->second, i);
    if (later != sequence.backward) it->second = i;
  }
  for (const auto& [number, first] : backward) {
    const auto it = forward.find(number);
    if (it == forward.end()) continue;
    if (graph->nodes[it->second].queue == graph->nodes[first].queue) continue;
    graph->AddEdge(first, it->second, EdgeKind::kForwardBackward);
  }
}

void AddRecordedWaitEdges(LinkGraph* graph) {
  absl::flat_hash_map<int64_t, uint32_t> comm_of_sequence;
  for (uint32_t i = 0; i < graph->size(); ++i) {
    const LinkNode& node = graph->nodes[i];
    if (node.args == nullptr || node.args->sequence < 0) continue;
    if (node.role == NodeRole::kComm) {
      comm_of_sequence[node.args->sequence] = i;
    } else if (node.args->op == "wait") {
      const auto it = comm_of_sequence.find(node.args->sequence);
      if (it != comm_of_sequence.end()) graph->AddEdge(i, it->second, EdgeKind::kSync);
    }
  }
}

void DropBackwardEdges(LinkGraph* graph) {
  std::map<EdgeKind, int64_t> dropped;
  const auto points_back = [&](const LinkEdge& edge) {
    const LinkNode& node = graph->nodes[edge.node];
    const LinkNode& dependency = graph->nodes[edge.dependency];
    // A wait also ends before what waits begins.
    const bool before = edge.kind != EdgeKind::kSync || !node.timed() || !dependency.timed() ||
                        dependency.role == NodeRole::kHostOp ||
                        dependency.done_ns() <= node.start_ns + kClockSlackNs;
    if (before && InOrder(*graph, edge.dependency, edge.node)) return false;
    ++dropped[edge.kind];
    return true;
  };
  size_t kept = 0;
  for (const LinkEdge& edge : graph->edges) {
    if (!points_back(edge)) graph->edges[kept++] = edge;
  }
  graph->edges.resize(kept);
  for (const auto& [kind, count] : dropped) {
    graph->notices.push_back(absl::StrCat(count, " ", EdgeKindName(kind),
                                          " dependencies pointed back in recorded time and were "
                                          "dropped"));
  }
}

}  // namespace chakrad
