// The last step of linking: the graph as a RankTrace.
#ifndef CHAKRAD_TRACE_LINK_EMIT_H_
#define CHAKRAD_TRACE_LINK_EMIT_H_

#include "absl/status/statusor.h"
#include "trace/link/link_graph.h"

namespace chakrad {

// Cold blocks: as the execution trace recorded them; of what
// only Kineto has, its ids, stream and bytes as attributes. Uses `graph` up, and
// the cold blocks of `et` (null, or what the graph is of): their memory is given
// back while the result grows. O(nodes + edges log edges of a node).
absl::StatusOr<RankTrace> EmitRankTrace(LinkGraph graph, PyTorchEt* et);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_EMIT_H_
