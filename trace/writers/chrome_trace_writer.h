// A measured trace as Chrome trace JSON, as Perfetto and chrome://tracing open it.
// (A simulated timeline: client/chrome_trace_writer.h.)
#ifndef CHAKRAD_TRACE_WRITERS_CHROME_TRACE_WRITER_H_
#define CHAKRAD_TRACE_WRITERS_CHROME_TRACE_WRITER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakrad {

struct ChromeTraceOptions {
  std::vector<int32_t> ranks;  // Empty: all that are there.
  // Arrows from what launched a device operation to it, and from what was waited
  // for to what waited.
  bool arrows = true;
};

// A process a rank, a thread a queue. Every node that has a start is there, with
// its recorded duration as a complete event, without one as an instant. Viewers go
// wrong where events of one thread cross, so those get lanes of their own,
// "stream 7 (2)"; events that lie within one another stay together. Times are
// microseconds with three decimals, exact to the nanosecond, from the earliest base
// time of the ranks; ranks without one, or more than 90 days apart, count from their
// own. Ids are strings, since viewers read numbers as doubles.
//
// "otherData" tells the base, whether the ranks are aligned, and how many nodes are
// shown and how many have no start. NOT_FOUND: a rank that is not in the trace.
// FAILED_PRECONDITION: no node of them has a start. `sink` may end the writing with
// its own error. Memory: 12 bytes a node of one rank. O(nodes log nodes + edges).
absl::Status WriteChromeTrace(const Trace& trace, const ChromeTraceOptions& options,
                              const std::function<absl::Status(absl::string_view)>& sink);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_CHROME_TRACE_WRITER_H_
