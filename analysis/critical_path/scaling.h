// The classes of operations whose time a what-if changes.
#ifndef CHAKRAD_ANALYSIS_CRITICAL_PATH_SCALING_H_
#define CHAKRAD_ANALYSIS_CRITICAL_PATH_SCALING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analysis/critical_path/causal_graph.h"
#include "analysis/critical_path/replay.h"

namespace chakrad {

// "compute", "comm", "memory", "host": by kind of interval. "gaps": what lies between a cause and
// its effect. "comm:ALL_REDUCE", ..., "comm:SEND", "comm:RECV": communication of a type.
// "name:REGEX": operations with a match of the RE2 pattern in their names. "rank:3": all of a
// rank. "group:NAME": communication of a process group.
struct Scaling {
  std::string node_class;
  double factor = 1;
};

// So many at once, and so long a pattern: what a person would write, and cheap to match.
inline constexpr size_t kMaxScalings = 64;
inline constexpr size_t kMaxScalingPatternBytes = 1'000;

// A node in several classes gets the product of their factors. `notices` gets a line for each
// class without a node. INVALID_ARGUMENT: an unknown class, rank, type or group, a pattern that
// is none, a factor that is not finite or below 0, a product of them that is not finite, too
// many. O(scalings * nodes + names).
absl::StatusOr<TimeFactors> FactorsOf(const CausalGraph& graph,
                                      const std::vector<Scaling>& scalings,
                                      std::vector<std::string>* notices);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_CRITICAL_PATH_SCALING_H_
