// What a user should know about a result, in sentences.
#ifndef CHAKRAD_SIM_NOTICES_H_
#define CHAKRAD_SIM_NOTICES_H_

#include <string>
#include <vector>

#include "sim/simulate.h"
#include "sim/workload/workload.h"

namespace chakrad {

// In a fixed order; empty when there is nothing to say. Reads all of `result` but its
// notices.
std::vector<std::string> WriteNotices(const WorkloadCounts& counts, const SimResult& result);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NOTICES_H_
