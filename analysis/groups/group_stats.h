// Communication by process group, and by what groups are for. See docs/analysis.md#groups.
#ifndef CHAKRAD_ANALYSIS_GROUPS_GROUP_STATS_H_
#define CHAKRAD_ANALYSIS_GROUPS_GROUP_STATS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/groups/parallelism.h"
#include "analysis/timeline/timeline.h"

namespace chakrad {

// One group, all looked-at ranks together.
//
// Where a rank communicates in several groups at once, the moment is charged to the one whose
// communication began first (of equal ones to the lowest group). So comm_ps of all groups adds
// up to the ranks' communication (RankBreakdown::comm_ps), exposed_ps to their exposed one.
struct GroupStats {
  uint32_t group = 0;      // Index into Trace::groups; kNone: the group of a stand-in, not known.
  int64_t count = 0;       // Operations on ranks.
  int64_t bytes = 0;       // Sum of CommOp::bytes.
  int64_t total_ps = 0;    // Sum of the operations' times, overlapping or not.
  int64_t comm_ps = 0;     // Moments charged to this group,
  int64_t exposed_ps = 0;  // and of those the ones in which the rank computes nothing.
  GroupPattern shape;
  Parallelism parallelism = Parallelism::kUnknown;
  std::string reason;  // Why that is guessed.
};

// The groups that have an operation with a time in `job`, by group. Guesses are made of what
// is in `job`. O(k log k + n log n) for k operations and n intervals.
std::vector<GroupStats> ComputeGroupStats(const JobTimeline& job);

struct ParallelismStats {
  Parallelism parallelism = Parallelism::kUnknown;
  int64_t groups_count = 0;
  int64_t count = 0;  // Sums over its groups: here and below.
  int64_t bytes = 0;
  int64_t total_ps = 0;
  int64_t comm_ps = 0;
  int64_t exposed_ps = 0;
};
// In the order of Parallelism; those without groups are left out.
std::vector<ParallelismStats> SumByParallelism(const std::vector<GroupStats>& groups);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_GROUPS_GROUP_STATS_H_
