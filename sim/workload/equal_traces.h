// Ranks that run the same trace, found by comparing.
#ifndef CHAKRAD_SIM_WORKLOAD_EQUAL_TRACES_H_
#define CHAKRAD_SIM_WORKLOAD_EQUAL_TRACES_H_

#include "sim/workload/cast.h"
#include "trace/model/trace.h"

namespace chakrad {

// Lets ranks whose traces are equal run the first one's: the same nodes, times, dependencies and
// communications, but for the process groups, each of which must have one of the same size in
// its place. Operators' names and cold blocks must be equal where `operators`: where costs or
// memory come from them. Traces with sends or receives are left alone: their peers are absolute;
// where there are copies, so are those with a root, which moves or not by the trace's own group
// (RankCopy). O(nodes + edges) for each rank; with `operators` also bytes of names and cold blocks.
void ShareEqualTraces(const Trace& trace, bool operators, Cast* cast);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_EQUAL_TRACES_H_
