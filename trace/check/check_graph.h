// A rank's dependencies in both directions, and orders that follow from them.
#ifndef CHAKRAD_TRACE_CHECK_CHECK_GRAPH_H_
#define CHAKRAD_TRACE_CHECK_CHECK_GRAPH_H_

#include <cstdint>
#include <vector>

#include "trace/model/dependents.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

struct CheckGraph {
  Dependents dependents;
  // All nodes, each after what it depends on; nodes of cycles and those behind them
  // come last, by index.
  std::vector<uint32_t> order;
  bool acyclic = true;
};

// O(nodes + edges); no recursion.
CheckGraph BuildCheckGraph(const RankTrace& rank);

// The rank's communication nodes in the order in which its program issues them, as far as
// the trace tells: never against a dependency; else by recorded time of issue (of a device
// operation its launch), then by id. What two ranks do in one group is compared in this order.
// O(nodes + edges + k log k) for k communication nodes.
std::vector<uint32_t> CommInIssueOrder(const RankTrace& rank, const CheckGraph& graph);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_CHECK_GRAPH_H_
