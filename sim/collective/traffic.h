// What a collective puts on each dimension of the network, from its plan alone.
#ifndef CHAKRAD_SIM_COLLECTIVE_TRAFFIC_H_
#define CHAKRAD_SIM_COLLECTIVE_TRAFFIC_H_

#include <cstdint>
#include <vector>

#include "sim/collective/collective_plan.h"
#include "sim/collective/group_index.h"
#include "sim/network/path_model.h"

namespace chakrad {

struct DimTraffic {
  int64_t messages_count = 0;  // Stops at INT64_MAX.
  double bytes = 0;
  friend bool operator==(const DimTraffic&, const DimTraffic&) = default;
};

// By dimension, what all members send together. A message that changes its place along several
// dimensions counts in each of them (astra: in the lowest, the only one that it pays for). What
// runs along one dimension is O(1) a phase; else O(members * peers). Ring, direct,
// halving-doubling and double binary tree; scripts count nothing.
std::vector<DimTraffic> TrafficOf(const SystemDescription& system, const Topology& topology,
                                  const CollectivePlan& plan, const GroupIndex& group);

// Whether the phase runs along one dimension of the whole system: *dim.
bool RunsAlongOneDim(const SystemDescription& system, const Topology& topology,
                     const CollectivePhase& phase, const GroupIndex& group, int* dim);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_TRAFFIC_H_
