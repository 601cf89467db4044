// The algorithms as data: at which step which place of a phase sends how many bytes
// to which place, and what it does with what it receives. Pure functions; time comes
// in elsewhere (collective_engine.cc). Places are 0 to phase.places_count - 1.
#ifndef CHAKRAD_SIM_COLLECTIVE_STEPS_H_
#define CHAKRAD_SIM_COLLECTIVE_STEPS_H_

#include <cstdint>

#include "sim/collective/collective_plan.h"

namespace chakrad {

// Ring and halving-doubling: in each of phase.sends_count steps a place sends one
// message and receives one, of equal size.
struct PairStep {
  int32_t peer = 0;  // Where the message goes.
  int64_t bytes = 0;
  int64_t reduce_bytes = 0;  // Reduced after this step's receipt; 0: none.
};
// `direction`: 1 or -1, which way a ring turns.
PairStep PairStepAt(const CollectivePhase& phase, int32_t place, int64_t step, int32_t direction);

// Direct: the place that message `number`, 0-based, of `place` goes to. The message
// with the same number is the one that `place` waits for when it has sent its own.
int32_t DirectPeer(const CollectivePhase& phase, int32_t place, int64_t number, int32_t direction);

// Direct: whether the receipt `number`, 0-based, in order of time, is reduced. Places
// begin with `window` messages; then receipts run in turns of reduce_run that may be
// reduced and `window` that may not. Of a reduce-scatter each such run is reduced, of
// an all-reduce every second one.
bool DirectReceiptReduces(const CollectivePhase& phase, int64_t number);

// Double binary tree: all places but the root are in order in a perfect binary tree
// whose top hangs from the root.
struct TreePlace {
  int32_t parent = -1;  // -1: this is the root.
  int32_t children[2] = {-1, -1};
  int32_t children_count = 0;
};
// `root_is_last`: the root is the last place, else place 0. places_count: a power of two.
TreePlace TreePlaceOf(int32_t places_count, bool root_is_last, int32_t place);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_STEPS_H_
