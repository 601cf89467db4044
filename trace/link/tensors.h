// Tensors among the inputs of an operation of the execution trace.
#ifndef CHAKRAD_TRACE_LINK_TENSORS_H_
#define CHAKRAD_TRACE_LINK_TENSORS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

struct PyTorchEt;

// The storage ids of the tensors in an argument text: a tensor is written as
// [tensor id, storage id, offset, elements, element bytes, "device"], at any
// depth of lists. Ids are reused after a free: equal ids mean one buffer only
// while it lives. O(text).
std::vector<uint64_t> StoragesInText(absl::string_view text);

// Of the inputs of ops[op], from its cold block; empty when it has none.
std::vector<uint64_t> InputStorages(const PyTorchEt& et, uint32_t op);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_TENSORS_H_
