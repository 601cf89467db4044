// The dependencies of a rank trace, turned round: which nodes wait for a node.
#ifndef CHAKRAD_TRACE_MODEL_DEPENDENTS_H_
#define CHAKRAD_TRACE_MODEL_DEPENDENTS_H_

#include <cstdint>
#include <vector>

#include "trace/model/rank_trace.h"

namespace chakrad {

struct Dependents {
  // Nodes that wait for node i: node[j] for j in [begin[i], begin[i + 1]),
  // ascending; once for each edge that says so.
  std::vector<uint32_t> begin;
  std::vector<uint32_t> node;
  std::vector<uint32_t> deps_count;  // Edges that node i waits for.
};

// `one_more`: a further dependency of each node, or kNone; empty: none of them.
// O(nodes + edges).
Dependents DependentsOf(const RankTrace& rank, const std::vector<uint32_t>& one_more = {});

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_DEPENDENTS_H_
