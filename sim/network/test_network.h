// Messages over a network, for its tests.
#ifndef CHAKRAD_SIM_NETWORK_TEST_NETWORK_H_
#define CHAKRAD_SIM_NETWORK_TEST_NETWORK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine/event_kind.h"
#include "sim/network/network.h"

namespace chakrad {

struct TestMessage {
  int64_t at_ps = 0;
  int32_t src = 0;
  int32_t dst = 0;
  double bytes = 0;
};

struct TestRun {
  std::vector<int64_t> arrivals_ps;  // By message.
  std::vector<LinkUse> uses;
};

// Sends all messages at time 0, in order, each to leave at its at_ps, and runs to the end.
inline TestRun RunMessages(const SystemDescription& system,
                           const std::vector<TestMessage>& messages) {
  constexpr uint32_t kArrived = kFirstCollectiveKind;
  EventQueue queue;
  const std::unique_ptr<Network> network = MakeNetwork(&system, &queue);
  uint32_t number = 0;
  for (const TestMessage& message : messages) {
    network->Send(message.at_ps, message.src, message.dst, message.bytes,
                  EventTag{kArrived, 0, number++});
  }
  TestRun run;
  run.arrivals_ps.assign(messages.size(), -1);
  for (Event event; queue.Pop(&event);) {
    if (event.tag.kind == kArrived) {
      run.arrivals_ps[event.tag.target] = event.at_ps;
    } else {
      network->Handle(event);
    }
  }
  run.uses = network->LinkUses();
  return run;
}

// 1 byte a nanosecond and 100 ns a hop, physical and analytical.
inline SystemDescription PhysicalSystem(std::vector<NetworkDim> dims) {
  SystemDescription system;
  system.semantics = Semantics::kPhysical;
  system.dims = std::move(dims);
  return system;
}
inline NetworkDim UnitDim(TopologyKind kind, int32_t npus_count) {
  NetworkDim dim;
  dim.topology = kind;
  dim.npus_count = npus_count;
  dim.bytes_per_ns = 1;
  dim.latency_ns = 100;
  return dim;
}

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_TEST_NETWORK_H_
