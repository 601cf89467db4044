// Where a rank's time went, and what it waited for when nothing ran. Definitions, formulas
// and worked examples: docs/analysis.md#temporal-breakdown.
#ifndef CHAKRAD_ANALYSIS_BREAKDOWN_TIME_BREAKDOWN_H_
#define CHAKRAD_ANALYSIS_BREAKDOWN_TIME_BREAKDOWN_H_

#include <cstdint>
#include <vector>

#include "analysis/timeline/timeline.h"

namespace chakrad {

class BusySweep;  // analysis/breakdown/busy_sweep.h

// Of one rank over its span. Two sums are exact:
//   compute_ps + exposed_comm_ps + exposed_memory_ps + idle_ps == span_ps
//   the four idle_..._ps == idle_ps
struct TimeBreakdown {
  int32_t rank = 0;
  int64_t start_ps = 0;
  int64_t span_ps = 0;
  int64_t compute_ps = 0;  // Unions of intervals of a kind: what overlaps counts once.
  int64_t comm_ps = 0;
  int64_t exposed_comm_ps = 0;  // Communication without compute.
  int64_t memory_ps = 0;
  int64_t exposed_memory_ps = 0;    // Copies with neither.
  int64_t idle_ps = 0;              // None of the three.
  int64_t idle_host_bound_ps = 0;   // What ran next was not launched yet.
  int64_t idle_kernel_wait_ps = 0;  // It was launched, and its queue free: latency.
  int64_t idle_sync_ps = 0;         // It, or the host that launched it, came out of a wait for
                                    // another queue.
  int64_t idle_other_ps = 0;        // Nothing recorded explains it.
  // Intervals on a device stream that begin before an earlier one on it has ended. (Sends and
  // receives that do so were batched, and are not counted.)
  int64_t overlapped_intervals_count = 0;

  // Of communication, the share that compute hid; 0 without any.
  double overlap_ratio() const;
  friend bool operator==(const TimeBreakdown&, const TimeBreakdown&) = default;
};

// Sets compute_ps to idle_ps to what `sweep` has accounted for so far.
void SetTimes(const BusySweep& sweep, TimeBreakdown* breakdown);

// O(intervals + edges); reads the trace's dependencies only if the rank was ever idle.
// Thread-safe, as are the others: they only read.
TimeBreakdown BreakDownTime(const RankTimeline& rank);
// The same with idle_ps as idle_other_ps; reads no dependencies.
TimeBreakdown BreakDownWithoutCauses(const RankTimeline& rank);
// One entry a rank, in the timeline's order.
std::vector<TimeBreakdown> BreakDownTime(const JobTimeline& job);

// Shares of the span: means over ranks, each counted alike; all in [0, 1]. compute, exposed
// communication, exposed memory and idle add up to 1.
struct TimeShares {
  double compute_ratio = 0;
  double comm_ratio = 0;
  double exposed_comm_ratio = 0;
  double exposed_memory_ratio = 0;
  double idle_ratio = 0;
  double overlap_ratio = 0;  // Mean over the ranks that communicated.
  double worst_exposed_comm_ratio = 0;
  int32_t worst_rank = 0;  // The lowest of those where exposed communication is worst.
  friend bool operator==(const TimeShares&, const TimeShares&) = default;
};

// The mean, of breakdowns that are seen one after the other. Not thread-safe.
class TimeSharesSum {
 public:
  // One of span 0 is left out.
  void Add(const TimeBreakdown& rank);
  TimeShares Mean() const;  // Zeros without any.

 private:
  TimeShares sum_;
  double ranks_count_ = 0;
  double communicating_count_ = 0;
};

TimeShares MeanShares(const std::vector<TimeBreakdown>& ranks);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_BREAKDOWN_TIME_BREAKDOWN_H_
