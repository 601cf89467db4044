// Which nodes communicate, who called them, and all that was recorded about
// each call, in whichever of several records it stands.
#ifndef CHAKRAD_TRACE_LINK_COMM_CALLS_H_
#define CHAKRAD_TRACE_LINK_COMM_CALLS_H_

#include <vector>

#include "trace/link/comm_kernels.h"
#include "trace/link/link_graph.h"
#include "trace/readers/comm_args.h"

namespace chakrad {

struct CommCall {
  uint32_t node = kNone;    // The communication node.
  uint32_t record = kNone;  // The host call that says most about it; kNone.
  CommKind kind;
  bool undecided = false;  // Neither host nor kernel name tells the kind.
  CommArgs args;           // Of all records together.
  // Several kernels of one call share its bytes.
  int32_t kernel = 0;
  int32_t kernels_count = 1;
};

// Finds, in this order:
//  1. gloo:* nodes: the c10d:: call that started each (on its launching thread,
//     earlier, of the same kind, not taken yet: the one on the same buffer, else
//     with the same bytes, else the first) tells peer, tag and root. all_to_all
//     has none: the operation running when it was called is its caller.
//  2. Device kernels that communicate: what the host calls around the launch
//     say comes first, the kernel's own metadata next, its name last.
//     A kernel that nothing names takes the sends and receives batched before it
//     (trace/link/comm_batches.h).
//  3. Host calls about communication for which no device operation was
//     recorded: the call itself becomes the communication node, without times.
// Sets `caller`, `launch_ns`, `type` of the nodes found, `role` and `queue` of
// the third kind. Result in node order. O(nodes log nodes).
std::vector<CommCall> FindCommCalls(LinkGraph* graph);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_COMM_CALLS_H_
