#include "sim/collective/steps.h"

#include <bit>

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

// Message size of step `step`: halved at each step of the way down, doubled again on
// the way up.
int64_t HalvingDoublingBytes(const CollectivePhase& phase, int64_t step, int64_t levels) {
  if (phase.op == PhaseOp::kAllGather) return phase.chunk_bytes << step;
  if (step < levels) return phase.chunk_bytes >> (step + 1);
  return (phase.chunk_bytes >> levels) << (step - levels);
}

PairStep HalvingDoublingStep(const CollectivePhase& phase, int32_t place, int64_t step) {
  const int64_t levels = std::bit_width(static_cast<uint32_t>(phase.places_count)) - 1;
  PairStep result;
  int64_t distance_log2 = step < levels ? step : 2 * levels - 1 - step;
  if (phase.op == PhaseOp::kAllGather) distance_log2 = levels - 1 - step;
  result.peer = place ^ (int32_t{1} << distance_log2);
  result.bytes = HalvingDoublingBytes(phase, step, levels);
  // ASTRA-sim charges the reduction of the next message's size, and none at the turn.
  if (phase.op != PhaseOp::kAllGather && step + 1 < levels) {
    result.reduce_bytes = HalvingDoublingBytes(phase, step + 1, levels);
  }
  return result;
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
  const int64_t cycle = int64_t{phase.window} + phase.reduce_run;
  const int64_t index = number + phase.window;  // The first window was sent, not received.
  if (index % cycle < phase.window) return false;
  if (phase.op == PhaseOp::kReduceScatter) return true;
  return phase.op == PhaseOp::kAllReduce && index / cycle % 2 == 0;
}

TreePlace TreePlaceOf(int32_t places_count, bool root_is_last, int32_t place) {
  // In-order numbers 1 to places_count - 1: the count of trailing zeros is the height.
  const int32_t offset = root_is_last ? 1 : 0;  // In-order number minus place.
  const int32_t root = root_is_last ? places_count - 1 : 0;
  const int32_t top = places_count / 2;
  TreePlace result;
  if (place == root) {
    result.children[0] = top - offset;
    result.children_count = 1;
    return result;
  }
  const int32_t number = place + offset;
  const int height = std::countr_zero(static_cast<uint32_t>(number));
  result.parent = number == top ? root : (((number >> (height + 1)) | 1) << (height + 1)) - offset;
  if (height > 0) {
    const int32_t half = int32_t{1} << (height - 1);
    result.children[0] = number - half - offset;
    result.children[1] = number + half - offset;
    result.children_count = 2;
  }
  return result;
}

}  // namespace chakrad
