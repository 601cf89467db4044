// Intervals of what each rank did when: measured or simulated, the same type.
#ifndef CHAKRAD_TRACE_MODEL_TIMELINE_H_
#define CHAKRAD_TRACE_MODEL_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "trace/model/types.h"

namespace chakrad {

enum class IntervalKind : uint8_t {
  kCompute = 0,  // Device compute; host operations where a rank has no device.
  kComm = 1,     // Collectives, sends, receives.
  kMemory = 2,   // Copies, fills, remote memory.
  kHost = 3,     // Host operations of a rank that has a device: not compute.
};
inline constexpr int kIntervalKindsCount = 4;

// Half open: [start_ps, end_ps), picoseconds from the trace's own base.
struct TimelineInterval {
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  int32_t rank = 0;
  uint32_t node = 0;   // Index in the rank's trace.
  uint16_t queue = 0;  // Index into the rank's queues.
  IntervalKind kind = IntervalKind::kCompute;
  friend bool operator==(const TimelineInterval&, const TimelineInterval&) = default;
};

inline constexpr int64_t kPsPerNs = 1000;

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_TIMELINE_H_
