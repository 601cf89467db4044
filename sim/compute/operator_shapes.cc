#include "sim/compute/operator_shapes.h"

#include <algorithm>

#include "sim/compute/operator_table.h"
#include "sim/system/system_description.h"
#include "trace/operators/operator_arguments.h"

namespace chakrad {
namespace {

using Work = std::optional<OperatorWork>;

double SumBytes(const std::vector<Argument>& arguments) {
  double bytes = 0;
  for (const Argument& argument : arguments) bytes += argument.bytes();
  return bytes;
}

bool IsTrue(absl::string_view text) { return text == "true" || text == "True"; }

// Product of dims from `first` on.
double ProductFrom(const TensorShape& tensor, size_t first) {
  double product = 1;
  for (size_t i = first; i < tensor.dims.size(); ++i) {
    product *= static_cast<double>(tensor.dims[i]);
  }
  return product;
}

double Last(const TensorShape& tensor) {
  return tensor.dims.empty() ? 1 : static_cast<double>(tensor.dims.back());
}

// ---- Products of matrices.

// `inner` elements are multiplied and added up for each element of the output, which has
// `elements` unless the output was recorded.
OperatorWork Product(const OperatorArguments& arguments, double elements, double inner,
                     int32_t element_bytes) {
  double out_bytes = elements * element_bytes;
  if (const TensorShape* out = arguments.Output(0); out != nullptr) {
    elements = out->elements();
    out_bytes = out->bytes();
  }
  return {2 * elements * inner, out_bytes};
}

Work Matmul(const OperatorArguments& arguments, size_t first) {
  const TensorShape* a = arguments.Input(first);
  const TensorShape* b = arguments.Input(first + 1);
  if (a == nullptr || b == nullptr || a->dims.empty() || b->dims.empty()) return std::nullopt;
  const size_t b_dims = b->dims.size();
  const int64_t inner = a->dims.back();
  if (b->dims[b_dims < 2 ? 0 : b_dims - 2] != inner) return std::nullopt;
  const double columns = b_dims < 2 ? 1 : Last(*b);
  const double rows = inner == 0 ? 0 : a->elements() / static_cast<double>(inner);
  OperatorWork work =
      Product(arguments, rows * columns, static_cast<double>(inner), a->element_bytes);
  work.bytes += a->bytes() + b->bytes();
  if (first > 0) {
    const TensorShape* added = arguments.Input(first - 1);
    if (added != nullptr) work.bytes += added->bytes();
  }
  return work;
}

Work Linear(const OperatorArguments& arguments) {
  const TensorShape* input = arguments.Input(0);
  const TensorShape* weight = arguments.Input(1);
  if (input == nullptr || weight == nullptr || weight->dims.size() != 2 || input->dims.empty() ||
      weight->dims[1] != input->dims.back()) {
    return std::nullopt;
  }
  const double inner = Last(*input);
  const double rows = inner > 0 ? input->elements() / inner : 0;
  OperatorWork work =
      Product(arguments, rows * static_cast<double>(weight->dims[0]), inner, input->element_bytes);
  work.bytes += input->bytes() + weight->bytes();
  if (const TensorShape* bias = arguments.Input(2); bias != nullptr) work.bytes += bias->bytes();
  return work;
}

// ---- Convolutions.

bool IsTransposed(const OperatorInfo& info, const OperatorArguments& arguments) {
  if (info.argument == OperatorInfo::kAlwaysTransposed) return true;
  if (info.argument == OperatorInfo::kNoArgument) return false;
  return IsTrue(ListElement(arguments.in_values, static_cast<size_t>(info.argument)));
}

// FLOPs of one pass: each element of the side that is not spread out (the output; of a
// transposed convolution the input) meets all of weight but its first dimension.
double ConvolutionFlops(const TensorShape& side, const TensorShape& weight) {
  return 2 * side.elements() * ProductFrom(weight, 1);
}

Work Convolution(const OperatorInfo& info, const OperatorArguments& arguments) {
  const TensorShape* input = arguments.Input(0);
  const TensorShape* weight = arguments.Input(1);
  const TensorShape* output = arguments.Output(0);
  if (input == nullptr || weight == nullptr || output == nullptr || weight->dims.size() < 3) {
    return std::nullopt;
  }
  const TensorShape& side = IsTransposed(info, arguments) ? *input : *output;
  return OperatorWork{ConvolutionFlops(side, *weight),
                      SumBytes(arguments.inputs) + output->bytes()};
}

Work ConvolutionBackward(const OperatorInfo& info, const OperatorArguments& arguments) {
  const TensorShape* gradient = arguments.Input(0);
  const TensorShape* input = arguments.Input(1);
  const TensorShape* weight = arguments.Input(2);
  if (gradient == nullptr || input == nullptr || weight == nullptr || weight->dims.size() < 3) {
    return std::nullopt;
  }
  const TensorShape& side = IsTransposed(info, arguments) ? *input : *gradient;
  const int passes = (arguments.Output(0) != nullptr ? 1 : 0) +  // Gradient of the input.
                     (arguments.Output(1) != nullptr ? 1 : 0);   // And of the weight.
  // Each pass reads the gradient and one of the others.
  double bytes = SumBytes(arguments.outputs) + passes * gradient->bytes();
  if (arguments.Output(0) != nullptr) bytes += weight->bytes();
  if (arguments.Output(1) != nullptr) bytes += input->bytes();
  return OperatorWork{passes * ConvolutionFlops(side, *weight), bytes};
}

// ---- Attention.

Work Attention(const OperatorInfo& info, const OperatorArguments& arguments, size_t first,
               double query_key_products, double value_products) {
  const TensorShape* query = arguments.Input(first);
  const TensorShape* key = arguments.Input(first + 1);
  const TensorShape* value = arguments.Input(first + 2);
  if (query == nullptr || key == nullptr || value == nullptr || query->dims.size() < 3 ||
      query->dims.size() != key->dims.size() || key->dims.size() != value->dims.size()) {
    return std::nullopt;
  }
  const size_t length_dim = query->dims.size() - 2;
  const auto queries = static_cast<double>(query->dims[length_dim]);
  const auto keys = static_cast<double>(key->dims[length_dim]);
  double heads = 1;
  for (size_t i = 0; i < length_dim; ++i) heads *= static_cast<double>(query->dims[i]);
  const bool causal = info.argument >= 0 &&
                      IsTrue(ListElement(arguments.in_values, static_cast<size_t>(info.argument)));
  // Query i sees keys 0 .. i.
  const double pairs = causal && queries == keys ? queries * (queries + 1) / 2 : queries * keys;
  const double width = query_key_products * Last(*query) + value_products * Last(*value);
  return OperatorWork{2 * heads * pairs * width,
                      SumBytes(arguments.inputs) + SumBytes(arguments.outputs)};
}

// ---- Look-ups.

Work Embedding(const OperatorArguments& arguments, bool bag) {
  const TensorShape* table = arguments.Input(0);
  const TensorShape* indices = arguments.Input(1);
  if (table == nullptr || indices == nullptr || table->dims.size() != 2) return std::nullopt;
  const double picked = indices->elements() * static_cast<double>(table->dims[1]);
  const double picked_bytes = picked * table->element_bytes;
  if (!bag) return OperatorWork{0, indices->bytes() + 2 * picked_bytes};
  const TensorShape* output = arguments.Output(0);
  if (output == nullptr) return std::nullopt;
  return OperatorWork{picked, indices->bytes() + picked_bytes + output->bytes()};
}

Work EmbeddingBackward(const OperatorArguments& arguments) {
  const TensorShape* gradient = arguments.Input(0);
  const TensorShape* indices = arguments.Input(1);
  const TensorShape* table = arguments.Output(0);
  if (gradient == nullptr || indices == nullptr || table == nullptr || table->dims.size() != 2) {
    return std::nullopt;
  }
  const double added = indices->elements() * static_cast<double>(table->dims[1]);
  // The gradient is read, the table is cleared, and each row that an index names is read and
  // written.
  return OperatorWork{added, gradient->bytes() + indices->bytes() + table->bytes() +
                                 2 * added * table->element_bytes};
}

Work Gather(const OperatorArguments& arguments) {
  const TensorShape* output = arguments.Output(0);
  if (output == nullptr) return std::nullopt;
  double bytes = 2 * output->bytes();
  for (size_t i = 1; i < arguments.inputs.size(); ++i) bytes += arguments.inputs[i].bytes();
  return OperatorWork{0, bytes};
}

Work Scatter(const OperatorArguments& arguments, size_t index) {
  if (arguments.inputs.size() < index + 2) return std::nullopt;
  const Argument& source = arguments.inputs[index + 1];
  const TensorShape* target = arguments.Input(0);
  if (source.tensors.empty() || target == nullptr) return std::nullopt;
  return OperatorWork{source.elements(), arguments.inputs[index].bytes() + source.bytes() +
                                             2 * source.elements() * target->element_bytes};
}

// ---- Element by element.

Work Elements(const OperatorArguments& arguments, const std::vector<Argument>& of, double flops) {
  if (of.empty() || of[0].tensors.empty()) return std::nullopt;
  double bytes = SumBytes(arguments.inputs) + SumBytes(arguments.outputs);
  // An argument but the first that is the output as well is where a caller wants it ("out="): it
  // is not read.
  const absl::string_view output = ListElement(arguments.out_values, 0);
  for (size_t i = 1; i < arguments.inputs.size() && !output.empty(); ++i) {
    if (arguments.Input(i) == nullptr || ListElement(arguments.in_values, i) != output) continue;
    bytes -= arguments.inputs[i].bytes();
  }
  return OperatorWork{flops * of[0].elements(), bytes};
}

Work Concatenate(const OperatorArguments& arguments) {
  if (arguments.inputs.empty() || arguments.inputs[0].tensors.empty()) return std::nullopt;
  return OperatorWork{0, SumBytes(arguments.inputs) + SumBytes(arguments.outputs)};
}

Work ListElements(const OperatorArguments& arguments, double flops) {
  if (arguments.inputs.empty() || !arguments.inputs[0].is_list) return std::nullopt;
  const Argument& first = arguments.inputs[0];
  return OperatorWork{flops * first.elements(), SumBytes(arguments.inputs) + first.bytes()};
}

Work FusedOptimiser(const OperatorArguments& arguments, double flops) {
  constexpr size_t kGradients = 1;
  if (arguments.inputs.size() <= kGradients || !arguments.inputs[0].is_list) return std::nullopt;
  double bytes = 0;
  for (size_t i = 0; i < arguments.inputs.size(); ++i) {
    if (!arguments.inputs[i].is_list) continue;
    bytes += arguments.inputs[i].bytes() * (i == kGradients ? 1 : 2);
  }
  return OperatorWork{flops * arguments.inputs[0].elements(), bytes};
}

Work Written(const OperatorArguments& arguments, bool reads_others) {
  if (arguments.inputs.empty() || arguments.inputs[0].tensors.empty()) return std::nullopt;
  const double written = arguments.inputs[0].bytes();
  return OperatorWork{0, reads_others ? SumBytes(arguments.inputs) : written};
}

}  // namespace

std::optional<OperatorWork> CountWork(const OperatorInfo& info,
                                      const OperatorArguments& arguments) {
  const double flops = info.flops;
  const auto argument = static_cast<size_t>(std::max<int>(info.argument, 0));
  switch (info.formula) {
    case Formula::kNone:
      return std::nullopt;
    case Formula::kMatmul:
      return Matmul(arguments, argument);
    case Formula::kLinear:
      return Linear(arguments);
    case Formula::kConvolution:
      return Convolution(info, arguments);
    case Formula::kConvolutionBackward:
      return ConvolutionBackward(info, arguments);
    case Formula::kAttention:  // QK' and PV.
      return Attention(info, arguments, 0, 1, 1);
    case Formula::kAttentionBackward:  // QK' again, dQ, dK; dP and dV.
      return Attention(info, arguments, 1, 3, 2);
    case Formula::kEmbedding:
      return Embedding(arguments, false);
    case Formula::kEmbeddingBag:
      return Embedding(arguments, true);
    case Formula::kEmbeddingBackward:
      return EmbeddingBackward(arguments);
    case Formula::kGather:
      return Gather(arguments);
    case Formula::kScatter:
      return Scatter(arguments, argument);
    case Formula::kOutputElements:
      return Elements(arguments, arguments.outputs, flops);
    case Formula::kInputElements:
      return Elements(arguments, arguments.inputs, flops);
    case Formula::kListElements:
      return ListElements(arguments, flops);
    case Formula::kFusedOptimiser:
      return FusedOptimiser(arguments, flops);
    case Formula::kCopy:
      return Written(arguments, true);
    case Formula::kConcatenate:
      return Concatenate(arguments);
    case Formula::kFill:
      return Written(arguments, false);
  }
  return std::nullopt;
}

double WorkNs(const ComputeModel& model, const OperatorWork& work) {
  return std::max(work.flops / model.peak_flops_per_ns, work.bytes / model.memory_bytes_per_ns);
}

}  // namespace chakrad
