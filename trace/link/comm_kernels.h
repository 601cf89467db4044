// The words for communication: kernel names of every vendor's library, and the
// names by which recorders call operations. The one place that knows them.
#ifndef CHAKRAD_TRACE_LINK_COMM_KERNELS_H_
#define CHAKRAD_TRACE_LINK_COMM_KERNELS_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "trace/model/types.h"

namespace chakrad {

// What an operation moves: kCommSend, kCommRecv, or kCommColl with `collective`.
struct CommKind {
  NodeType type = NodeType::kCommColl;
  CollectiveType collective = CollectiveType::kAllReduce;
  friend bool operator==(const CommKind&, const CommKind&) = default;
};

// Of CommArgs::op ("all_to_allv", "_allgather_base", "recv", ...); nullopt for
// what moves nothing ("wait", "init") or several things ("coalesced").
std::optional<CommKind> CommKindOfOp(absl::string_view op);

enum class KernelClass : uint8_t {
  kNotComm = 0,
  kComm = 1,       // `kind` says what.
  kUndecided = 2,  // Communication, but the name stands for several: SendRecv, Generic.
  kSuspect = 3,    // Has a word of communication and no entry: taken for compute, and counted.
};
struct CommKernel {
  KernelClass kernel_class = KernelClass::kNotComm;
  CommKind kind;
};

// Of a device kernel's name: NCCL 2.x (ncclKernel, ncclDevKernel, ncclSym*),
// RCCL, MSCCL, HCCL, oneCCL, MTIA, and the custom all-reduces that serving
// stacks use. A name that merely contains "nccl" proves nothing. What a user
// adds to this table: trace/link/kernel_names.h.
CommKernel ClassifyKernel(absl::string_view kernel_name);

// Host operations that stand for CPU communication and run on worker threads.
bool IsAsyncHostComm(absl::string_view name);
// "record_param_comms", "c10d::..." (also functional), "nccl:...": a host call about communication.
bool IsRecordParamComms(absl::string_view name);
bool IsC10d(absl::string_view name);
bool IsDeviceCommMark(absl::string_view name);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_COMM_KERNELS_H_
