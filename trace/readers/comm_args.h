// What a recorder says about one communication call, whatever its spelling:
// record_param_comms (positional inputs of schema 1.0.1 to 1.0.4, attributes
// from 1.1.0), c10d::*, nccl:*, gloo:*, and Kineto's kernel arguments.
#ifndef CHAKRAD_TRACE_READERS_COMM_ARGS_H_
#define CHAKRAD_TRACE_READERS_COMM_ARGS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace chakrad {

inline constexpr int64_t kNotStated = -1;

struct CommArgs {
  // Lower case, words joined by "_", without vendor prefix or trailing "_":
  // "all_reduce", "all_to_allv", "broadcast", "send", "recv", "wait",
  // "barrier", "init", "coalesced", ... as read; nothing is interpreted here.
  std::string op;
  int64_t in_bytes = kNotStated;  // From element counts and dtype, else from input tensors.
  int64_t out_bytes = kNotStated;
  int64_t in_elements = kNotStated;
  int64_t out_elements = kNotStated;
  std::string dtype;               // "float", "long int", ...: as recorded.
  int32_t input_dims = -1;         // Rank (number of dimensions) of the first input tensor.
  std::vector<int64_t> in_splits;  // Elements a peer; empty: even.
  std::vector<int64_t> out_splits;
  bool splits_cut = false;  // The recorder cut a list of splits: not even, but not known.
  std::string group_name;   // As recorded; empty: not named.
  std::string group_description;
  // Where old recorders give the address of the group's object instead of a
  // name: tells groups of one file apart, means nothing in another; 0: none.
  uint64_t group_address = 0;
  int64_t group_size = kNotStated;
  uint64_t comms_id = 0;             // Kineto's number of the communicator, any 64 bits; 0: none.
  std::vector<int32_t> group_ranks;  // Global ranks, where recorded.
  int64_t global_rank_start = kNotStated;
  int64_t global_rank_stride = kNotStated;
  int64_t sequence = kNotStated;  // Matches a wait with its collective, where recorded.
  int64_t peer = kNotStated;      // Other side of send and receive: group rank, or
  bool peer_is_global = false;    // the rank in the job (Kineto's Src and Dst Rank).
  int64_t root = kNotStated;      // Group rank.
  int64_t tag = kNotStated;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_COMM_ARGS_H_
