// The handlers of AnalysisService that answer about timelines.
#ifndef CHAKRAD_SERVER_ANALYSIS_ANALYZE_TIMELINE_H_
#define CHAKRAD_SERVER_ANALYSIS_ANALYZE_TIMELINE_H_

#include "absl/status/status.h"
#include "storage/job_store.h"
#include "storage/trace_store.h"

namespace chakrad {

namespace v1 {
class AnalyzeTimelineRequest;
class CriticalPath;
class DiffTimelinesRequest;
class FindCriticalPathRequest;
class TimelineAnalysis;
class TimelineDiff;
}  // namespace v1

// Errors as analysis.proto says. Memory and time follow the timeline: see LoadTimeline and
// docs/performance.md. Thread-safe.
absl::Status AnalyzeTimeline(const v1::AnalyzeTimelineRequest& request, TraceStore* traces,
                             JobStore* jobs, v1::TimelineAnalysis* answer);
absl::Status DiffTimelines(const v1::DiffTimelinesRequest& request, TraceStore* traces,
                           JobStore* jobs, v1::TimelineDiff* answer);
absl::Status FindCriticalPath(const v1::FindCriticalPathRequest& request, TraceStore* traces,
                              JobStore* jobs, v1::CriticalPath* answer);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_ANALYSIS_ANALYZE_TIMELINE_H_
