// Execution traces that Chakra's linker (chakra_trace_link) already joined with
// a profile: device operations are nodes, nodes have times. They are linked like
// a pair, after being taken apart into what a profile would have held.
#ifndef CHAKRAD_TRACE_LINK_LINKED_ET_H_
#define CHAKRAD_TRACE_LINK_LINKED_ET_H_

#include "trace/link/link_graph.h"
#include "trace/link/match_device.h"
#include "trace/link/match_host.h"
#include "trace/link/nesting.h"
#include "trace/model/ledger.h"
#include "trace/readers/kineto/kineto.h"

namespace chakrad {

struct PyTorchEt;

struct LinkedView {
  KinetoTrace kineto;
  HostMatch host_match;
  Nesting nesting;
  DeviceMatch device_match;
};

// A profile of the nodes that have times. Each device operation gets a launch
// call, at the start of its parent (the linker does not record when it was),
// whose work it is; without times of the parent, none. O(nodes log nodes).
LinkedView ViewOfLinkedEt(const PyTorchEt& et);

// The dependencies that the linker found (sync_dep, inter_thread_dep) become
// kSync edges. What a node waited for ended before the node did: where it ended
// while the node ran, the wait lay inside, and the thread's next operation
// depends on it. Others point back in time (the linker attaches some to the
// wrong node, and together they form cycles): dropped, each a flaw
// "linked_sync_backwards". Of a thread's operations in a row that depend on the same
// operation of another thread, the first one alone gets the edge: thread order
// implies the rest. A notice counts all. O(dependencies log nodes).
void AddLinkedSyncEdges(LinkGraph* graph, Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_LINKED_ET_H_
