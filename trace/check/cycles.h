// Whether a rank's dependencies can be followed at all.
#ifndef CHAKRAD_TRACE_CHECK_CYCLES_H_
#define CHAKRAD_TRACE_CHECK_CYCLES_H_

#include "absl/status/status.h"

namespace chakrad {

struct RankTrace;  // trace/model/rank_trace.h

// OK when the dependencies have no cycle. Else INVALID_ARGUMENT with a shortest
// one: ids, names and edge kinds, each node waiting for the next, e.g. "dependency
// cycle: node 3 (aten::mm) -control-> node 7 (aten::add) -sync-> node 3
// (aten::mm)" (at most 20 nodes are written out). Iterative: depth costs memory,
// no stack. O(nodes + edges); when there is a cycle, the search for a shortest
// one stops after 50 million edges and may then print a longer one.
absl::Status CheckAcyclic(const RankTrace& rank);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_CYCLES_H_
