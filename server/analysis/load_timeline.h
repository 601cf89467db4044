// From a name in a request to the timeline that it means.
#ifndef CHAKRAD_SERVER_ANALYSIS_LOAD_TIMELINE_H_
#define CHAKRAD_SERVER_ANALYSIS_LOAD_TIMELINE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/timeline/timeline.h"
#include "storage/job_store.h"
#include "storage/trace_store.h"

namespace chakrad {

struct LoadedTimeline {
  std::unique_ptr<const Trace> trace;
  JobTimeline job;       // Of *trace.
  std::string trace_id;  // The stored trace behind it.
  std::string variant;   // Of a simulation: see VariantOf.
  TraceInfo stored;      // The stored trace, with all its ranks.
  std::unique_ptr<TraceLease> lease;
};

// `name`: "traces/{id}" or "jobs/{id}"; `ranks`: empty means all. With `cold`, cold blocks too.
// INVALID_ARGUMENT: another name, or a rank twice. NOT_FOUND: no such trace, job or rank.
// FAILED_PRECONDITION: no times; a job that has not succeeded or kept no timeline.
// RESOURCE_EXHAUSTED: more than kMaxAnalysisNodes, of the graphs of all ranks that are looked at
// (that of one that stands in for others once for each), of the stored trace that a simulation
// ran, or intervals. Memory: the trace's columns and 40 bytes an interval.
absl::StatusOr<LoadedTimeline> LoadTimeline(absl::string_view name,
                                            const std::vector<int32_t>& ranks, bool cold,
                                            TraceStore* traces, JobStore* jobs);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_ANALYSIS_LOAD_TIMELINE_H_
