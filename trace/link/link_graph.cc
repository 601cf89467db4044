#include "trace/link/link_graph.h"

#include <algorithm>
#include <tuple>

namespace chakrad {

uint32_t FindOrAddQueue(LinkGraph* graph, const Queue& queue) {
  const auto [it, added] =
      graph->queue_index.emplace(std::make_tuple(queue.kind, queue.device, queue.raw_id),
                                 static_cast<uint32_t>(graph->queues.size()));
  if (added) graph->queues.push_back(queue);
  return it->second;
}

size_t FirstStartingAt(const LinkGraph& graph, uint32_t queue, int64_t ns) {
  const std::vector<uint32_t>& nodes = graph.in_order[queue];
  const auto it = std::partition_point(nodes.begin(), nodes.end(), [&graph, ns](uint32_t index) {
    const LinkNode& node = graph.nodes[index];
    return node.role == NodeRole::kRoot || node.order_ns < ns;
  });
  return static_cast<size_t>(it - nodes.begin());
}

bool InOrder(const LinkGraph& graph, uint32_t a, uint32_t b) {
  // At one start: roots, then what has times with the longer (outer) one first,
  // then host before device, then by index.
  const auto key = [&graph](uint32_t index) {
    const LinkNode& node = graph.nodes[index];
    const bool device = node.role == NodeRole::kDevice || node.role == NodeRole::kComm;
    return std::make_tuple(node.role != NodeRole::kRoot, node.order_ns, device, !node.timed(),
                           node.timed() ? -node.dur_ns : 0, index);
  };
  return key(a) < key(b);
}

}  // namespace chakrad
