// Runs one collective on the engine, without a workload: for tests.
#ifndef CHAKRAD_SIM_COLLECTIVE_TEST_RUN_H_
#define CHAKRAD_SIM_COLLECTIVE_TEST_RUN_H_

#include <cstdint>
#include <vector>

#include "sim/collective/collective_engine.h"
#include "sim/network/network.h"
#include "sim/system/system_description.h"

namespace chakrad {

struct OneCollective {
  CollectiveCall call;           // rank and node are filled in; group: index into `groups`.
  std::vector<int32_t> ranks;    // The group in order; empty: all NPUs.
  std::vector<int64_t> join_ps;  // By place in the group; empty: all at 0.
};

struct OneRun {
  std::vector<int64_t> end_ps;         // By place in the group.
  std::vector<int64_t> network_bytes;  // By place in the group.
  int64_t events_count = 0;
  std::vector<CollectiveWait> waits;  // Empty when the collective ended.
  std::vector<LinkUse> uses;
};

// The network is the one that `system` asks for. A Join that fails fails the test.
OneRun RunOne(const SystemDescription& system, const OneCollective& collective);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_TEST_RUN_H_
