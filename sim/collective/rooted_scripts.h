// Broadcast, reduce, gather and scatter as steps.
#ifndef CHAKRAD_SIM_COLLECTIVE_ROOTED_SCRIPTS_H_
#define CHAKRAD_SIM_COLLECTIVE_ROOTED_SCRIPTS_H_

#include <cstdint>

#include "sim/collective/collective_plan.h"
#include "sim/system/collective_script.h"

namespace chakrad {

// `op`: one of the four. `shape`: kChain, kStar or kBinomialTree. The root is place 0.
//
// Each shape is a tree of places. Broadcast and scatter go down it: a place sends to its
// children, the one with the largest subtree first, once it has received. Reduce and gather go
// up it: a place sends when it has all of its children's. In a chain place k hangs from k - 1,
// in a star from 0, in a binomial tree from k without its lowest set bit.
// Sizes: broadcast, reduce: the whole (1 of 1 units). Gather: what each contributes (1 of 1
// units) for every place of the subtree. Scatter: one of places_count units for each.
// O(places).
CollectiveScript MakeRootedScript(PhaseOp op, ScriptShape shape, int32_t places_count);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_ROOTED_SCRIPTS_H_
