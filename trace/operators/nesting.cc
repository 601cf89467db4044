#include "trace/operators/nesting.h"

namespace chakrad {
namespace {

// Whether the interval of `node` lies in that of `around`; true where one is not known.
bool Inside(const RankTrace& trace, uint32_t node, uint32_t around) {
  const int64_t start = trace.start_ns[node], around_start = trace.start_ns[around];
  const int64_t dur = trace.dur_ns[node], around_dur = trace.dur_ns[around];
  if (start == kUnknownNs || around_start == kUnknownNs || dur < 0 || around_dur < 0) return true;
  return start >= around_start && start + dur <= around_start + around_dur;
}

uint32_t FindParent(const RankTrace& trace, uint32_t node) {
  for (uint32_t j = trace.dep_begin[node]; j < trace.dep_begin[node + 1]; ++j) {
    const uint32_t other = trace.dep_node[j];
    if (trace.dep_kind[j] != EdgeKind::kControl || !trace.is_host(other)) continue;
    if (trace.queue[other] == trace.queue[node] && Inside(trace, node, other)) return other;
  }
  return kNone;
}

}  // namespace

CallNesting FindNesting(const RankTrace& trace) {
  CallNesting nesting;
  nesting.parent.assign(trace.size(), kNone);
  for (uint32_t node = 0; node < trace.size(); ++node) {
    if (trace.is_host(node)) nesting.parent[node] = FindParent(trace, node);
  }
  enum : uint8_t { kNew, kOnPath, kPlaced };
  std::vector<uint8_t> state(trace.size(), kNew);
  std::vector<uint32_t> path;
  for (uint32_t node = 0; node < trace.size(); ++node) {
    if (!trace.is_host(node)) continue;
    uint32_t at = node;
    for (; at != kNone && state[at] == kNew; at = nesting.parent[at]) {
      state[at] = kOnPath;
      path.push_back(at);
    }
    if (at != kNone && state[at] == kOnPath) nesting.parent[path.back()] = kNone;
    for (; !path.empty(); path.pop_back()) {
      state[path.back()] = kPlaced;
      nesting.parents_first.push_back(path.back());
    }
  }
  return nesting;
}

}  // namespace chakrad
