// One recorded job: its ranks, their process groups, its labels.
#ifndef CHAKRAD_TRACE_MODEL_TRACE_H_
#define CHAKRAD_TRACE_MODEL_TRACE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/model/rank_trace.h"

namespace chakrad {

// A rank that has no part of its own: it runs that of another rank, moved as a whole.
struct RankCopy {
  int32_t rank = 0;
  int32_t of = 0;  // A rank that has a part.
  // (group in the part, group that this rank uses instead), ascending; others are the same.
  // A peer p in the part is p + rank - of; so is a root, in groups that are listed here.
  std::vector<std::pair<uint32_t, uint32_t>> groups;

  // The group that this rank uses where the part says `group`. O(log groups).
  uint32_t GroupInstead(uint32_t group) const;
  friend bool operator==(const RankCopy&, const RankCopy&) = default;
};

// Plain data: reading is thread-safe.
struct Trace {
  int32_t world_size = 0;        // Ranks of the job; at least ranks.size().
  std::vector<RankTrace> ranks;  // By ascending rank; ranks may be missing.
  // Every CommOp::group of every rank indexes this table. Entry 0 is the world,
  // {0, ..., world_size - 1}. A group whose ranks are empty is unknown: an
  // operation on it is kept, and cannot be simulated.
  std::vector<ProcessGroup> groups;
  std::map<std::string, std::string> labels;
  // Ranks of a trace that was projected to another size (sim/projection), by ascending rank;
  // none of them in `ranks`. Empty in every trace that was recorded or stored.
  std::vector<RankCopy> copies;

  // The rank's part, or null when it is missing. O(log ranks).
  const RankTrace* FindRank(int32_t rank) const;
  // How the rank copies another, or null when it does not. O(log copies).
  const RankCopy* FindCopy(int32_t rank) const;
  // The rank's part; of a copy that of its original; of a missing rank the part of the traced
  // rank that stands in for it: the nearest below, else the lowest. Null when there are no ranks.
  const RankTrace* FindRankOrStandIn(int32_t rank) const;
  // Ranks of the world that have no part here and are no copies, ascending.
  std::vector<int32_t> MissingRanks() const;
};

inline constexpr uint32_t kWorldGroup = 0;

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_TRACE_H_
