// Sizes of a communication call from the shapes and types of its arguments, as
// Kineto writes them ("Input Dims", "Input type"): for recorders that tell no
// element counts.
#ifndef CHAKRAD_TRACE_READERS_COMM_DIMS_H_
#define CHAKRAD_TRACE_READERS_COMM_DIMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/readers/comm_args.h"
#include "trace/readers/comm_names.h"

namespace chakrad {

// Of one argument; a list of tensors counts as one of all their elements.
struct ArgumentShape {
  int64_t elements = -1;  // -1: not told (a scalar, or a list that is not spelled out).
  int32_t dims = -1;      // Of the first tensor.
};

// "[[24], [3, 4], [], [[2], [5]]]": an entry an argument. False when the text
// is another, or elements do not fit 63 bits.
bool ParseArgumentShapes(absl::string_view json, std::vector<ArgumentShape>* shapes);
// ["float", "", "Scalar"]. False when the text is another.
bool ParseTextList(absl::string_view json, std::vector<std::string>* texts);

// Fills elements, bytes, dtype and dimensions of `args`. A c10d call's input
// and output stand at known places; of other calls all tensors are input.
void SizesFromShapes(const CommName& name, absl::string_view dims, absl::string_view types,
                     CommArgs* args);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_COMM_DIMS_H_
