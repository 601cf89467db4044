// Edges that follow from order and nesting alone.
#ifndef CHAKRAD_TRACE_LINK_EDGES_H_
#define CHAKRAD_TRACE_LINK_EDGES_H_

#include "trace/link/link_graph.h"

namespace chakrad {

// Thread order (also along communication worker threads), stream order, the
// parent call, launches. Communication of unrecorded place is ordered within
// its process group only. O(nodes).
void AddOrderEdges(LinkGraph* graph);

// From each forward operation to the first operation of its backward on another
// thread, by autograd's sequence number. O(nodes log nodes).
void AddForwardBackwardEdges(LinkGraph* graph);

// A host call that records the wait for a communication without times (by
// sequence number). O(nodes).
void AddRecordedWaitEdges(LinkGraph* graph);

// Drops edges that do not point forward in recorded order, with a notice of how
// many of each kind: what is left has no cycle. O(edges).
void DropBackwardEdges(LinkGraph* graph);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_EDGES_H_
