// What kind of work an operator does, told by its name.
#ifndef CHAKRAD_SIM_COMPUTE_OPERATOR_CLASS_H_
#define CHAKRAD_SIM_COMPUTE_OPERATOR_CLASS_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace chakrad {

enum class OperatorClass : uint8_t {
  kMatmul = 0,
  kConvolution = 1,
  kAttention = 2,
  kEmbedding = 3,      // Look-ups by index, gathers and their backward operators.
  kElementwise = 4,    // Element by element, and reductions.
  kNormalisation = 5,  // Layer, batch, group and RMS norm; softmax.
  kOptimiser = 6,      // Fused and for-each updates; whatever runs in an Optimizer.step.
  kMemoryCopy = 7,     // Copies, fills, concatenations.
  kOther = 8,
};
inline constexpr int kOperatorClassesCount = 9;

// "matmul", "convolution", "attention", "embedding", "elementwise", "normalisation",
// "optimiser", "memory_copy", "other": as in ComputeModel::scale_by_class.
absl::string_view OperatorClassName(OperatorClass op_class);
std::optional<OperatorClass> FindOperatorClass(absl::string_view name);

// Of a PyTorch operator ("aten::addmm"). kOther for one that is not known. O(log operators).
OperatorClass ClassOfOperator(absl::string_view name);
// Of a device operation by the name of its kernel ("ampere_sgemm_128x64_tn"), for kernels whose
// host operator is not known or says nothing. A guess by well-known parts of names; kOther else.
OperatorClass ClassOfKernel(absl::string_view name);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COMPUTE_OPERATOR_CLASS_H_
