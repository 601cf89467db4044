// Where the recorded time of a trace went, in a few numbers.
#ifndef CHAKRAD_TRACE_MODEL_TRACE_BREAKDOWN_H_
#define CHAKRAD_TRACE_MODEL_TRACE_BREAKDOWN_H_

namespace chakrad {

// Shares of each rank's span, mean over ranks; all in [0, 1]. compute, exposed
// communication, exposed memory and idle add up to 1. analysis/measured_breakdown.h
// computes it when a trace is stored.
struct TraceBreakdown {
  double compute_ratio = 0;
  double comm_ratio = 0;          // Compute at the same time or not.
  double exposed_comm_ratio = 0;  // Communication and no compute.
  double exposed_memory_ratio = 0;
  double idle_ratio = 0;
  double worst_exposed_comm_ratio = 0;  // Of the rank where it is highest.
  friend bool operator==(const TraceBreakdown&, const TraceBreakdown&) = default;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_TRACE_BREAKDOWN_H_
