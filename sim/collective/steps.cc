#include "sim/collective/steps.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "absl/numeric/int128.h"
#include "sim/engine/semantics.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

PairStep RingStep(const CollectivePhase& phase, int32_t place, int64_t step, int32_t direction) {
  PairStep result;
  const int32_t n = phase.places_count;
  result.peer = direction > 0 ? (place + 1 == n ? 0 : place + 1) : (place == 0 ? n - 1 : place - 1);
  result.bytes = phase.message_bytes;
  const bool reduces = phase.op == PhaseOp::kReduceScatter || phase.op == PhaseOp::kAllReduce;
  if (reduces && step < n - 1) result.reduce_bytes = phase.message_bytes;
  return result;
}

int64_t Levels(const CollectivePhase& phase) {
  return std::bit_width(static_cast<uint32_t>(phase.places_count)) - 1;
}

// Message size of step `step`: halved at each step of the way down, doubled again on
// the way up. Astra: whole bytes, cut down.
double HalvingDoublingBytes(const CollectivePhase& phase, int64_t step, int64_t levels) {
  const double chunk = phase.chunk_bytes;
  const auto shifted = [](int64_t by) { return static_cast<double>(int64_t{1} << by); };
  if (phase.op == PhaseOp::kAllGather) return chunk * shifted(step);
  if (phase.op == PhaseOp::kAllToAll) return chunk / 2;
  if (step < levels) {
    const double bytes = chunk / shifted(step + 1);
    return phase.semantics == Semantics::kAstra ? std::floor(bytes) : bytes;
  }
  const double smallest = chunk / shifted(levels);
  return (phase.semantics == Semantics::kAstra ? std::floor(smallest) : smallest) *
         shifted(step - levels);
}

// What is reduced after the receipt of step `step` of the way down. ASTRA-sim charges the size
// of the next message, and nothing at the turn.
double HalvingDoublingReduces(const CollectivePhase& phase, int64_t step, int64_t levels) {
  if (phase.op != PhaseOp::kReduceScatter && phase.op != PhaseOp::kAllReduce) return 0;
  if (phase.semantics == Semantics::kAstra) ++step;
  return step < levels ? HalvingDoublingBytes(phase, step, levels) : 0;
}

PairStep HalvingDoublingStep(const CollectivePhase& phase, int32_t place, int64_t step) {
  const int64_t levels = Levels(phase);
  PairStep result;
  int64_t distance_log2 = step < levels ? step : 2 * levels - 1 - step;
  if (phase.op == PhaseOp::kAllGather) distance_log2 = levels - 1 - step;
  result.peer = place ^ (int32_t{1} << distance_log2);
  result.bytes = HalvingDoublingBytes(phase, step, levels);
  result.reduce_bytes = HalvingDoublingReduces(phase, step, levels);
  return result;
}

// Messages that `place` sends in the tree of one chunk.
int64_t TreeSends(const CollectivePhase& phase, int32_t chunk, int32_t place) {
  const TreePlace tree = TreePlaceOf(phase.places_count, TreeRootIsLast(chunk), place);
  return tree.children_count + (tree.parent < 0 ? 0 : 1);
}

// What `place` sends, in chunks of the phase's beginning, times `*den`.
int64_t SentChunks(const CollectivePhase& phase, int32_t chunks_count, int32_t place,
                   int64_t* den) {
  *den = 1;
  switch (phase.algorithm) {
    case AlgorithmKind::kRing:
    case AlgorithmKind::kDirect:
      if (phase.op != PhaseOp::kAllGather) *den = phase.places_count;
      return phase.sends_count * chunks_count;
    case AlgorithmKind::kHalvingDoubling:
      if (phase.op == PhaseOp::kAllGather) return int64_t{phase.places_count - 1} * chunks_count;
      if (phase.op == PhaseOp::kAllToAll) *den = 2;
      if (phase.op == PhaseOp::kAllToAll) return phase.sends_count * chunks_count;
      *den = phase.places_count;
      return (phase.op == PhaseOp::kAllReduce ? 2 : 1) * int64_t{phase.places_count - 1} *
             chunks_count;
    case AlgorithmKind::kDoubleBinaryTree:
    case AlgorithmKind::kScript:
      break;
  }
  return TreeSends(phase, 0, place) * ((chunks_count + 1) / 2) +
         TreeSends(phase, 1, place) * (chunks_count / 2);
}

int64_t CutToInt64(absl::int128 bytes) {
  return bytes > INT64_MAX ? INT64_MAX : static_cast<int64_t>(bytes);
}

// ASTRA-sim's custom algorithms have the sizes in their traces.
int64_t ScriptUnitsTotal(const CollectivePhase& phase) {
  const bool as_they_are =
      phase.semantics == Semantics::kAstra && phase.script_shape == ScriptShape::kCustom;
  return as_they_are ? 0 : phase.script->units_total;
}

int64_t ScriptSentBytes(const CollectivePhase& phase, int32_t chunks_count, int32_t place) {
  const CollectiveScript& script = *phase.script;
  const int32_t script_place = ScriptPlaceOf(phase, place);
  const int64_t total = ScriptUnitsTotal(phase);
  const bool shares = total > 0;
  const bool whole = shares && phase.semantics == Semantics::kAstra;
  absl::int128 units = 0;
  for (uint32_t i = script.step_begin[script_place]; i < script.step_begin[script_place + 1]; ++i) {
    const ScriptStep& step = script.steps[i];
    if (step.kind != ScriptStep::Kind::kSend) continue;
    units += whole ? static_cast<int64_t>(ScriptMessageBytes(phase, step.units)) : step.units;
  }
  if (!shares || whole) return CutToInt64(units * chunks_count);
  return CutToInt64(units * phase.all_chunks.num / (absl::int128(total) * phase.all_chunks.den));
}

