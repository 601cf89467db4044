// Tensors in the argument texts of PyTorch's execution traces.
#ifndef CHAKRAD_TRACE_MEMORY_TENSOR_VALUES_H_
#define CHAKRAD_TRACE_MEMORY_TENSOR_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

struct TensorValue {
  uint64_t tensor = 0;
  uint64_t storage = 0;   // By address: reused after a free.
  int64_t end_bytes = 0;  // (Offset + elements) * bytes of an element: how far it reaches.
  absl::string_view device;
};

// Appends the tensors of `text`, which are written [tensor, storage, offset, elements, element
// bytes, "device"], at any depth of lists. Empty and undefined ones, and those over 1 TiB, are left
// out. O(text).
void FindTensorValues(absl::string_view text, std::vector<TensorValue>* tensors);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MEMORY_TENSOR_VALUES_H_
