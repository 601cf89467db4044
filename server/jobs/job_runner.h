// Runs one simulation job from its stored trace to its stored result.
#ifndef CHAKRAD_SERVER_JOBS_JOB_RUNNER_H_
#define CHAKRAD_SERVER_JOBS_JOB_RUNNER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "server/jobs/simulation.h"
#include "storage/job_store.h"
#include "storage/trace_store.h"

namespace chakrad {

// How a running job talks to the outside. Called on the running thread.
struct JobHooks {
  std::function<bool()> stop;                          // True: end with CANCELLED soon.
  std::function<void(const SimProgress&)> progress;    // Every few thousand events.
  std::function<void(int64_t chunks_count)> timeline;  // So many chunks are stored now.
};

// Loads the trace, simulates it, and stores the timeline's chunks when the specification keeps
// one. The answer is the result in its stored form (result_codec.h). Pure but for the stores: a
// repeated run gives the same bytes. Memory: the trace and the simulation.
absl::StatusOr<std::string> RunSimulation(const std::string& job_id, const SimulationSpec& spec,
                                          TraceStore* traces, JobStore* jobs,
                                          const JobHooks& hooks);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_JOBS_JOB_RUNNER_H_
