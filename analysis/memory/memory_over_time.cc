#include "analysis/memory/memory_over_time.h"

#include <algorithm>

namespace chakrad {

std::vector<MemoryUse> MemoryOverTime(const RankTimeline& rank, int64_t max_steps) {
  const TensorLifetimes lifetimes = FindTensorLifetimes(*rank.trace);
  if (lifetimes.lives.empty()) return {};
  NodeTimes times = NodeTimesOf(rank);
  std::vector<int64_t> before_ps(std::max<size_t>(rank.trace->queues.size(), 1), rank.start_ps);
  for (uint32_t node = 0; node < rank.trace->size(); ++node) {
    if (!rank.trace->is_host(node)) continue;
    int64_t& at_ps = before_ps[std::min<size_t>(rank.trace->queue[node], before_ps.size() - 1)];
    if (times.end_ps[node] > times.start_ps[node]) {
      at_ps = times.start_ps[node];
    } else {
      times.start_ps[node] = times.end_ps[node] = at_ps;
    }
  }
  return ComputeMemoryUse(lifetimes, times.start_ps, times.end_ps, max_steps);
}

}  // namespace chakrad
