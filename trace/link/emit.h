// The last step of linking: the graph as a RankTrace.
#ifndef CHAKRAD_TRACE_LINK_EMIT_H_
#define CHAKRAD_TRACE_LINK_EMIT_H_

#include "absl/status/statusor.h"
#include "trace/link/link_graph.h"

namespace chakrad {

// Cold blocks: as the execution trace recorded them; of what
// only Kineto has, its ids, stream and bytes as attributes.
absl::StatusOr<RankTrace> EmitRankTrace(const LinkGraph& graph);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_EMIT_H_
