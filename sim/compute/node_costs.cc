#include "sim/compute/node_costs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "sim/compute/carriers.h"
#include "sim/compute/operator_class.h"
#include "sim/compute/operator_shapes.h"
#include "sim/compute/operator_table.h"
#include "sim/engine/semantics.h"
#include "trace/operators/operator_arguments.h"

namespace chakrad {
namespace {

constexpr double kNsPerSec = 1e9;

int64_t FloorPs(Semantics semantics) { return semantics == Semantics::kAstra ? kPsPerNs : 0; }

// As ASTRA-sim computes it, operation by operation, so that every bit is the same.
double AstraRooflineNs(const ComputeModel& model, double num_ops, double tensor_bytes) {
  const double ops_per_byte = num_ops / tensor_bytes;
  const double ops_per_sec = std::min(model.memory_bytes_per_ns * kNsPerSec * ops_per_byte,
                                      model.peak_flops_per_ns * kNsPerSec);
  return ops_per_sec > 0 ? num_ops / ops_per_sec * kNsPerSec : 0;
}

absl::Status CheckFactor(absl::string_view field, double factor) {
  if (std::isfinite(factor) && factor > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", factor, " is not finite and above 0"));
}

absl::StatusOr<std::vector<double>> ScaleByClass(const ComputeModel& model) {
  std::vector<double> scale(kOperatorClassesCount, 1);
  for (const auto& [name, factor] : model.scale_by_class) {
    const std::optional<OperatorClass> op_class = FindOperatorClass(name);
    if (!op_class.has_value()) {
      std::string known;
      for (int i = 0; i < kOperatorClassesCount; ++i) {
        absl::StrAppend(&known, i > 0 ? ", " : "",
                        OperatorClassName(static_cast<OperatorClass>(i)));
      }
      return absl::InvalidArgumentError(absl::StrCat(
          "scale_by_class: \"", name, "\" is no class of operators; there are ", known));
    }
    RETURN_IF_ERROR(CheckFactor(absl::StrCat("scale_by_class.", name), factor));
    scale[static_cast<int>(*op_class)] = factor;
  }
  return scale;
}

class Coster {
 public:
  Coster(const SystemDescription& system, const RankTrace& trace, std::vector<double> class_scale)
      : system_(system),
        model_(system.compute),
        trace_(trace),
        class_scale_(std::move(class_scale)),
        host_computes_(!trace.HasDeviceCompute()) {}

  ComputeCosts Run() {
    costs_.takes_ps.assign(trace_.size(), 0);
    const bool shapes = model_.basis == ComputeBasis::kOperatorShapes;
    if (shapes || !model_.scale_by_class.empty()) carriers_ = FindCarriers(trace_);
    if (shapes) CountOperators();
    for (uint32_t node = 0; node < trace_.size(); ++node) {
      if (trace_.type[node] == NodeType::kComp) Cost(node);
    }
    return std::move(costs_);
  }

 private:
  // What an operator that carries work takes, and how its device operations share it.
  struct Carried {
    double ns = -1;  // -1: not known.
    double recorded_ns = 0;
    int64_t parts_count = 0;
    bool all_recorded = true;  // Every part has a recorded time above 0.
  };

  // Whether the rank computes on this node (and does not merely prepare work for a device).
  bool Computes(uint32_t node) const { return host_computes_ || !trace_.is_host(node); }

  void CountOperators() {
    carried_of_.assign(trace_.size(), kNone);
    for (uint32_t node = 0; node < trace_.size(); ++node) {
      if (trace_.type[node] != NodeType::kComp || !Computes(node)) continue;
      const uint32_t carrier = carriers_.carrier[node];
      if (carrier == kNone) continue;
      uint32_t& index = carried_of_[carrier];
      if (index == kNone) {
        index = static_cast<uint32_t>(carried_.size());
        carried_.push_back({.ns = OperatorNs(carrier)});
      }
      Carried& carried = carried_[index];
      const int64_t work_ns = trace_.work_ns[node];
      ++carried.parts_count;
      carried.all_recorded = carried.all_recorded && work_ns > 0;
      carried.recorded_ns += static_cast<double>(std::max<int64_t>(work_ns, 0));
    }
  }

  double OperatorNs(uint32_t node) const {
    const OperatorInfo* info = FindOperator(trace_.NameOf(node));
    const std::optional<OperatorArguments> arguments =
        ReadArguments(TextsOfCold(trace_.ColdOf(node)));
    if (info == nullptr || !arguments.has_value()) return -1;
    const std::optional<OperatorWork> work = CountWork(*info, *arguments);
    return work.has_value() ? WorkNs(model_, *work) : -1;
  }

  double ScaleOf(uint32_t node) const {
    if (carriers_.op_class.empty() || !Computes(node)) return 1;
    return class_scale_[static_cast<int>(carriers_.op_class[node])];
  }

  void Cost(uint32_t node) {
    if (CostByShapes(node)) return;
    bool wants_size = model_.basis == ComputeBasis::kRoofline && !trace_.is_host(node);
    if (model_.basis == ComputeBasis::kOperatorShapes && Computes(node)) {
      // Of a host's operations most are no work to speak of: those of a known kind count.
      wants_size = !trace_.is_host(node) || carriers_.carrier[node] == node;
    }
    if (CostByRoofline(node)) return;
    if (wants_size) ++costs_.without_size_count;
    CostAsRecorded(node);
  }

  bool CostByShapes(uint32_t node) {
    if (carried_.empty() || !Computes(node)) return false;
    const uint32_t carrier = carriers_.carrier[node];
    if (carrier == kNone) return false;
    const Carried& carried = carried_[carried_of_[carrier]];
    if (carried.ns < 0) return false;
    if (trace_.is_host(node)) {
      const bool inside = carrier != node;
      Charge(node, inside ? 0 : carried.ns * ScaleOf(node));
      ++(inside ? costs_.inside_count : costs_.shapes_count);
      return true;
    }
    const double share = carried.all_recorded
                             ? static_cast<double>(trace_.work_ns[node]) / carried.recorded_ns
                             : 1 / static_cast<double>(carried.parts_count);
    Charge(node, carried.ns * share * ScaleOf(node));
    ++costs_.shapes_count;
    return true;
  }

  bool CostByRoofline(uint32_t node) {
    const WorkSize* size = trace_.WorkSizeOf(node);
    if (model_.basis == ComputeBasis::kRecorded || trace_.is_host(node) || size == nullptr) {
      return false;
    }
    const auto num_ops = static_cast<double>(std::max<int64_t>(size->num_ops, 0));
    const auto bytes = static_cast<double>(std::max<int64_t>(size->tensor_bytes, 0));
    if (system_.semantics == Semantics::kAstra) {
      if (bytes <= 0) {
        costs_.takes_ps[node] = ComputeCosts::kSkipped;
        ++costs_.skipped_count;
        return true;
      }
      Charge(node, AstraRooflineNs(model_, num_ops, bytes) * ScaleOf(node));
    } else {
      if (num_ops <= 0 && bytes <= 0) return false;
      Charge(node, WorkNs(model_, {num_ops, bytes}) * ScaleOf(node));
    }
    ++costs_.roofline_count;
    return true;
  }

  void CostAsRecorded(uint32_t node) {
    const int64_t work_ns = trace_.work_ns[node];
    ++(work_ns < 0 ? costs_.unknown_count : costs_.recorded_count);
    const double scale = Computes(node) ? model_.recorded_scale * ScaleOf(node) : 1;
    if (scale == 1) return ChargePs(node, NsToPs(std::max<int64_t>(work_ns, 0)));
    Charge(node, static_cast<double>(std::max<int64_t>(work_ns, 0)) * scale);
  }

  void Charge(uint32_t node, double ns) { ChargePs(node, RoundDelayPs(system_.semantics, ns)); }
  void ChargePs(uint32_t node, int64_t ps) {
    costs_.charged_any_time = costs_.charged_any_time || ps > 0;
    costs_.takes_ps[node] = std::max(ps, FloorPs(system_.semantics));
  }

  const SystemDescription& system_;
  const ComputeModel& model_;
  const RankTrace& trace_;
  const std::vector<double> class_scale_;  // By OperatorClass.
  const bool host_computes_;
  Carriers carriers_;  // When shapes or classes are asked for.
  std::vector<Carried> carried_;
  std::vector<uint32_t> carried_of_;  // By node that carries: index into carried_.
  ComputeCosts costs_;
};

}  // namespace

absl::StatusOr<ComputeCosts> CostComputeNodes(const SystemDescription& system,
                                              const RankTrace& trace) {
  RETURN_IF_ERROR(CheckFactor("recorded_scale", system.compute.recorded_scale));
  ASSIGN_OR_RETURN(std::vector<double> scale, ScaleByClass(system.compute));
  return Coster(system, trace, std::move(scale)).Run();
}

int64_t RecordedCommPs(Semantics semantics, const RankTrace& trace, uint32_t node) {
  return std::max(NsToPs(std::max<int64_t>(trace.work_ns[node], 0)), FloorPs(semantics));
}

}  // namespace chakrad
