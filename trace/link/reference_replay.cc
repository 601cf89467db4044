#include "trace/link/reference_replay.h"

#include <algorithm>

namespace chakrad {

Replay ReplayRecorded(const RankTrace& rank) {
  const uint32_t size = rank.size();
  std::vector<uint32_t> left(size), child_begin(size + 1, 0), child(rank.dep_node.size());
  for (const uint32_t dependency : rank.dep_node) ++child_begin[dependency + 1];
  for (uint32_t i = 0; i < size; ++i) child_begin[i + 1] += child_begin[i];
  std::vector<uint32_t> next(child_begin.begin(), child_begin.end() - 1);
  std::vector<uint32_t> ready;
  for (uint32_t node = 0; node < size; ++node) {
    left[node] = rank.dep_begin[node + 1] - rank.dep_begin[node];
    for (uint32_t j = rank.dep_begin[node]; j < rank.dep_begin[node + 1]; ++j) {
      child[next[rank.dep_node[j]]++] = node;
    }
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
    for (uint32_t j = child_begin[node]; j < child_begin[node + 1]; ++j) {
      replay.end_ns[child[j]] = std::max(replay.end_ns[child[j]], end_ns);
      if (--left[child[j]] == 0) ready.push_back(child[j]);
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
