// Where the recorded time of a trace went: the temporal breakdown of docs/analysis.md as
// shares, which are kept with the trace when it is stored.
#ifndef CHAKRAD_ANALYSIS_MEASURED_BREAKDOWN_H_
#define CHAKRAD_ANALYSIS_MEASURED_BREAKDOWN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/breakdown/time_breakdown.h"
#include "trace/model/trace_breakdown.h"

namespace chakrad {

struct RankTrace;  // trace/model/rank_trace.h
struct Trace;      // trace/model/trace.h

// The breakdown of one recorded rank over its span, in picoseconds from its first start:
// that of analysis/timeline's MeasuredBusyTimeline, without the causes of idle time.
// None when no node tells when it ran, or the span is 0. Thread-safe: only reads.
std::optional<TimeBreakdown> MeasuredRankBreakdown(const RankTrace& rank);

// Shares of each rank's span, as a mean over the ranks that have one, each rank
// counted alike; and the highest share of exposed communication.
// None when no rank has times.
std::optional<TraceBreakdown> MeasuredBreakdown(const Trace& trace);

// The same, of ranks that are seen one after the other. Not thread-safe.
class MeasuredBreakdownSum {
 public:
  void Add(const RankTrace& rank);
  std::optional<TraceBreakdown> Result() const;

 private:
  TraceBreakdown sum_;
  int64_t ranks_count_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_MEASURED_BREAKDOWN_H_
