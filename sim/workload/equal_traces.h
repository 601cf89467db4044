// Ranks that run the same trace, found by comparing.
#ifndef CHAKRAD_SIM_WORKLOAD_EQUAL_TRACES_H_
#define CHAKRAD_SIM_WORKLOAD_EQUAL_TRACES_H_

#include "sim/workload/cast.h"
#include "trace/model/trace.h"

namespace chakrad {

// Lets ranks whose traces are equal run the first one's: the same nodes, times, dependencies and
// communications, but for the process groups, each of which must have one of the same size in
// its place. Names do not matter to a simulation. Traces with sends or receives are left alone:
// their peers are absolute. O(nodes + edges) for each rank.
void ShareEqualTraces(const Trace& trace, Cast* cast);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_EQUAL_TRACES_H_
