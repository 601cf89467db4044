#include "trace/link/comm_batches.h"

#include <algorithm>

#include "trace/readers/kineto/kineto.h"

namespace chakrad {
namespace {

// Calls that may wait for their kernel; a pipeline stage batches four at most,
// an exchange with every peer as many as there are ranks.
constexpr size_t kMaxBatch = 65536;

// The queue of the thread that launched a device operation; kNone.
uint32_t LaunchQueue(const LinkGraph& graph, const LinkNode& kernel) {
  if (kernel.launch_event == kNone) return kNone;
  const Queue& queue = graph.kineto->queues[graph.kineto->events.queue(kernel.launch_event)];
  const auto it = graph.queue_index.find(std::make_tuple(queue.kind, queue.device, queue.raw_id));
  return it == graph.queue_index.end() ? kNone : it->second;
}

}  // namespace

std::map<uint32_t, std::vector<uint32_t>> FindBatches(const LinkGraph& graph,
                                                      std::vector<uint32_t> kernels,
                                                      std::vector<uint32_t> calls) {
  std::map<uint32_t, std::vector<uint32_t>> calls_of_queue;
  std::erase_if(calls, [&graph](uint32_t call) { return !graph.nodes[call].timed(); });
  std::sort(calls.begin(), calls.end(),
            [&graph](uint32_t a, uint32_t b) { return InOrder(graph, a, b); });
  for (const uint32_t call : calls) calls_of_queue[graph.nodes[call].queue].push_back(call);
  std::sort(kernels.begin(), kernels.end(), [&graph](uint32_t a, uint32_t b) {
    return std::make_pair(graph.nodes[a].launch_ns, a) <
           std::make_pair(graph.nodes[b].launch_ns, b);
  });
  std::map<uint32_t, size_t> taken_of_queue;
  std::map<uint32_t, std::vector<uint32_t>> batches;
  for (const uint32_t kernel : kernels) {
    const uint32_t queue = LaunchQueue(graph, graph.nodes[kernel]);
    const auto waiting = calls_of_queue.find(queue);
    if (waiting == calls_of_queue.end()) continue;
    size_t& taken = taken_of_queue[queue];
    while (taken < waiting->second.size() &&
           graph.nodes[waiting->second[taken]].start_ns <= graph.nodes[kernel].launch_ns) {
      std::vector<uint32_t>& batch = batches[kernel];
      if (batch.size() < kMaxBatch) batch.push_back(waiting->second[taken]);
      ++taken;
    }
  }
  return batches;
}

void PlaceBatch(uint32_t kernel, const std::vector<uint32_t>& members, LinkGraph* graph) {
  LinkNode& end = graph->nodes[kernel];
  for (const uint32_t member : members) {
    LinkNode& node = graph->nodes[member];
    node.start_ns = end.start_ns;
    node.dur_ns = end.dur_ns;
    node.order_ns = end.order_ns;
    node.launch_ns = end.launch_ns;
    node.batch_end = kernel;
    if (end.caller != kNone) node.caller = end.caller;
    graph->AddEdge(kernel, member, EdgeKind::kStreamOrder);
  }
  end.batch_end = kernel;
  end.type = NodeType::kMetadata;
  // Where it stands among its stream's operations does not change.
  end.start_ns += end.dur_ns;
  end.dur_ns = 0;
}

void SpreadBatchWaits(LinkGraph* graph) {
  std::map<uint32_t, std::vector<uint32_t>> members_of;
  for (uint32_t i = 0; i < graph->size(); ++i) {
    const uint32_t end = graph->nodes[i].batch_end;
    if (end != kNone && end != i) members_of[end].push_back(i);
  }
  if (members_of.empty()) return;
  const size_t edges_count = graph->edges.size();
  for (size_t i = 0; i < edges_count; ++i) {
    const LinkEdge edge = graph->edges[i];
    const auto members = members_of.find(edge.node);
    if (members == members_of.end()) continue;
    if (graph->nodes[edge.dependency].batch_end == edge.node) continue;
    for (const uint32_t member : members->second) {
      // The launch is theirs already.
      if (edge.kind != EdgeKind::kLaunch) graph->AddEdge(member, edge.dependency, edge.kind);
    }
  }
}

}  // namespace chakrad
