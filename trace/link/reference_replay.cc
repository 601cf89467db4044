#include "trace/link/reference_replay.h"

#include <algorithm>

#include "trace/model/dependents.h"

namespace chakrad {

Replay ReplayRecorded(const RankTrace& rank) {
  const uint32_t size = rank.size();
  const Dependents dependents = DependentsOf(rank);
  std::vector<uint32_t> left = dependents.deps_count;
  std::vector<uint32_t> ready;
  for (uint32_t node = 0; node < size; ++node) {
    if (left[node] == 0) ready.push_back(node);
  }
  const std::vector<int64_t> gaps = rank.DenseGaps();
  Replay replay;
  replay.end_ns.assign(size, 0);
  while (!ready.empty()) {
    const uint32_t node = ready.back();
    ready.pop_back();
    int64_t& end_ns = replay.end_ns[node];  // The latest end of its dependencies, so far.
    end_ns += gaps[node] + std::max<int64_t>(0, rank.work_ns[node]);
    replay.span_ns = std::max(replay.span_ns, end_ns);
    for (uint32_t j = dependents.begin[node]; j < dependents.begin[node + 1]; ++j) {
      const uint32_t waiting = dependents.node[j];
      replay.end_ns[waiting] = std::max(replay.end_ns[waiting], end_ns);
      if (--left[waiting] == 0) ready.push_back(waiting);
    }
  }
  return replay;
}

int64_t RecordedSpanNs(const RankTrace& rank) {
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (rank.start_ns[node] == kUnknownNs) continue;
    first_ns = std::min(first_ns, rank.start_ns[node]);
    if ((rank.flags[node] & RankTrace::kAnnotation) != 0) continue;
    last_ns = std::max(last_ns, rank.start_ns[node] + rank.dur_ns[node]);
  }
  return first_ns > last_ns ? 0 : last_ns - first_ns;
}

}  // namespace chakrad
