// How often, how much, how long, how fast: operations by type and size. See
// docs/analysis.md#collectives.
#ifndef CHAKRAD_ANALYSIS_COLLECTIVES_COLLECTIVE_STATS_H_
#define CHAKRAD_ANALYSIS_COLLECTIVES_COLLECTIVE_STATS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/collectives/match_comm.h"
#include "analysis/timeline/timeline.h"

namespace chakrad {

// Operations of one type and size, all ranks together. Sums stop at the type's end.
struct CollectiveStats {
  absl::string_view type;         // "ALL_REDUCE", ..., "SEND", "RECV".
  absl::string_view size_bucket;  // SizeBucketOf(CommOp::bytes).
  int64_t count = 0;              // Operations on ranks.
  int64_t instances_count = 0;    // A collective of several ranks once, where its lowest rank is.
  int64_t bytes = 0;              // Sum of CommOp::bytes.
  int64_t total_ps = 0;           // Sum of the operations' times.
  int64_t exposed_ps = 0;         // The part in which the rank computes nothing.
  int64_t min_ps = 0;
  int64_t median_ps = 0;  // Of an even number the lower one of the middle two.
  int64_t max_ps = 0;
  // Bytes a second: all bytes over all time. See docs/analysis.md#bandwidth; 0: no time or no
  // bytes. Finite. Groups of one rank have no bus, those of unknown size no bandwidth at all:
  // their time is in neither.
  double algorithm_bandwidth = 0;
  double bus_bandwidth = 0;
};

// The operations that have a time in `job` and a type, by type (in the order of CollectiveType,
// then SEND, RECV), then by size. `matches`: MatchComm of the whole timeline that `job` is or is a
// part of. An operation that a part cuts counts with what is inside; its bandwidth is that of the
// whole one. O(k log n) for k operations and n intervals.
std::vector<CollectiveStats> ComputeCollectiveStats(const JobTimeline& job,
                                                    const MatchedComm& matches);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_COLLECTIVES_COLLECTIVE_STATS_H_
