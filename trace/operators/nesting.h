// Which host operation runs inside which.
#ifndef CHAKRAD_TRACE_OPERATORS_NESTING_H_
#define CHAKRAD_TRACE_OPERATORS_NESTING_H_

#include <cstdint>
#include <vector>

#include "trace/model/rank_trace.h"

namespace chakrad {

struct CallNesting {
  std::vector<uint32_t> parent;         // By node; kNone: of device operations, and outermost ones.
  std::vector<uint32_t> parents_first;  // Host nodes, each after its parent.
};

// A node is nested in the host operation that it depends on by a control edge, on the same
// queue, whose recorded interval holds its own (where both have one). Of a cycle of control
// edges one is left out. O(nodes + edges).
CallNesting FindNesting(const RankTrace& trace);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_OPERATORS_NESTING_H_
