// The tensors that an operator worked on, from the texts that PyTorch's recorder wrote and
// that a rank trace keeps in its cold block (RankTrace::cold).
#ifndef CHAKRAD_TRACE_OPERATORS_OPERATOR_ARGUMENTS_H_
#define CHAKRAD_TRACE_OPERATORS_OPERATOR_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

// The texts of one operator; views of the cold block.
struct ArgumentTexts {
  absl::string_view in_values, in_shapes, in_types;
  absl::string_view out_values, out_shapes, out_types;
};

// The texts in a cold block (a serialised ChakraProtoMsg.Node); empty where it has none or is no
// such message. O(bytes of the block before the first attribute, as a rule).
ArgumentTexts TextsOfCold(absl::string_view cold);

// A tensor by shape and type.
struct TensorShape {
  std::vector<int64_t> dims;  // Empty: a scalar.
  int32_t element_bytes = 0;  // 0: PyTorch's "undefined tensor", which is not there.

  bool defined() const { return element_bytes > 0; }
  double elements() const;  // Product of dims; 0 when not defined.
  double bytes() const { return elements() * element_bytes; }
};

struct Argument {
  bool is_list = false;              // A list of tensors, else at most one.
  std::vector<TensorShape> tensors;  // Empty for what is no tensor (a number, a device, none).

  double elements() const;
  double bytes() const;
};

struct OperatorArguments {
  std::vector<Argument> inputs, outputs;
  absl::string_view in_values, out_values;  // As in ArgumentTexts.

  // The one tensor of input `index`; null when it has none, or not one.
  const TensorShape* Input(size_t index) const;
  const TensorShape* Output(size_t index) const;
};

// nullopt when shapes and types are missing, do not fit each other, or name an element type
// that is not known: then nothing is guessed. Takes JSON and Python spelling (quotes 'x' and
// "x"). O(bytes of shapes and types).
std::optional<OperatorArguments> ReadArguments(const ArgumentTexts& texts);

// The element `index` of a list in JSON or Python spelling: "true" of 4 in `[1, [2, 3], "x",
// None, true]`. Empty when there is none. O(bytes).
absl::string_view ListElement(absl::string_view list, size_t index);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_OPERATORS_OPERATOR_ARGUMENTS_H_
