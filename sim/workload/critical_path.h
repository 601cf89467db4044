// What decided when a run ended.
#ifndef CHAKRAD_SIM_WORKLOAD_CRITICAL_PATH_H_
#define CHAKRAD_SIM_WORKLOAD_CRITICAL_PATH_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/simulate.h"
#include "sim/workload/cast.h"
#include "sim/workload/cohort.h"
#include "sim/workload/rendezvous.h"

namespace chakrad {

// Walks back from the node that ended last (of equals: lowest rank, lowest node). Before a node
// comes what it waited for last: in a collective or a receive, whoever came last; else the
// dependency that ended last, or the node that ran on its slot until it started. Time between
// two steps is recorded idle time. At most kMaxCriticalSteps steps: the last ones. In order of
// time. O(nodes of the cohorts it visits + steps * dependencies).
std::vector<CriticalStep> FindCriticalPath(const std::deque<Cohort>& cohorts,
                                           const std::vector<uint32_t>& cohort_of, const Cast& cast,
                                           Rendezvous* rendezvous);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_CRITICAL_PATH_H_
