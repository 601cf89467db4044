// The dependency graph of a rank trace, turned round for walking forwards.
#ifndef CHAKRAD_SIM_WORKLOAD_RANK_GRAPH_H_
#define CHAKRAD_SIM_WORKLOAD_RANK_GRAPH_H_

#include <cstdint>
#include <vector>

#include "common/status.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// Shared by all simulated ranks that run the same trace. Immutable once built.
struct RankGraph {
  // Nodes that wait for node i: dependent[j] for j in [dependent_begin[i],
  // dependent_begin[i + 1]), ascending; once for each edge kind that says so.
  std::vector<uint32_t> dependent_begin;
  std::vector<uint32_t> dependent;
  std::vector<uint32_t> deps_count;  // Edges that node i waits for.
  // Place of node i in ascending order of id, and the node at each place. Empty when nodes are
  // in that order already.
  std::vector<uint32_t> order_of;
  std::vector<uint32_t> by_order;
  uint32_t OrderOf(uint32_t node) const { return order_of.empty() ? node : order_of[node]; }
  uint32_t ByOrder(uint32_t place) const { return by_order.empty() ? place : by_order[place]; }
  std::vector<uint32_t> roots;  // Nodes without dependencies, by ascending id.
  std::vector<int64_t> gap_ns;  // By node; empty when the trace has no gaps.
};

// Beside the trace's dependencies, a collective waits for the one before it in its
// process group as recorded, where all of the group's have start times (or, else, launches that
// have) and the order agrees with the dependencies.
// FAILED_PRECONDITION when the dependencies have a cycle: the message walks it.
// O(nodes log nodes + edges); no recursion.
absl::StatusOr<RankGraph> BuildRankGraph(const RankTrace& trace);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_RANK_GRAPH_H_
