// The groups of ranks that another rank stands in for. Inside analysis/timeline only.
#ifndef CHAKRAD_ANALYSIS_TIMELINE_STAND_IN_GROUPS_H_
#define CHAKRAD_ANALYSIS_TIMELINE_STAND_IN_GROUPS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/model/rank_trace.h"
#include "trace/model/trace.h"

namespace chakrad {

// By the simulator's rule: a rank uses the group that the graph names where it is a member of
// it; else the one group of as many ranks that holds it. Groups that hold a rank twice, or one
// outside of the world, are none of these. The trace must outlive it. Not thread-safe.
class StandInGroups {
 public:
  explicit StandInGroups(const Trace& trace) : trace_(trace) {}

  // (group in the graph, group that `rank` uses instead or kNone where none or several would
  // do), ascending, of those that the graph's communication names; others are the same.
  // O(groups of the graph * log); the first call O(members of all groups * log), and that of each
  // graph O(nodes).
  std::vector<std::pair<uint32_t, uint32_t>> Of(int32_t rank, const RankTrace& graph);

 private:
  void FindGroupsWith();
  const std::vector<uint32_t>& UsedBy(const RankTrace& graph);

  const Trace& trace_;
  std::vector<std::vector<uint32_t>> groups_with_;  // By rank, ascending; empty until needed.
  std::map<const RankTrace*, std::vector<uint32_t>> used_by_;
};

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_TIMELINE_STAND_IN_GROUPS_H_
