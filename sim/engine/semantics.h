// The cost semantics in use, and the one place that rounds time.
//
// A semantics is a policy at a few named places:
//   rounding    RoundDelayPs, below
//   port        the Network (sim/network/network.h): what messages of one NPU share
//   chunks      sim/collective/collective_plan.h: how a collective is cut, what a tail costs
//   issue rule  sim/workload/issue_rule.h: what a node occupies, how much runs at once
// "astra": each delay is cut to a whole nanosecond; messages share nothing (analytical) or
// are stored and forwarded (link); one host operation, one device operation and one
// communication a rank.
// "physical": each delay is rounded to the nearest picosecond; a port sends one message at a
// time; messages are cut through; recorded queues run side by side.
#ifndef CHAKRAD_SIM_ENGINE_SEMANTICS_H_
#define CHAKRAD_SIM_ENGINE_SEMANTICS_H_

#include <cmath>
#include <cstdint>

#include "sim/limits.h"
#include "sim/system/system_description.h"
#include "trace/model/timeline.h"

namespace chakrad {

// A delay of `ns` >= 0 nanoseconds: astra, truncated to a whole one; physical, to the nearest
// picosecond. At most kMaxDelayPs (which no run survives).
inline int64_t RoundDelayPs(Semantics semantics, double ns) {
  constexpr double kMaxNs = static_cast<double>(kMaxDelayPs / kPsPerNs);
  if (!(ns < kMaxNs)) return kMaxDelayPs;
  if (semantics == Semantics::kAstra) return static_cast<int64_t>(ns) * kPsPerNs;
  return std::llround(ns * static_cast<double>(kPsPerNs));
}

// A whole number of nanoseconds, at most kMaxDelayPs.
inline int64_t NsToPs(int64_t ns) {
  return ns < kMaxDelayPs / kPsPerNs ? ns * kPsPerNs : kMaxDelayPs;
}

}  // namespace chakrad

#endif  // CHAKRAD_SIM_ENGINE_SEMANTICS_H_
