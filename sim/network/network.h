// What the rest of the simulator knows of a network: messages go in, arrivals
// come out as events. A back end decides what messages share (the port rule).
#ifndef CHAKRAD_SIM_NETWORK_NETWORK_H_
#define CHAKRAD_SIM_NETWORK_NETWORK_H_

#include <cstdint>

#include "sim/engine/event_queue.h"

namespace chakrad {

// Not thread-safe: belongs to one run.
class Network {
 public:
  virtual ~Network() = default;
  // A message of `bytes` >= 0 leaves NPU `src` at `at_ps`, which is not before the
  // queue's time and may be after it; `arrival` is pushed for when its last byte is
  // at NPU `dst`.
  virtual void Send(int64_t at_ps, int32_t src, int32_t dst, int64_t bytes, EventTag arrival) = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_NETWORK_H_
