// Sends and receives that the host batched into one kernel (batch_isend_irecv,
// ncclGroupStart and ncclGroupEnd): the kernel's name tells neither how many nor
// which, and none of the calls is around its launch.
#ifndef CHAKRAD_TRACE_LINK_COMM_BATCHES_H_
#define CHAKRAD_TRACE_LINK_COMM_BATCHES_H_

#include <map>
#include <vector>

#include "trace/link/link_graph.h"

namespace chakrad {

// `kernels`: communication kernels whose kind nothing around their launch
// tells. `calls`: host calls to send or receive that launched nothing. A
// kernel's batch are the calls that its launching thread began before the
// launch and that no earlier kernel took. Returns kernel -> calls, in order of
// start; kernels without calls are left out. O(n log n).
std::map<uint32_t, std::vector<uint32_t>> FindBatches(const LinkGraph& graph,
                                                      std::vector<uint32_t> kernels,
                                                      std::vector<uint32_t> calls);

// `members` are the communication nodes of the batch, several, not yet ordered
// on a queue. Each gets the kernel's times and runs beside the others: both sides
// may send first. The kernel's node becomes their common end, without work, so
// that whatever waits for the kernel waits for all of them.
void PlaceBatch(uint32_t kernel, const std::vector<uint32_t>& members, LinkGraph* graph);

// Whatever a kernel with a batch waits for, its members wait for. After all
// other edges are there. O(edges + edges of such kernels * members).
void SpreadBatchWaits(LinkGraph* graph);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_COMM_BATCHES_H_
