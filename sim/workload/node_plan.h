// What a rank trace's nodes cost and occupy on a system: everything that is the same for all
// ranks that run the trace, computed once.
#ifndef CHAKRAD_SIM_WORKLOAD_NODE_PLAN_H_
#define CHAKRAD_SIM_WORKLOAD_NODE_PLAN_H_

#include <cstdint>
#include <vector>

#include "common/status.h"
#include "sim/system/system_description.h"
#include "sim/workload/node_cost.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// Immutable once built. 10 bytes a node.
struct NodePlan {
  // The issue rule. A slot runs one node at a time; nodes that wait for the same slot take it in
  // ascending order of id. kNoSlot: the node needs none (receives, memory, nodes without work).
  //   kOneOfEach       slot 0 host compute, 1 device compute, 2 communication
  //   kRecordedQueues  a slot for each recorded queue's compute, one for its communication
  static constexpr uint16_t kNoSlot = UINT16_MAX;
  std::vector<uint16_t> slot;
  int32_t slots_count = 0;
  int32_t comm_slots_count = 0;
  // Compute nodes: what they take, before an NPU's own scale. Other nodes: 0.
  std::vector<int64_t> takes_ps;
  bool has_device_compute = false;
  bool has_point_to_point = false;
  // For notices: compute nodes by how they were charged.
  int64_t unknown_durations = 0;
  int64_t roofline_skipped = 0;
  int64_t roofline_without_size = 0;
  bool charges_time = false;  // Any compute, memory or recorded communication takes time.
};

// O(nodes). RESOURCE_EXHAUSTED when the trace has more than 30,000 queues.
absl::StatusOr<NodePlan> BuildNodePlan(const SystemDescription& system, const RankTrace& trace);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_NODE_PLAN_H_
