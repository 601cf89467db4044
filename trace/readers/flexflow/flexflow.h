// FlexFlow's task graphs (--taskgraph): graphviz digraphs of one training step, all
// devices in one file. Sources: mlcommons/chakra at e536702, its flexflow2chakra
// converter and eg_converter/input_files/FlexFlow; FlexFlow, src/runtime/simulator.cc.
//
// Two forms (task_label.h has their labels):
//
// * Labelled, as a modified FlexFlow writes it: devices, transfers with ends and bytes.
//   One RankTrace a device; its rank is the device's number.
//   - A computation is a COMP_NODE of its device, on stream 0, "<name> <type>", with its
//     id and its run time (milliseconds in the file, nanoseconds here).
//   - A transfer is a COMM_SEND_NODE on its source and a COMM_RECV_NODE on its
//     destination, on stream 1 of each. Both have the transfer's id, bytes and run time,
//     and a tag that no other transfer has. The link that it took stays in the cold block
//     as flexflow.link_id.
//   - Edge P -> C, "C starts when P has ended", becomes a dependency on the device where
//     C starts (a computation's own, a transfer's source): on P there; of a transfer P
//     that arrives there, on the receive; that leaves from there, on the send. A transfer
//     C that waits for something on its destination has its receive wait for it.
//   - An edge between devices without a transfer (flaw flexflow_cross_device_edge):
//     becomes a message of 0 bytes, so that the order is kept at the price of a latency.
//     Its ends have ids above all of the file's.
//   - A transfer to its own device (flaw flexflow_self_transfer): nothing goes over a
//     network; a COMP_NODE of its run time on stream 1.
//
// * Stock FlexFlow: names, types, start and end, but neither devices nor bytes (flaw
//   flexflow_no_devices, and a notice). All tasks become COMP_NODEs of rank 0 with the
//   start and duration that the file gives (printed with six digits there): transfers on
//   stream 1 for the time they took, everything else on stream 0. A simulation of such a
//   trace runs one task after another, and no network changes it.
//
// Colours, shapes and ports are layout and are dropped.
#ifndef CHAKRAD_TRACE_READERS_FLEXFLOW_FLEXFLOW_H_
#define CHAKRAD_TRACE_READERS_FLEXFLOW_FLEXFLOW_H_

#include <vector>

#include "absl/status/statusor.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/readers/read_options.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

// The ranks by ascending number, their nodes in the file's order; schema is
// "flexflow-labelled" or "flexflow-stock".
//
// Ledger: a record is a node or an edge of the file. Nodes are kept (a transfer once, be
// it two nodes now); edges are merged as "dependency", "cross_device_edge" or, repeated,
// as "duplicate_dependency" (which is a flaw too).
//
// INVALID_ARGUMENT, with byte offset and line: no dot (dot_reader.h), a name that is not
// node<number>, both forms in one file, more than kMaxRanksOfFile devices, no tasks. When
// strict also, when lenient rejected by rule: a label that is none of the two
// ("flexflow_label": nothing can be said of the task), a node stated twice
// ("duplicate_node_id": the first one counts), an edge to a node that is not there
// ("missing_dependency"). Cycles are not looked for here.
// Memory: about 150 bytes a task and 30 an edge, and the ranks. O(n log n).
absl::StatusOr<std::vector<RankTrace>> ReadFlexFlow(ByteSource* source, const ReadOptions& options,
                                                    Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_FLEXFLOW_FLEXFLOW_H_
