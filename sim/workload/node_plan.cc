#include "sim/workload/node_plan.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

constexpr size_t kMaxQueues = 30'000;  // Slots are 16-bit numbers, two a queue.

constexpr uint16_t kHostSlot = 0, kDeviceSlot = 1, kCommSlot = 2;

// Accesses to a described remote memory are communication, as in ASTRA-sim; recorded copies run
// beside it.
bool NeedsSlot(const SystemDescription& system, NodeType type) {
  if (IsMemory(type)) return system.remote_memory.kind != RemoteMemory::Kind::kNone;
  return type == NodeType::kComp || type == NodeType::kCommSend || type == NodeType::kCommColl;
}

void AssignSlots(const SystemDescription& system, const RankTrace& trace, NodePlan* plan) {
  std::map<std::pair<uint16_t, bool>, uint16_t> slot_of_queue;  // (queue, communication).
  for (uint32_t node = 0; node < trace.size(); ++node) {
    const NodeType type = trace.type[node];
    if (!NeedsSlot(system, type)) continue;
    const bool is_comm = type != NodeType::kComp;
    if (system.issue_rule == IssueRule::kOneOfEach) {
      plan->slot[node] = is_comm ? kCommSlot : trace.is_host(node) ? kHostSlot : kDeviceSlot;
      continue;
    }
    const auto [it, added] = slot_of_queue.try_emplace({trace.queue[node], is_comm},
                                                       static_cast<uint16_t>(slot_of_queue.size()));
    plan->slot[node] = it->second;
    plan->comm_slots_count += added && is_comm;
  }
  plan->slots_count = static_cast<int32_t>(slot_of_queue.size());
  if (system.issue_rule == IssueRule::kOneOfEach) plan->slots_count = 3, plan->comm_slots_count = 1;
}

}  // namespace

absl::StatusOr<NodePlan> BuildNodePlan(const SystemDescription& system, const RankTrace& trace) {
  if (system.issue_rule == IssueRule::kRecordedQueues && trace.queues.size() > kMaxQueues) {
    return absl::ResourceExhaustedError(absl::StrCat("rank ", trace.rank, ": ", trace.queues.size(),
                                                     " queues are over the limit of ", kMaxQueues));
  }
  NodePlan plan;
  ASSIGN_OR_RETURN(plan.costs, CostComputeNodes(system, trace));
  plan.slot.assign(trace.size(), NodePlan::kNoSlot);
  plan.has_device_compute = trace.HasDeviceCompute();
  plan.charges_time = plan.costs.charged_any_time;
  AssignSlots(system, trace, &plan);
  for (uint32_t node = 0; node < trace.size(); ++node) {
    const NodeType type = trace.type[node];
    if (type == NodeType::kCommSend || type == NodeType::kCommRecv) plan.has_point_to_point = true;
    if (IsMemory(type)) {
      plan.has_memory = true;
      plan.charges_time = plan.charges_time || trace.work_ns[node] > 0;
    }
    if (plan.costs.takes_ps[node] == ComputeCosts::kSkipped) {
      plan.slot[node] = NodePlan::kNoSlot;
      plan.costs.takes_ps[node] = 0;
    }
  }
  return plan;
}

}  // namespace chakrad
