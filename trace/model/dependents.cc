#include "trace/model/dependents.h"

namespace chakrad {

Dependents DependentsOf(const RankTrace& rank, const std::vector<uint32_t>& one_more) {
  const uint32_t size = rank.size();
  Dependents dependents;
  std::vector<uint32_t>& begin = dependents.begin;
  begin.assign(size + 1, 0);
  for (const uint32_t dependency : rank.dep_node) ++begin[dependency + 1];
  for (const uint32_t dependency : one_more) {
    if (dependency != kNone) ++begin[dependency + 1];
  }
  for (uint32_t node = 0; node < size; ++node) begin[node + 1] += begin[node];
  dependents.node.resize(begin[size]);
  dependents.deps_count.resize(size);
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (uint32_t node = 0; node < size; ++node) {
    dependents.deps_count[node] = rank.dep_begin[node + 1] - rank.dep_begin[node];
    for (uint32_t i = rank.dep_begin[node]; i < rank.dep_begin[node + 1]; ++i) {
      dependents.node[next[rank.dep_node[i]]++] = node;
    }
    if (one_more.empty() || one_more[node] == kNone) continue;
    ++dependents.deps_count[node];
    dependents.node[next[one_more[node]]++] = node;
  }
  return dependents;
}

}  // namespace chakrad
