// The filter of ListTraces: terms joined by AND, as in
//   labels.job = "llama" AND world_size = 8 AND labels.cluster != east
#ifndef CHAKRAD_SERVER_RPC_TRACE_FILTER_H_
#define CHAKRAD_SERVER_RPC_TRACE_FILTER_H_

#include <functional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/trace_store.h"

namespace chakrad {

// Fields: labels.KEY (a trace without the label has the value ""), world_size.
// Operators: = and !=. Values: a word, or text in double quotes with \" and \\.
// INVALID_ARGUMENT tells the position and what was expected. Empty: null, which
// matches everything.
absl::StatusOr<std::function<bool(const TraceInfo&)>> ParseTraceFilter(absl::string_view filter);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_TRACE_FILTER_H_
