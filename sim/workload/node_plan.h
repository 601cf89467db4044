// What a rank trace's nodes cost and occupy on a system: everything that is the same for all
// ranks that run the trace, computed once.
#ifndef CHAKRAD_SIM_WORKLOAD_NODE_PLAN_H_
#define CHAKRAD_SIM_WORKLOAD_NODE_PLAN_H_

#include <cstdint>
#include <vector>

#include "common/status.h"
#include "sim/compute/node_costs.h"
#include "sim/system/system_description.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// Immutable once built. 10 bytes a node.
struct NodePlan {
  // The issue rule. A slot runs one node at a time; nodes that wait for the same slot take it in
  // ascending order of id. kNoSlot: the node needs none (receives, memory, nodes without work).
  //   kOneOfEach       slot 0 host compute, 1 device compute, 2 communication and remote memory
  //   kRecordedQueues  a slot for each recorded queue's compute, one for its communication
  static constexpr uint16_t kNoSlot = UINT16_MAX;
  std::vector<uint16_t> slot;
  int32_t slots_count = 0;
  int32_t comm_slots_count = 0;
  ComputeCosts costs;  // Skipped nodes take 0 here, and no slot.
  bool has_device_compute = false;
  bool has_point_to_point = false;
  bool has_memory = false;
  bool charges_time = false;  // Any compute, memory or recorded communication takes time.
};

// O(nodes). RESOURCE_EXHAUSTED when the trace has more than 30,000 queues; errors of
// CostComputeNodes.
absl::StatusOr<NodePlan> BuildNodePlan(const SystemDescription& system, const RankTrace& trace);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_NODE_PLAN_H_
