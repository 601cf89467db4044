// The cost semantics in use, and the one place that rounds time.
//
// A semantics is a policy at three named places:
//   rounding    RoundDelayPs, below
//   port        the Network (sim/network/network.h): what messages of one NPU share
//   issue rule  sim/workload/issue_rule.h: what a node occupies, how much runs at once
// "astra": each delay is cut to a whole nanosecond; messages share nothing; one host
// operation, one device operation and one communication a rank.
#ifndef CHAKRAD_SIM_ENGINE_SEMANTICS_H_
#define CHAKRAD_SIM_ENGINE_SEMANTICS_H_

#include <cstdint>

#include "sim/limits.h"
#include "trace/model/timeline.h"

namespace chakrad {

inline constexpr char kAstraSemantics[] = "astra";

// A delay of `ns` >= 0 nanoseconds, truncated to a whole one, at most kMaxDelayPs (which
// no run survives).
inline int64_t RoundDelayPs(double ns) {
  constexpr double kMaxNs = static_cast<double>(kMaxDelayPs / kPsPerNs);
  if (!(ns < kMaxNs)) return kMaxDelayPs;
  return static_cast<int64_t>(ns) * kPsPerNs;
}

// A whole number of nanoseconds, at most kMaxDelayPs.
inline int64_t NsToPs(int64_t ns) {
  return ns < kMaxDelayPs / kPsPerNs ? ns * kPsPerNs : kMaxDelayPs;
}

}  // namespace chakrad

#endif  // CHAKRAD_SIM_ENGINE_SEMANTICS_H_
