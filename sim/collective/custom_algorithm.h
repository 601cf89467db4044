// Collective algorithms that users write as execution traces.
#ifndef CHAKRAD_SIM_COLLECTIVE_CUSTOM_ALGORITHM_H_
#define CHAKRAD_SIM_COLLECTIVE_CUSTOM_ALGORITHM_H_

#include <cstdint>
#include <vector>

#include "common/status.h"
#include "sim/system/collective_script.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// `ranks`: one trace a place of the group, in order, as ASTRA-sim and MSCCLang's converter write
// them: COMM_SEND, COMM_RECV and COMP nodes and their dependencies; peers are places. Nodes
// that carry no work (METADATA, INVALID) take no time. Sends and receives belong together as in
// a workload: by sender, receiver, tag and size, in the order of ids.
//
// `total_bytes`: the size of the collective that the traces were written for (CommOp::bytes);
// a collective of another size scales all messages. 0: messages have the sizes in the traces,
// whatever the collective states. In astra semantics they always do, and a COMP node takes at
// least 1 ns.
//
// INVALID_ARGUMENT names the rank and the node: fewer than two ranks, ranks out of order, other
// types of nodes, a peer that is none or the rank itself, a size out of range, a send without a
// receive or the other way round, nodes that wait for each other in a circle (over several
// ranks, too), more than 2^24 - 1 nodes on a rank.
// O(k log k) for k nodes. Thread-safe.
absl::StatusOr<CollectiveScript> ScriptFromTraces(absl::string_view name,
                                                  const std::vector<RankTrace>& ranks,
                                                  int64_t total_bytes);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_CUSTOM_ALGORITHM_H_
