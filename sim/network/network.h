// What the rest of the simulator knows of a network: messages go in, arrivals
// come out as events. A back end decides what messages share (the port rule).
#ifndef CHAKRAD_SIM_NETWORK_NETWORK_H_
#define CHAKRAD_SIM_NETWORK_NETWORK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine/event_queue.h"
#include "sim/system/system_description.h"

namespace chakrad {

// What one directed link carried. Ends are named as in LinkOverride: of a switch's link one
// is -1.
struct LinkUse {
  int32_t dim = 0;
  int32_t src = -1;
  int32_t dst = -1;
  int64_t messages_count = 0;
  double bytes = 0;
  int64_t busy_ps = 0;   // Time in which it was sending.
  int64_t queue_ps = 0;  // Sum over messages of the time that they waited for it.
};

// Not thread-safe: belongs to one run.
class Network {
 public:
  virtual ~Network() = default;
  // A message of `bytes` >= 0 (not always whole: a share of a tail) leaves NPU `src` at `at_ps`,
  // which is not before the queue's time and may be after it; `arrival` is pushed for when its
  // last byte is at NPU `dst`.
  virtual void Send(int64_t at_ps, int32_t src, int32_t dst, double bytes, EventTag arrival) = 0;
  // When the port of `src` toward `dst` will have sent what it has taken on; 0 where ports are
  // free. Right after a Send for now: when that message has left.
  virtual int64_t PortFreePs(int32_t src, int32_t dst) const {
    static_cast<void>(src), static_cast<void>(dst);
    return 0;
  }
  // An event of a kind in [kFirstNetworkKind, kFirstNetworkKind + 8): the back end's own.
  virtual void Handle(const Event& event) { static_cast<void>(event); }
  // The links that carried anything, by (dim, src, dst). Empty when the back end keeps none.
  virtual std::vector<LinkUse> LinkUses() const { return {}; }
};

// The back end that `system` asks for. Both arguments must outlive it.
std::unique_ptr<Network> MakeNetwork(const SystemDescription* system, EventQueue* queue);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_NETWORK_H_
