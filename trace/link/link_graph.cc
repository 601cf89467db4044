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
  const LinkNode& x = graph.nodes[a];
  const LinkNode& y = graph.nodes[b];
  const bool x_root = x.role == NodeRole::kRoot, y_root = y.role == NodeRole::kRoot;
  if (x_root != y_root) return x_root;
  if (x.order_ns != y.order_ns) return x.order_ns < y.order_ns;
  // At one start: host before device, then what has times with the longer
  // (outer) one first, then by index.
  const auto device = [](const LinkNode& node) {
    return node.role == NodeRole::kDevice || node.role == NodeRole::kComm;
  };
  if (device(x) != device(y)) return device(y);
  if (x.timed() != y.timed()) return x.timed();
  if (x.timed() && x.dur_ns != y.dur_ns) return x.dur_ns > y.dur_ns;
  return a < b;
}

}  // namespace chakrad
