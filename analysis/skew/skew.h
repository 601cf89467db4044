// Who keeps the others waiting. See docs/analysis.md#stragglers-and-skew.
#ifndef CHAKRAD_ANALYSIS_SKEW_SKEW_H_
#define CHAKRAD_ANALYSIS_SKEW_SKEW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/collectives/match_comm.h"
#include "analysis/timeline/timeline.h"

namespace chakrad {

struct RankSkew {
  int32_t rank = 0;
  int64_t last_count = 0;      // Collectives that it joined last.
  int64_t caused_wait_ps = 0;  // What the others waited in them.
  int64_t wait_ps = 0;         // What it waited itself.
};

struct CollectiveSkew {
  uint32_t match = 0;      // Index into MatchedComm::collectives.
  uint32_t last_node = 0;  // Of last_rank.
  int32_t last_rank = 0;   // Of several the lowest; likewise first_rank.
  int32_t first_rank = 0;
  int64_t first_join_ps = 0;
  int64_t last_join_ps = 0;

  int64_t skew_ps() const { return last_join_ps - first_join_ps; }
};

struct SkewStats {
  int64_t instances_count = 0;
  int64_t wait_ps = 0;      // Of all ranks; the same as the sum of caused_wait_ps.
  double mean_wait_ps = 0;  // Of a rank.
  int64_t max_skew_ps = 0;
  double mean_skew_ps = 0;            // Of an instance.
  std::vector<RankSkew> ranks;        // Of `job`, by rank.
  std::vector<CollectiveSkew> worst;  // Largest skew first; then by (group, number).
};

// Of the collectives in which every member waits for every other, of which two members or more
// have a time, and whose last join is within `job`. A rank waits from its own join to the last
// one (or to its own end, where clocks say that it ended before). `matches`: MatchComm of the
// whole timeline that `job` is or is a part of. `top`: how many of `worst`. O(k log k) for k
// operations.
SkewStats ComputeSkew(const JobTimeline& job, const MatchedComm& matches, size_t top);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_SKEW_SKEW_H_
