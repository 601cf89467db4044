// The algorithms as data: at which step which place of a phase sends how many bytes
// to which place, and what it does with what it receives. Pure functions; time comes
// in elsewhere (collective_engine.cc). Places are 0 to phase.places_count - 1.
#ifndef CHAKRAD_SIM_COLLECTIVE_STEPS_H_
#define CHAKRAD_SIM_COLLECTIVE_STEPS_H_

#include <cstdint>

#include "sim/collective/collective_plan.h"

namespace chakrad {

// The place of a member of the collective in its line of the phase.
inline int32_t PlaceOf(const CollectivePhase& phase, int32_t member) {
  return member / phase.stride % phase.places_count;
}
// Whether the member takes part in the phase. Of a script over one dimension of several only
// the lines do in whose lower dimensions the root sits; whoever does not is through at once.
inline bool TakesPart(const CollectivePhase& phase, int32_t member) {
  return phase.algorithm != AlgorithmKind::kScript ||
         member % phase.stride == phase.root % phase.stride;
}

// Ring and halving-doubling: in each of phase.sends_count steps a place sends one
// message and receives one, of equal size.
struct PairStep {
  int32_t peer = 0;         // Where the message goes.
  double bytes = 0;         // Astra: whole.
  double reduce_bytes = 0;  // Reduced after this step's receipt; 0: none.
};
// `direction`: 1 or -1, which way a ring turns. An all-to-all by halving-doubling passes half of
// the chunk on in each step.
PairStep PairStepAt(const CollectivePhase& phase, int32_t place, int64_t step, int32_t direction);

// Direct: the place that message `number`, 0-based, of `place` goes to. The message
// with the same number is the one that `place` waits for when it has sent its own.
int32_t DirectPeer(const CollectivePhase& phase, int32_t place, int64_t number, int32_t direction);

// Direct: whether the receipt `number`, 0-based, in order of time, is reduced. Physical: of a
// reduce-scatter each, of an all-reduce those of the first half. Astra: places begin with
// `window` messages; then receipts run in turns of reduce_run that may be reduced and `window`
// that may not. Of a reduce-scatter each such run is reduced, of an all-reduce every second one.
bool DirectReceiptReduces(const CollectivePhase& phase, int64_t number);

// Double binary tree: all places but the root are in order in a binary tree whose top hangs
// from the root: perfect for a power of two of places, else as balanced as the rule "the height
// of in-order number i is its count of trailing zeros" makes it. There are two, of the last
// place and of the first; who is a leaf in one is root or inside in the other.
struct TreePlace {
  int32_t parent = -1;  // -1: this is the root.
  int32_t children[2] = {-1, -1};
  int32_t children_count = 0;
};
// `root_is_last`: the root is the last place, else place 0. places_count: at least 2.
TreePlace TreePlaceOf(int32_t places_count, bool root_is_last, int32_t place);
// Which of the two trees `chunk` uses: even ones that of the last place.
inline bool TreeRootIsLast(int32_t chunk) { return chunk % 2 == 0; }

// Which way a ring turns for `chunk`: the first half of a dimension's queues one way, the others
// the other.
int32_t ChunkDirection(const CollectivePhase& phase, int32_t chunk, int32_t queues_count);

// What adding a receipt of `bytes` up takes, ps: 3 bytes / local_mem_bytes_per_ns (astra: 3 times
// the truncated quotient); 0 where that is 0.
int64_t ReductionPs(const SystemDescription& system, double bytes);

// Scripts: places count from the root's on. The place in the script of a place of the phase, and
// back.
int32_t ScriptPlaceOf(const CollectivePhase& phase, int32_t place);
int32_t PlaceOfScriptPlace(const CollectivePhase& phase, int32_t script_place);
// Scripts: bytes of a message of `units`, of one chunk. Astra: whole.
double ScriptMessageBytes(const CollectivePhase& phase, int64_t units);

// Bytes that `place`, which takes part, sends in `phase`, all of its `chunks_count` chunks
// together. Physical: the exact sum, rounded down once. Cut at INT64_MAX.
int64_t SentBytes(const CollectivePhase& phase, int32_t chunks_count, int32_t place);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_STEPS_H_
