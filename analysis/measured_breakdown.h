// Where the recorded time of a trace went: the breakdown of exposed_comm.h over
// the intervals that were recorded, as shares. docs/analysis.md defines the kinds.
#ifndef CHAKRAD_ANALYSIS_MEASURED_BREAKDOWN_H_
#define CHAKRAD_ANALYSIS_MEASURED_BREAKDOWN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/exposed_comm.h"
#include "trace/model/trace_breakdown.h"

namespace chakrad {

struct RankTrace;  // trace/model/rank_trace.h
struct Trace;      // trace/model/trace.h

// The breakdown of one recorded rank over its span, from the first start to the
// last end of any node (RankSummary::span_ns). In *nanoseconds*, whatever the
// fields' names say: the last word is that of simulated timelines.
//
// Compute is what device operations took. On a rank without device compute it is
// what its host operations took, without their waiting (RankTrace::work_ns; where
// that is unknown, the recorded interval). Annotations and metadata are no work;
// nor is a node without a start or a duration.
//
// None when no node tells when it ran, or the span is 0. Times that do not fit
// into 64 bits stop at their ends. O(k log k) for k nodes. Thread-safe: only reads.
std::optional<RankBreakdown> MeasuredRankBreakdown(const RankTrace& rank);

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
