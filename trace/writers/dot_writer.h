// A rank's graph as text for graphviz (.dot) and for graph tools (.graphml).
// Neither needs a layout.
#ifndef CHAKRAD_TRACE_WRITERS_DOT_WRITER_H_
#define CHAKRAD_TRACE_WRITERS_DOT_WRITER_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/model/rank_trace.h"
#include "trace/writers/graph_view.h"

namespace chakrad {

// An arrow goes from a dependency to the node that waits for it, one for each
// kind; dashed and grey: through nodes that are not shown. Nodes are named "n<id>"
// and carry name, id, what they are, bytes and time; the graph's label says how
// many nodes are not shown and why. `sink` may end the writing with its own
// error. Else as ViewGraph. Memory: the view.
absl::Status WriteDot(const RankTrace& rank, const GraphOptions& options,
                      const std::function<absl::Status(absl::string_view)>& sink);

// The same with every number as data: node keys id, name, type, class, queue,
// start_ns, dur_ns, work_ns, collective, bytes (those that are known), edge key
// kind. Two nodes have as many edges as kinds.
absl::Status WriteGraphMl(const RankTrace& rank, const GraphOptions& options,
                          const std::function<absl::Status(absl::string_view)>& sink);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_DOT_WRITER_H_
