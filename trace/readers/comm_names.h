// Names of communication calls and data types, as recorders spell them.
#ifndef CHAKRAD_TRACE_READERS_COMM_NAMES_H_
#define CHAKRAD_TRACE_READERS_COMM_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

// CommArgs::op of a recorded operation name: "allreduce_" and "all_reduce" give
// "all_reduce", "_allgather_base" gives "all_gather_base", "alltoall_base_"
// "all_to_all_base"; words nobody knows come back in lower case.
std::string CommOpName(absl::string_view recorded);

// How an operation's name tells that it communicates.
enum class CommNameKind : uint8_t {
  kNone,
  kParamComms,  // record_param_comms
  kC10d,        // c10d::allreduce_
  kFunctional,  // _c10d_functional::all_reduce
  kBackend,     // gloo:all_reduce, nccl:send 0->1
  kGroupTable,  // ## process_group:init ##
};
struct CommName {
  CommNameKind kind = CommNameKind::kNone;
  absl::string_view op;  // The part that names the operation: "allreduce_", "send".
  int64_t peer = -1;     // Of "nccl:send 0->1" and "nccl:recv 0<-1": 1.
};
CommName ParseCommName(absl::string_view name);

// Where a c10d call has what among its arguments, by position; -1: it has none.
// The same in every PyTorch version that records them, as op_schema shows.
struct C10dLayout {
  absl::string_view op;  // CommArgs::op.
  int in, out, root, peer, tag, in_splits, out_splits;
};
// Null when the call is not known.
const C10dLayout* FindC10dLayout(absl::string_view op);

// Whether an operation (CommArgs::op) has a root: what record_param_comms and
// Kineto give as rank is then the root's, in the group. For send, recv and their
// like it is the peer's; else the caller's own.
bool IsRootedOp(absl::string_view op);
bool IsSendOp(absl::string_view op);
bool IsReceiveOp(absl::string_view op);

// Bytes of an element of a data type ("Float", "float", "long int", "BFloat16",
// ...), -1 when the name is not known.
int64_t DtypeBytes(absl::string_view dtype);

// The integers of "[1, 2, 3]"; false when the text is another (recorders cut
// long lists: "[1, 2, ...]").
bool ParseIntList(absl::string_view text, std::vector<int64_t>* values);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_COMM_NAMES_H_
