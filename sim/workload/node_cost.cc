#include "sim/workload/node_cost.h"

#include <algorithm>

#include "sim/engine/semantics.h"

namespace chakrad {
namespace {

constexpr double kNsPerSec = 1e9;

}  // namespace

ComputeCost CostOfCompute(const SystemDescription& system, const RankTrace& trace, uint32_t node) {
  ComputeCost cost;
  const WorkSize* size = trace.WorkSizeOf(node);
  if (system.compute.basis == ComputeBasis::kRoofline && !trace.is_host(node) && size != nullptr) {
    if (size->tensor_bytes <= 0) {
      cost.basis = ComputeCost::Basis::kSkipped;
      return cost;
    }
    cost.basis = ComputeCost::Basis::kRoofline;
    const double num_ops = static_cast<double>(std::max<int64_t>(size->num_ops, 0));
    const double ops_per_byte = num_ops / static_cast<double>(size->tensor_bytes);
    const double ops_per_sec =
        std::min(system.compute.memory_bytes_per_ns * kNsPerSec * ops_per_byte,
                 system.compute.peak_flops_per_ns * kNsPerSec);
    if (ops_per_sec > 0)
      cost.charged_ps = RoundDelayPs(system.semantics, num_ops / ops_per_sec * kNsPerSec);
  } else if (trace.work_ns[node] < 0) {
    cost.basis = ComputeCost::Basis::kUnknown;
  } else {
    cost.charged_ps = NsToPs(trace.work_ns[node]);
  }
  cost.takes_ps = std::max(cost.charged_ps, kPsPerNs);
  return cost;
}

int64_t RecordedCommPs(const RankTrace& trace, uint32_t node) {
  return std::max(NsToPs(std::max<int64_t>(trace.work_ns[node], 0)), kPsPerNs);
}

}  // namespace chakrad
