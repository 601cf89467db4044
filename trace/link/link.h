// Joins what the host recorded (execution trace) with what ran when (Kineto)
// into one RankTrace with causal edges. Either may be missing.
#ifndef CHAKRAD_TRACE_LINK_LINK_H_
#define CHAKRAD_TRACE_LINK_LINK_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

class KernelNames;  // trace/link/kernel_names.h
struct PyTorchEt;
struct KinetoTrace;
struct Manifest;

// `et` or `kineto` may be null, not both. What becomes a node:
//  - every operation of the execution trace, with its own id: host operations,
//    marks and roots (type METADATA, no work), gloo:* communication;
//  - host events of Kineto that the execution trace lacks, with new ids (it may
//    cover one step of many), and launch calls outside of any host operation;
//  - every device operation. Communication kernels are communication nodes.
// Kineto events that became part of a node move from kept to merged in
// `kineto_ledger`, by rule: "host_op" (an operation of the execution trace),
// "runtime_call" (the host operation around it), "runtime_call_between_ops"
// (edges and waiting time of its neighbours), "sync_event". Nothing is
// rejected. Notices in the ledgers give the share of operations matched and all
// assumptions.
// An execution trace that is linked already (trace/link/linked_et.h) comes
// without a Kineto file. Kernels that look like communication and are in no
// table are flaws, "unknown_comm_kernel", one a name. `kernel_names` may be
// null: the built-in table alone.
// `manifest` may be null; it decides which group an unnamed collective used, for
// which the rank must be known: from the files, else `known_rank` (kNoRank if
// neither). The result's group numbering is its own: AssembleTrace
// (trace/link/assemble.h) makes it global. Its edges have no cycle: each points
// forward in recorded order. INVALID_ARGUMENT when the parents that an execution
// trace records form a cycle (printed, with byte offset), or when the two files
// name different ranks. Uses `et` and `kineto` up: parts of both are gone
// afterwards, so that they and the result need not fit into memory together.
// O(n log n).
absl::StatusOr<RankTrace> LinkRank(PyTorchEt* et, Ledger* et_ledger, KinetoTrace* kineto,
                                   Ledger* kineto_ledger, int32_t known_rank,
                                   const Manifest* manifest,
                                   const KernelNames* kernel_names = nullptr);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_LINK_H_
