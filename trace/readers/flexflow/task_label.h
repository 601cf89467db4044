// What a FlexFlow task graph says of a task: the record label of its node.
#ifndef CHAKRAD_TRACE_READERS_FLEXFLOW_TASK_LABEL_H_
#define CHAKRAD_TRACE_READERS_FLEXFLOW_TASK_LABEL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

struct FlexFlowTask {
  bool is_stock = false;     // Of the two forms below, the second.
  bool is_transfer = false;  // COMM_SEND_RECV_NODE; "Comm" in the second form.
  std::string name;          // The layer, "Barrier", "Comm from A to B"; may be empty.
  std::string type;          // "Forward", "Backward", "Update", "Barrier", "Comm".
  // Where a computation runs; of a transfer the link that it takes. -1: not told.
  int64_t device = -1;
  int32_t src = kNoRank, dst = kNoRank;  // Of a transfer.
  int64_t bytes = 0;                     // Of a transfer.
  int64_t start_ns = kUnknownNs;
  int64_t dur_ns = kUnknownNs;
};

// One of
//   {device_id=<npu>|<name>|<type>|COMP_NODE|simulated_run_time=<ms>}
//   {device_id=<link>|<name>|<type>|COMM_SEND_RECV_NODE|src_device_id=<npu>|
//     dst_device_id=<npu>|comm_size=<bytes>|run_time=<ms>}           (on one line)
//   { <name> | <type> | { <start ms> | <end ms> } }        (the name may be missing)
// as graphviz reads record labels: a backslash takes the meaning from the next
// character, white space around fields does not count. FlexFlow's simulator counts
// milliseconds; they become nanoseconds in decimal arithmetic, rounded half to even
// (digits beyond the 18th behind the point are rounded away before). INVALID_ARGUMENT
// names the field, its text and what is allowed.
absl::StatusOr<FlexFlowTask> ParseTaskLabel(absl::string_view label);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_FLEXFLOW_TASK_LABEL_H_
