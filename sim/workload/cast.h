// Who runs what: the rank trace of each simulated rank, and the process group that
// each of its collectives runs on. Everything that can be said before the run that
// makes a trace and a system unfit for each other is said here.
#ifndef CHAKRAD_SIM_WORKLOAD_CAST_H_
#define CHAKRAD_SIM_WORKLOAD_CAST_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/status.h"
#include "sim/system/system_description.h"
#include "trace/model/trace.h"

namespace chakrad {

struct Cast {
  // By rank of the world: index into Trace::ranks. Ranks whose traces are equal, but for which
  // process groups they are in, share the first one's.
  std::vector<uint32_t> trace_of;
  // Ranks that the trace lacks, ascending, and the traced ranks whose traces they run.
  std::vector<std::pair<int32_t, int32_t>> stand_in_by_rank;
  // (rank, group in the trace that it runs): the group it uses instead, of the same size.
  std::map<std::pair<int32_t, uint32_t>, uint32_t> other_group;

  // What is added to the peers (and roots) that a rank's trace names: of copies (RankCopy).
  std::vector<int32_t> shift_of;  // By rank; empty: 0 for all.
  int32_t ShiftOf(int32_t rank) const { return shift_of.empty() ? 0 : shift_of[rank]; }

  // The group of a collective that names `group` (kNone: the world) when `rank` runs it.
  uint32_t GroupFor(int32_t rank, uint32_t group) const {
    if (group == kNone) group = kWorldGroup;
    if (other_group.empty()) return group;
    const auto it = other_group.find({rank, group});
    return it == other_group.end() ? group : it->second;
  }
};

// `memory_use`: ranks with other tensors are not alike (SimOptions::memory_use).
// INVALID_ARGUMENT: world size and topology disagree; ranks missing (unless
// `replicate`); a group, peer or size that cannot be; a memory node without a duration.
absl::StatusOr<Cast> CastRanks(const Trace& trace, const SystemDescription& system, bool replicate,
                               bool memory_use);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_CAST_H_
