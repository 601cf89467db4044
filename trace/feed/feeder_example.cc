#include <algorithm>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "trace/feed/feeder.h"

// How long the rank takes when each node runs for its work_ns as soon as its
// dependencies are done, one at a time on each thread and stream.
absl::StatusOr<int64_t> ReplayNs(chakrad::NodeSource* source) {
  using End = std::pair<int64_t, uint32_t>;  // When a node ends, and which.
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  std::map<std::pair<int32_t, int64_t>, int64_t> free_at_ns;  // By device and thread or stream.
  chakrad::Feeder feeder(source);
  int64_t now_ns = 0;
  while (true) {
    absl::StatusOr<std::vector<uint32_t>> nodes = feeder.Next(64);
    if (!nodes.ok()) return nodes.status();  // Damage, or nodes that wait for each other.
    for (uint32_t position : *nodes) {
      absl::StatusOr<chakrad::FeedNode> node = feeder.Read(position);
      if (!node.ok()) return node.status();
      int64_t& at_ns = free_at_ns[{node->queue.device, node->queue.raw_id}];
      at_ns = std::max(at_ns, now_ns + node->gap_ns) + std::max<int64_t>(node->work_ns, 0);
      running.push({at_ns, position});
    }
    if (!nodes->empty()) continue;  // More may be free.
    if (running.empty()) return now_ns;
    now_ns = running.top().first;
    absl::Status status = feeder.Complete(running.top().second);
    if (!status.ok()) return status;
    running.pop();
  }
}
