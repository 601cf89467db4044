#include "sim/compute/node_costs.h"

#include <algorithm>

#include "sim/engine/semantics.h"

namespace chakrad {
namespace {

constexpr double kNsPerSec = 1e9;

// What one node is charged, before the floor of a nanosecond.
struct Charge {
  enum class Basis : uint8_t { kRecorded, kUnknown, kRoofline, kSkipped };
  Basis basis = Basis::kRecorded;
  int64_t ps = 0;
};

// As ASTRA-sim computes it, operation by operation, so that every bit is the same.
double AstraRooflineNs(const ComputeModel& model, double num_ops, double tensor_bytes) {
  const double ops_per_byte = num_ops / tensor_bytes;
  const double ops_per_sec = std::min(model.memory_bytes_per_ns * kNsPerSec * ops_per_byte,
                                      model.peak_flops_per_ns * kNsPerSec);
  return ops_per_sec > 0 ? num_ops / ops_per_sec * kNsPerSec : 0;
}

Charge ChargeOf(const SystemDescription& system, const RankTrace& trace, uint32_t node) {
  const WorkSize* size = trace.WorkSizeOf(node);
  if (system.compute.basis != ComputeBasis::kRecorded && !trace.is_host(node) && size != nullptr) {
    const auto num_ops = static_cast<double>(std::max<int64_t>(size->num_ops, 0));
    const auto bytes = static_cast<double>(std::max<int64_t>(size->tensor_bytes, 0));
    const ComputeModel& model = system.compute;
    if (system.semantics == Semantics::kAstra) {
      if (bytes <= 0) return {Charge::Basis::kSkipped, 0};
      return {Charge::Basis::kRoofline,
              RoundDelayPs(system.semantics, AstraRooflineNs(model, num_ops, bytes))};
    }
    if (num_ops > 0 || bytes > 0) {
      const double ns =
          std::max(num_ops / model.peak_flops_per_ns, bytes / model.memory_bytes_per_ns);
      return {Charge::Basis::kRoofline, RoundDelayPs(system.semantics, ns)};
    }
  }
  if (trace.work_ns[node] < 0) return {Charge::Basis::kUnknown, 0};
  return {Charge::Basis::kRecorded, NsToPs(trace.work_ns[node])};
}

int64_t FloorPs(Semantics semantics) { return semantics == Semantics::kAstra ? kPsPerNs : 0; }

}  // namespace

absl::StatusOr<ComputeCosts> CostComputeNodes(const SystemDescription& system,
                                              const RankTrace& trace) {
  ComputeCosts costs;
  costs.takes_ps.assign(trace.size(), 0);
  for (uint32_t node = 0; node < trace.size(); ++node) {
    if (trace.type[node] != NodeType::kComp) continue;
    const Charge charge = ChargeOf(system, trace, node);
    costs.charged_any_time = costs.charged_any_time || charge.ps > 0;
    costs.takes_ps[node] = std::max(charge.ps, FloorPs(system.semantics));
    switch (charge.basis) {
      case Charge::Basis::kRecorded:
        ++costs.recorded_count;
        break;
      case Charge::Basis::kUnknown:
        ++costs.unknown_count;
        break;
      case Charge::Basis::kRoofline:
        ++costs.roofline_count;
        continue;
      case Charge::Basis::kSkipped:
        ++costs.skipped_count;
        costs.takes_ps[node] = ComputeCosts::kSkipped;
        continue;
    }
    if (system.compute.basis != ComputeBasis::kRecorded && !trace.is_host(node)) {
      ++costs.without_size_count;
    }
  }
  return costs;
}

int64_t RecordedCommPs(Semantics semantics, const RankTrace& trace, uint32_t node) {
  return std::max(NsToPs(std::max<int64_t>(trace.work_ns[node], 0)), FloorPs(semantics));
}

}  // namespace chakrad
