#include "trace/link/host_threads.h"

#include <algorithm>
#include <utility>

namespace chakrad {

size_t HostThread::FirstAt(const LinkGraph& graph, int64_t ns) const {
  return static_cast<size_t>(
      std::partition_point(ops.begin(), ops.end(),
                           [&](uint32_t op) { return graph.nodes[op].start_ns < ns; }) -
      ops.begin());
}

std::vector<HostThread> FindHostThreads(const LinkGraph& graph) {
  std::vector<HostThread> threads;
  for (uint32_t queue = 0; queue < graph.queues.size(); ++queue) {
    HostThread thread;
    thread.queue = queue;
    int64_t busy_until_ns = 0;
    for (const uint32_t index : graph.in_order[queue]) {
      const LinkNode& node = graph.nodes[index];
      if (node.role != NodeRole::kHostOp || !node.timed()) continue;
      if (thread.ops.empty()) busy_until_ns = node.start_ns;
      thread.ops.push_back(index);
      thread.busy_until_ns.push_back(busy_until_ns);
      busy_until_ns = std::max(busy_until_ns, node.end_ns());
    }
    if (!thread.ops.empty()) threads.push_back(std::move(thread));
  }
  return threads;
}

}  // namespace chakrad