// Astra: messages are whole, so that their sum is.
int64_t SentBytesAstra(const CollectivePhase& phase, int32_t chunks_count, int32_t place) {
  absl::int128 chunk_bytes = 0;
  if (phase.algorithm == AlgorithmKind::kHalvingDoubling) {
    for (int64_t step = 0; step < phase.sends_count; ++step) {
      chunk_bytes += static_cast<int64_t>(HalvingDoublingBytes(phase, step, Levels(phase)));
    }
    return CutToInt64(chunk_bytes * chunks_count);
  }
  if (phase.algorithm == AlgorithmKind::kDoubleBinaryTree) {
    int64_t den = 1;
    return CutToInt64(absl::int128(SentChunks(phase, chunks_count, place, &den)) *
                      static_cast<int64_t>(phase.chunk_bytes));
  }
  return CutToInt64(absl::int128(phase.sends_count) * chunks_count *
                    static_cast<int64_t>(phase.message_bytes));
}

}  // namespace

PairStep PairStepAt(const CollectivePhase& phase, int32_t place, int64_t step, int32_t direction) {
  return phase.algorithm == AlgorithmKind::kRing ? RingStep(phase, place, step, direction)
                                                 : HalvingDoublingStep(phase, place, step);
}

int32_t DirectPeer(const CollectivePhase& phase, int32_t place, int64_t number, int32_t direction) {
  const int32_t n = phase.places_count;
  const int32_t distance = static_cast<int32_t>(number % (n - 1)) + 1;
  const int32_t peer = direction > 0 ? place + distance : place - distance;
  return peer >= n ? peer - n : peer < 0 ? peer + n : peer;
}

bool DirectReceiptReduces(const CollectivePhase& phase, int64_t number) {
  if (phase.semantics == Semantics::kPhysical) {
    return phase.op == PhaseOp::kReduceScatter ||
           (phase.op == PhaseOp::kAllReduce && number < phase.places_count - 1);
  }
  const int64_t cycle = int64_t{phase.window} + phase.reduce_run;
  const int64_t index = number + phase.window;  // The first window was sent, not received.
  if (index % cycle < phase.window) return false;
  if (phase.op == PhaseOp::kReduceScatter) return true;
  return phase.op == PhaseOp::kAllReduce && index / cycle % 2 == 0;
}

TreePlace TreePlaceOf(int32_t places_count, bool root_is_last, int32_t place) {
  // In-order numbers 1 to places_count - 1, the root is 0. Numbers of the two trees differ by
  // one, so that a leaf of one (an odd number) is inside the other.
  const int32_t offset = root_is_last ? 1 : 0;  // Number minus place.
  const auto place_of = [&](int32_t number) {
    return number == 0 && root_is_last ? places_count - 1 : number - offset;
  };
  const int32_t number = place + offset == places_count ? 0 : place + offset;
  TreePlace result;
  if (number == 0) {
    const int32_t top = static_cast<int32_t>(std::bit_floor(uint32_t(places_count - 1)));
    result.children[0] = place_of(top);
    result.children_count = 1;
    return result;
  }
  const int32_t lowest = number & -number;
  const int32_t without = number ^ lowest;
  const int32_t up = without | lowest << 1;
  result.parent = place_of(up < places_count ? up : without);
  if (lowest == 1) return result;
  result.children[result.children_count++] = place_of(number - lowest / 2);
  for (int32_t half = lowest / 2; half > 0; half /= 2) {
    if (number + half >= places_count) continue;
    result.children[result.children_count++] = place_of(number + half);
    break;
  }
  return result;
}

int32_t ScriptPlaceOf(const CollectivePhase& phase, int32_t place) {
  const int32_t from_root = place - PlaceOf(phase, phase.root);
  return from_root < 0 ? from_root + phase.places_count : from_root;
}

int32_t PlaceOfScriptPlace(const CollectivePhase& phase, int32_t script_place) {
  const int32_t place = script_place + PlaceOf(phase, phase.root);
  return place >= phase.places_count ? place - phase.places_count : place;
}

double ScriptMessageBytes(const CollectivePhase& phase, int64_t units) {
  const int64_t total = ScriptUnitsTotal(phase);
  if (total == 0) return static_cast<double>(units);
  const double bytes =
      phase.chunk_bytes * (static_cast<double>(units) / static_cast<double>(total));
  return phase.semantics == Semantics::kAstra ? std::floor(bytes) : bytes;
}

int64_t SentBytes(const CollectivePhase& phase, int32_t chunks_count, int32_t place) {
  if (phase.algorithm == AlgorithmKind::kScript) return ScriptSentBytes(phase, chunks_count, place);
  if (phase.semantics == Semantics::kAstra) return SentBytesAstra(phase, chunks_count, place);
  int64_t den = 1;
  const absl::int128 num = SentChunks(phase, chunks_count, place, &den);
  return CutToInt64(num * phase.all_chunks.num /
                    (absl::int128(den) * phase.all_chunks.den * chunks_count));
}

int32_t ChunkDirection(const CollectivePhase& phase, int32_t chunk, int32_t queues_count) {
  const int32_t queue = (phase.first_lane + chunk % phase.lanes_count) % queues_count;
  return queue < (queues_count + 1) / 2 ? 1 : -1;
}

int64_t ReductionPs(const SystemDescription& system, double bytes) {
  if (bytes == 0 || system.local_mem_bytes_per_ns == 0) return 0;
  const double pass_ns = bytes / system.local_mem_bytes_per_ns;
  if (system.semantics == Semantics::kPhysical) return RoundDelayPs(system.semantics, 3 * pass_ns);
  return std::min(3 * RoundDelayPs(system.semantics, pass_ns), kMaxDelayPs);
}

}  // namespace chakrad
