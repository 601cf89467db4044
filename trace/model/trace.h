// One recorded job: its ranks, their process groups, its labels.
#ifndef CHAKRAD_TRACE_MODEL_TRACE_H_
#define CHAKRAD_TRACE_MODEL_TRACE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/model/rank_trace.h"

namespace chakrad {

// Plain data: reading is thread-safe.
struct Trace {
  int32_t world_size = 0;        // Ranks of the job; at least ranks.size().
  std::vector<RankTrace> ranks;  // By ascending rank; ranks may be missing.
  // Every CommOp::group of every rank indexes this table. Entry 0 is the world,
  // {0, ..., world_size - 1}. A group whose ranks are empty is unknown: an
  // operation on it is kept, and cannot be simulated.
  std::vector<ProcessGroup> groups;
  std::map<std::string, std::string> labels;

  // The rank's part, or null when it is missing. O(log ranks).
  const RankTrace* FindRank(int32_t rank) const;
  // The rank's part; of a missing rank the part of the traced rank that stands in
  // for it: the nearest below, else the lowest. Null when there are no ranks.
  const RankTrace* FindRankOrStandIn(int32_t rank) const;
  // Ranks of the world that have no part here, ascending.
  std::vector<int32_t> MissingRanks() const;
};

inline constexpr uint32_t kWorldGroup = 0;

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_TRACE_H_
