// How a rank spent its time: compute, communication, and the part of the
// communication that nothing hid. docs/analysis.md has definitions and a
// worked example; measured and simulated timelines are treated alike.
#ifndef CHAKRAD_ANALYSIS_EXPOSED_COMM_H_
#define CHAKRAD_ANALYSIS_EXPOSED_COMM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/model/timeline.h"

namespace chakrad {

// compute_ps + exposed_comm_ps + exposed_memory_ps + idle_ps == end_ps.
struct RankBreakdown {
  int32_t rank = 0;
  int64_t end_ps = 0;
  int64_t compute_ps = 0;         // Union of the compute intervals.
  int64_t comm_ps = 0;            // Union of the communication intervals.
  int64_t exposed_comm_ps = 0;    // Communication and no compute; <= comm_ps.
  int64_t exposed_memory_ps = 0;  // Copies, with neither compute nor communication.
  int64_t idle_ps = 0;            // None of the three; host work of a rank with a device is idle.
  friend bool operator==(const RankBreakdown&, const RankBreakdown&) = default;
};

// Breaks [0, end_ps) of one rank down. An interval that ends at 100 does not
// overlap one that starts at 100. INVALID_ARGUMENT names an interval that ends
// before it starts or lies outside [0, end_ps). O(k log k) for k intervals, in
// any order; their `rank` is not looked at.
absl::StatusOr<RankBreakdown> ComputeRankBreakdown(int32_t rank, int64_t end_ps,
                                                   const std::vector<TimelineInterval>& intervals);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_EXPOSED_COMM_H_
