#include "sim/compute/operator_class.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "sim/compute/operator_table.h"

namespace chakrad {
namespace {

constexpr absl::string_view kNames[kOperatorClassesCount] = {
    "matmul",        "convolution", "attention",   "embedding", "elementwise",
    "normalisation", "optimiser",   "memory_copy", "other"};

struct KernelPart {
  absl::string_view part;  // In lower case.
  OperatorClass op_class;
};

// The first that a kernel's name holds decides: a convolution may say gemm as well.
constexpr KernelPart kKernelParts[] = {
    {"flash", OperatorClass::kAttention},
    {"fmha", OperatorClass::kAttention},
    {"attention", OperatorClass::kAttention},
    {"multi_tensor_apply", OperatorClass::kOptimiser},
    {"multitensorapply", OperatorClass::kOptimiser},
    {"adam", OperatorClass::kOptimiser},
    {"layer_norm", OperatorClass::kNormalisation},
    {"layernorm", OperatorClass::kNormalisation},
    {"batch_norm", OperatorClass::kNormalisation},
    {"batchnorm", OperatorClass::kNormalisation},
    {"bn_fw", OperatorClass::kNormalisation},
    {"bn_bw", OperatorClass::kNormalisation},
    {"rmsnorm", OperatorClass::kNormalisation},
    {"rms_norm", OperatorClass::kNormalisation},
    {"groupnorm", OperatorClass::kNormalisation},
    {"softmax", OperatorClass::kNormalisation},
    {"embedding", OperatorClass::kEmbedding},
    {"indexselect", OperatorClass::kEmbedding},
    {"index_elementwise", OperatorClass::kEmbedding},
    {"gather_kernel", OperatorClass::kEmbedding},
    {"scatter_gather", OperatorClass::kEmbedding},
    {"conv", OperatorClass::kConvolution},
    {"winograd", OperatorClass::kConvolution},
    {"fprop", OperatorClass::kConvolution},
    {"dgrad", OperatorClass::kConvolution},
    {"wgrad", OperatorClass::kConvolution},
    {"fbgemm", OperatorClass::kOther},  // A library whose kernels are no products.
    {"gemm", OperatorClass::kMatmul},
    {"gemv", OperatorClass::kMatmul},
    {"cijk_", OperatorClass::kMatmul},  // AMD's Tensile.
    {"matmul", OperatorClass::kMatmul},
    {"splitk", OperatorClass::kMatmul},
    {"cublas", OperatorClass::kMatmul},
    {"memcpy", OperatorClass::kMemoryCopy},
    {"memset", OperatorClass::kMemoryCopy},
    {"copy", OperatorClass::kMemoryCopy},
    {"catarray", OperatorClass::kMemoryCopy},
    {"fillfunctor", OperatorClass::kMemoryCopy},
    {"elementwise", OperatorClass::kElementwise},
    {"reduce", OperatorClass::kElementwise},
    {"triton_poi", OperatorClass::kElementwise},
    {"triton_red", OperatorClass::kElementwise},
    {"triton_per", OperatorClass::kElementwise},
};

}  // namespace

absl::string_view OperatorClassName(OperatorClass op_class) {
  return kNames[static_cast<int>(op_class)];
}

std::optional<OperatorClass> FindOperatorClass(absl::string_view name) {
  for (int i = 0; i < kOperatorClassesCount; ++i) {
    if (kNames[i] == name) return static_cast<OperatorClass>(i);
  }
  return std::nullopt;
}

OperatorClass ClassOfOperator(absl::string_view name) {
  const OperatorInfo* info = FindOperator(name);
  return info == nullptr ? OperatorClass::kOther : info->op_class;
}

OperatorClass ClassOfKernel(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const KernelPart& entry : kKernelParts) {
    if (absl::StrContains(lower, entry.part)) return entry.op_class;
  }
  return OperatorClass::kOther;
}

}  // namespace chakrad
