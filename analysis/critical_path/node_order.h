// An order of a rank's nodes in which each comes after what it depends on.
#ifndef CHAKRAD_ANALYSIS_CRITICAL_PATH_NODE_ORDER_H_
#define CHAKRAD_ANALYSIS_CRITICAL_PATH_NODE_ORDER_H_

#include <cstdint>
#include <vector>

#include "trace/model/rank_trace.h"

namespace chakrad {

struct NodeOrder {
  std::vector<uint32_t> nodes;
  // At the end of `nodes`, in order of index: those on a cycle of dependencies, or after one.
  uint32_t cyclic_count = 0;
};
// O(nodes + edges).
NodeOrder OrderNodes(const RankTrace& trace);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_CRITICAL_PATH_NODE_ORDER_H_
