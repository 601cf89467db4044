// One rank's part of a trace, as columns: what simulation and analysis walk.
// Every input format becomes a RankTrace; nothing after the readers knows where
// it came from. Build one with RankTraceBuilder.
#ifndef CHAKRAD_TRACE_MODEL_RANK_TRACE_H_
#define CHAKRAD_TRACE_MODEL_RANK_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/string_table.h"
#include "trace/model/types.h"

namespace chakrad {

// A time that the input does not tell. Never a substitute for 0.
inline constexpr int64_t kUnknownNs = -1;
// No rank: of a root or a peer that the operation does not have.
inline constexpr int32_t kNoRank = -1;
// No entry in a side table.
inline constexpr uint32_t kNone = UINT32_MAX;

// Where operations run one after another: a host thread or a device stream.
struct Queue {
  enum class Kind : uint8_t { kHostThread = 0, kDeviceStream = 1 };
  Kind kind = Kind::kHostThread;
  int32_t device = -1;  // Device ordinal; -1 for a host thread.
  int64_t raw_id = 0;   // Thread id or stream number as recorded.
  friend bool operator==(const Queue&, const Queue&) = default;
};

// Ranks that communicate together.
struct ProcessGroup {
  std::string name;            // As recorded: an opaque string.
  std::string description;     // As recorded; may be empty.
  std::vector<int32_t> ranks;  // Global ranks, in group order; empty: members unknown.
  friend bool operator==(const ProcessGroup&, const ProcessGroup&) = default;
};

// What a communication node moves.
struct CommOp {
  CollectiveType collective = CollectiveType::kAllReduce;  // For kCommColl nodes only.
  // Bytes. All-reduce, reduce-scatter, all-to-all, broadcast: the full buffer
  // of a rank. All-gather: what each rank contributes. Send, receive: the message.
  int64_t bytes = 0;
  // Index into the group table: of this rank before a trace is assembled, of
  // Trace::groups after. kNone: the recorder named no group.
  uint32_t group = kNone;
  int32_t peer = kNoRank;  // Send: the receiver; receive: the sender; a global rank.
  int32_t root = kNoRank;  // Broadcast, reduce, gather, scatter: a global rank.
  int32_t priority = 0;
  int64_t tag = 0;
  // One bit a network dimension, bit 0 for dimension 0: those the collective
  // may use. All ones: no restriction.
  uint32_t involved_dims = UINT32_MAX;
  friend bool operator==(const CommOp&, const CommOp&) = default;
};

// What a compute or memory node needs on a machine that was not measured.
struct WorkSize {
  int64_t num_ops = 0;       // Floating-point operations.
  int64_t tensor_bytes = 0;  // Bytes moved to and from local memory; of a memory node, its size.
  friend bool operator==(const WorkSize&, const WorkSize&) = default;
};

// A column holds one entry a node, in index order; an index is a node's only
// name inside the process. Plain data: reading is thread-safe.
struct RankTrace {
  // Bits of `flags`.
  static constexpr uint8_t kHostOp = 1;      // Runs on the host (Chakra's is_cpu_op).
  static constexpr uint8_t kAnnotation = 2;  // A user's mark: its interval is not work.

  int32_t rank = 0;          // Global, 0-based; kNoRank until it is known.
  int64_t base_unix_ns = 0;  // What start_ns counts from; 0 when the input has no epoch.
  std::string schema;        // As the input states it: "1.0.3-chakra.0.0.4"; may be empty.

  // Hot columns.
  std::vector<uint64_t> id;  // As recorded; unique in the rank.
  std::vector<NodeType> type;
  std::vector<uint8_t> flags;
  std::vector<uint16_t> queue;    // Index into `queues`.
  std::vector<uint32_t> name;     // Index into `strings`.
  std::vector<int64_t> start_ns;  // From base_unix_ns; kUnknownNs.
  std::vector<int64_t> dur_ns;    // Recorded interval, nested calls included; kUnknownNs.
  // What the node occupies its queue for when replayed: of a device operation
  // its duration; of a host operation the busy time until the next one starts
  // on that thread. Over a thread, work_ns and gap_ns add up to the recorded
  // span. kUnknownNs where durations are unknown.
  std::vector<int64_t> work_ns;
  // Index into `comm` for communication nodes, into `work_size` for compute and
  // memory nodes; kNone when there is none.
  std::vector<uint32_t> side;
  // Dependencies of node i: dep_node[j], dep_kind[j] for j in
  // [dep_begin[i], dep_begin[i + 1]). A node may appear under several kinds.
  std::vector<uint32_t> dep_begin{0};
  std::vector<uint32_t> dep_node;
  std::vector<EdgeKind> dep_kind;

  // Idle time between the end of a node's last dependency and its start, which
  // no other node explains: on a host thread Python or data loading, on a device
  // the latency of a launch. Of any node; sparse, by ascending node index.
  std::vector<uint32_t> gap_node;
  std::vector<int64_t> gap_ns;

  // Side tables.
  std::vector<Queue> queues;
  std::vector<CommOp> comm;
  std::vector<WorkSize> work_size;
  std::vector<ProcessGroup> groups;  // This rank's own numbering; see CommOp::group.
  StringTable strings;

  // Cold block: of node i, cold[cold_begin[i] .. cold_begin[i + 1]) is a
  // serialised ChakraProtoMsg.Node holding only its inputs, outputs and attr
  // fields (and unknown fields): what a round trip must keep and no simulation
  // needs. Both empty when the trace was loaded without it.
  std::string cold;
  std::vector<uint64_t> cold_begin;
  // The same of the file: a serialised ChakraProtoMsg.GlobalMetadata holding what no
  // field above says (its version, attributes that nobody knows). Often empty.
  std::string file_cold;

  uint32_t size() const { return static_cast<uint32_t>(id.size()); }
  absl::string_view NameOf(uint32_t node) const { return strings.Get(name[node]); }
  bool is_host(uint32_t node) const { return (flags[node] & kHostOp) != 0; }
  // The communication of a communication node, else null.
  const CommOp* CommOf(uint32_t node) const;
  // The work size of a compute or memory node, else null.
  const WorkSize* WorkSizeOf(uint32_t node) const;
  absl::string_view ColdOf(uint32_t node) const;
  // gap_ns as a dense column.
  std::vector<int64_t> DenseGaps() const;
  // Whether any compute node runs on a device. If none does, the host's own
  // operations are the rank's compute.
  bool HasDeviceCompute() const;
};

// Bytes a node that the hot columns take (dependencies counted apart).
inline constexpr int kHotBytesPerNode = 8 + 1 + 1 + 2 + 4 + 8 + 8 + 8 + 4 + 4;

// "node 17 (aten::mm)": how messages name a node.
std::string DescribeNode(const RankTrace& rank, uint32_t node);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_RANK_TRACE_H_
