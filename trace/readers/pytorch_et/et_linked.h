// The fields that Chakra's trace linker adds to the nodes of an execution trace
// ("ET+"): times, and the device operations as nodes of their own.
#ifndef CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_LINKED_H_
#define CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_LINKED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/readers/json/json_value.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {

// As the file has them; views are valid until the next window.
struct EtLinkedFields {
  JsonValue ts, inclusive_dur, cat, stream, pg_name, inter_thread_dep, sync_dep;

  // The field of that key; nullptr when the key is not one of them.
  JsonValue* Find(absl::string_view key);
};

// Collects what the linker added, node by node, and makes times of it.
class EtLinkedReader {
 public:
  // Adds node number `op` of the result. INVALID_ARGUMENT names the field: a
  // time that is none or negative, one without the other, a device operation
  // without times (or at 0, which profilers write for no time), a dependency
  // that is no id.
  absl::Status Add(const EtLinkedFields& fields, uint32_t op);
  // Fills PyTorchEt::linked, ::linked_deps and ::base_unix_ns. Times count from
  // the first one where the clock has an epoch (it shows a time after 2001) or
  // starts later than ten days; else they stay. INVALID_ARGUMENT when they span
  // more than kMaxRecordingNs.
  absl::Status Finish(PyTorchEt* et);

 private:
  std::vector<EtLinkedOp> ops_;
  std::vector<EtLinkedDep> deps_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_LINKED_H_
