#include "sim/workload/node_plan.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

constexpr size_t kMaxQueues = 30'000;  // Slots are 16-bit numbers, two a queue.

constexpr uint16_t kHostSlot = 0, kDeviceSlot = 1, kCommSlot = 2;

bool NeedsSlot(NodeType type) {
  return type == NodeType::kComp || type == NodeType::kCommSend || type == NodeType::kCommColl;
}

void AssignSlots(IssueRule rule, const RankTrace& trace, NodePlan* plan) {
  std::map<std::pair<uint16_t, bool>, uint16_t> slot_of_queue;  // (queue, communication).
  for (uint32_t node = 0; node < trace.size(); ++node) {
    const NodeType type = trace.type[node];
    if (!NeedsSlot(type)) continue;
    const bool is_comm = IsComm(type);
    if (rule == IssueRule::kOneOfEach) {
      plan->slot[node] = is_comm ? kCommSlot : trace.is_host(node) ? kHostSlot : kDeviceSlot;
      continue;
    }
    const auto [it, added] = slot_of_queue.try_emplace({trace.queue[node], is_comm},
                                                       static_cast<uint16_t>(slot_of_queue.size()));
    plan->slot[node] = it->second;
    plan->comm_slots_count += added && is_comm;
  }
  plan->slots_count = static_cast<int32_t>(slot_of_queue.size());
  if (rule == IssueRule::kOneOfEach) plan->slots_count = 3, plan->comm_slots_count = 1;
}

}  // namespace

absl::StatusOr<NodePlan> BuildNodePlan(const SystemDescription& system, const RankTrace& trace) {
  if (system.issue_rule == IssueRule::kRecordedQueues && trace.queues.size() > kMaxQueues) {
    return absl::ResourceExhaustedError(absl::StrCat("rank ", trace.rank, ": ", trace.queues.size(),
                                                     " queues are over the limit of ", kMaxQueues));
  }
  NodePlan plan;
  plan.slot.assign(trace.size(), NodePlan::kNoSlot);
  plan.takes_ps.assign(trace.size(), 0);
  plan.has_device_compute = trace.HasDeviceCompute();
  AssignSlots(system.issue_rule, trace, &plan);
  for (uint32_t node = 0; node < trace.size(); ++node) {
    const NodeType type = trace.type[node];
    if (type == NodeType::kCommSend || type == NodeType::kCommRecv) plan.has_point_to_point = true;
    if (IsMemory(type)) plan.charges_time = plan.charges_time || trace.work_ns[node] > 0;
    if (type != NodeType::kComp) continue;
    const ComputeCost cost = CostOfCompute(system, trace, node);
    plan.takes_ps[node] = cost.takes_ps;
    plan.charges_time = plan.charges_time || cost.charged_ps > 0;
    if (cost.basis == ComputeCost::Basis::kSkipped) {
      ++plan.roofline_skipped;
      plan.slot[node] = NodePlan::kNoSlot;
    }
    if (cost.basis == ComputeCost::Basis::kUnknown) ++plan.unknown_durations;
    plan.roofline_without_size +=
        cost.basis != ComputeCost::Basis::kRoofline && cost.basis != ComputeCost::Basis::kSkipped &&
        system.compute.basis == ComputeBasis::kRoofline && !trace.is_host(node);
  }
  return plan;
}

}  // namespace chakrad
