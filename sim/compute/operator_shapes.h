// FLOPs and bytes of one operator from the shapes of its tensors. Each formula, its source and a
// worked example: docs/compute_model.md.
#ifndef CHAKRAD_SIM_COMPUTE_OPERATOR_SHAPES_H_
#define CHAKRAD_SIM_COMPUTE_OPERATOR_SHAPES_H_

#include <optional>

namespace chakrad {

struct OperatorArguments;  // trace/operators/operator_arguments.h
struct OperatorInfo;       // sim/compute/operator_table.h
struct ComputeModel;       // sim/system/system_description.h

struct OperatorWork {
  double flops = 0;  // A multiplication and an addition are two.
  // Read from and written to device memory, each tensor once: what no cache can save.
  double bytes = 0;
};

// nullopt when the operator is not counted (Formula::kNone), or the arguments are not those that
// its formula needs. O(arguments).
std::optional<OperatorWork> CountWork(const OperatorInfo& info, const OperatorArguments& arguments);

// max(flops / peak, bytes / memory bandwidth), in ns.
double WorkNs(const ComputeModel& model, const OperatorWork& work);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COMPUTE_OPERATOR_SHAPES_H_
