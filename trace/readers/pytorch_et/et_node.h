// One node of a PyTorch execution trace, in either layout, as read from JSON.
#ifndef CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_NODE_H_
#define CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_NODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/readers/json/json_reader.h"
#include "trace/readers/json/json_value.h"
#include "trace/readers/pytorch_et/et_comm.h"
#include "trace/readers/pytorch_et/et_linked.h"

namespace chakrad {

// Views are valid until the next window. Reused from node to node.
struct EtNode {
  uint64_t id = 0;
  uint64_t parent = 0;
  uint64_t rf_id = 0;
  uint64_t fw_parent = 0;
  int64_t seq_id = -1;
  uint32_t scope = 0;
  uint64_t tid = 0;
  uint64_t fw_tid = 0;
  absl::string_view name;
  absl::string_view op_schema;
  EtArguments arguments;  // As JSON.
  absl::string_view input_strides, output_shapes, output_types, output_strides;
  // All that is not one of the above: attributes, and fields nobody knows.
  struct Extra {
    std::string key;
    std::string type;  // As the file states it; empty for a field.
    JsonValue value;
  };
  std::vector<Extra> extras;
  EtLinkedFields linked;
  bool is_linked = false;  // Has one of these.
};

// INVALID_ARGUMENT names the field and what is wrong with it.
// `object.is_object()` must hold.
absl::Status ParseEtNode(JsonRef object, EtNode* node);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_NODE_H_
