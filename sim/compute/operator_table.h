// The PyTorch operators that are known: what class each is of, and by which formula
// (docs/compute_model.md) its FLOPs and bytes are counted.
#ifndef CHAKRAD_SIM_COMPUTE_OPERATOR_TABLE_H_
#define CHAKRAD_SIM_COMPUTE_OPERATOR_TABLE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "sim/compute/operator_class.h"

namespace chakrad {

// `flops` and `argument` are OperatorInfo's; arguments count from 0.
enum class Formula : uint8_t {
  kNone,                 // Of a known class, but not counted.
  kMatmul,               // Factors: `argument` and the next; one before them is added.
  kLinear,               // Input, weight [out, in], bias.
  kConvolution,          // Input, weight; `argument`: see kAlwaysTransposed.
  kConvolutionBackward,  // Gradient, input, weight; outputs: gradients of input and weight.
  kAttention,            // Query, key, value; `argument`: is_causal.
  kAttentionBackward,    // Gradient, query, key, value; `argument`: is_causal.
  kEmbedding,            // Table, indices.
  kEmbeddingBag,         // Table, indices.
  kEmbeddingBackward,    // Gradient, indices; output: gradient of the table.
  kGather,               // Reads only what it picks.
  kScatter,              // `argument`: the indices; the next: what is added there.
  kOutputElements,       // `flops` for each element of the first output.
  kInputElements,        // `flops` for each element of the first input.
  kListElements,         // `flops` for each element of the first list; writes as much.
  kFusedOptimiser,       // Lists of parameters, gradients and states: the gradients are only read.
  kCopy,                 // The first input is written, the others are read.
  kConcatenate,          // Inputs are read, outputs written.
  kFill,                 // The first input is written.
};

struct OperatorInfo {
  // Of `argument`: no argument; of a convolution: never transposed.
  static constexpr int8_t kNoArgument = -1;
  static constexpr int8_t kAlwaysTransposed = -2;

  absl::string_view name;  // Without "aten::".
  OperatorClass op_class;
  Formula formula;
  uint8_t flops = 0;
  int8_t argument = kNoArgument;
  // Calls other operators that do the work (aten::linear calls aten::addmm): it stands for
  // them only where none of them is known.
  bool wrapper = false;
};

// Of "aten::addmm"; "aten::add_" is found as "add" where the table has no "add_". Null when it
// is not known. O(log operators).
const OperatorInfo* FindOperator(absl::string_view name);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COMPUTE_OPERATOR_TABLE_H_
