// Collectives whose members rightly state different sizes.
#ifndef CHAKRAD_SIM_WORKLOAD_UNEVEN_H_
#define CHAKRAD_SIM_WORKLOAD_UNEVEN_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/system/system_description.h"
#include "sim/workload/cast.h"
#include "sim/workload/rank_graph.h"
#include "trace/model/trace.h"

namespace chakrad {

// By rank << 32 | node: the bytes that a member of an uneven all-to-all, gather or scatter is
// charged where another states more; the largest decides. Which ones belong together is taken from
// the order of ids in each group. Empty when all are even. O(communication nodes of all ranks that
// have any).
std::unordered_map<uint64_t, int64_t> FindUneven(Semantics semantics, const Trace& trace,
                                                 const Cast& cast,
                                                 const std::vector<RankGraph>& graphs);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_UNEVEN_H_
