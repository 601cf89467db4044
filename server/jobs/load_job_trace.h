// The trace that a simulation job runs.
#ifndef CHAKRAD_SERVER_JOBS_LOAD_JOB_TRACE_H_
#define CHAKRAD_SERVER_JOBS_LOAD_JOB_TRACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/jobs/simulation.h"
#include "storage/trace_store.h"

namespace chakrad {

// Loads spec.trace_id, with its cold blocks when `cold`, and projects it as the specification
// asks; what that assumed is added to `notices`. The same specification gives the same trace.
absl::StatusOr<Trace> LoadJobTrace(const SimulationSpec& spec, bool cold, TraceStore* traces,
                                   std::vector<std::string>* notices);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_JOBS_LOAD_JOB_TRACE_H_
