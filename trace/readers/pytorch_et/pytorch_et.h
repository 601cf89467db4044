// PyTorch execution traces (ExecutionTraceObserver / ExecutionGraphObserver
// JSON): the host's operations with their arguments and nesting, without times.
#ifndef CHAKRAD_TRACE_READERS_PYTORCH_ET_PYTORCH_ET_H_
#define CHAKRAD_TRACE_READERS_PYTORCH_ET_PYTORCH_ET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/readers/comm_args.h"
#include "trace/readers/read_options.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

struct EtOp {
  uint64_t id = 0;
  uint64_t parent = 0;     // Id; its own id for the root.
  uint64_t rf_id = 0;      // Record-function id, 0: none.
  uint64_t fw_parent = 0;  // Id of the forward operation of a backward one; 0: none.
  int64_t seq_id = -1;
  uint64_t tid = 0;  // Recorder's own thread number.
  uint64_t fw_tid = 0;
  int64_t byte_offset = 0;  // Of the node in the uncompressed file.
  uint32_t name = 0;        // Index into PyTorchEt::strings.
  uint32_t scope = 0;       // 0 operator, 1 backward function, 7 user annotation.
  uint32_t comm = kNone;    // Index into PyTorchEt::comm_args.
  uint64_t cold_begin = 0;  // Its cold block: see RankTrace::cold.
  uint64_t cold_end = 0;
};

// Where a node of an already linked execution trace ran.
enum class EtDevice : uint8_t { kNone = 0, kKernel = 1, kMemcpy = 2, kMemset = 3 };

// What Chakra's trace linker (chakra_trace_link) adds to a node: its times and,
// of a node that is a device operation (its parent launched it), its stream.
struct EtLinkedOp {
  uint32_t op = 0;  // Index into PyTorchEt::ops.
  EtDevice device = EtDevice::kNone;
  int64_t stream = 0;
  int64_t start_ns = kUnknownNs;  // From PyTorchEt::base_unix_ns; whole ns, nothing truncated.
  int64_t dur_ns = kUnknownNs;    // inclusive_dur.
};
// sync_dep or inter_thread_dep: `op` waited for another node; as recorded.
struct EtLinkedDep {
  uint32_t op = 0;
  bool inter_thread = false;
  uint64_t dependency = 0;  // Id.
};

struct PyTorchEt {
  std::string schema;
  int32_t rank = kNoRank;  // Where the file states it.
  int32_t world_size = 0;  // 0: not stated.
  std::vector<EtOp> ops;   // In file order, every node of the file.
  std::vector<CommArgs> comm_args;
  std::vector<ProcessGroup> groups;  // From process_group:init (pg_config); ranks global.
  StringTable strings;
  std::string cold;
  // Only of a file that is already linked: those of its nodes that have times,
  // ascending by op, and what waited for what.
  std::vector<EtLinkedOp> linked;
  std::vector<EtLinkedDep> linked_deps;
  int64_t base_unix_ns = 0;  // 0: times count from what the file's do.
};

// Reads schemas 1.0.1 (flat nodes) to 1.1.1 (attrs), with any "-chakra.x.y.z"
// suffix; a newer minor version is read as the newest known with a notice.
// INVALID_ARGUMENT names byte offset and reason: not JSON, cut off, unknown
// schema, no nodes at all, times more than 90 days apart. Strict, also: a node
// that is malformed, whose id is taken, whose parent is not in the file, or that
// waits for one that is not. Lenient: the first two are rejected ("bad_node",
// "duplicate_node_id"); one without its parent goes to the root of its thread,
// else to the process root, else becomes one ("missing_parent", a flaw: an
// observer that is stopped while an operation runs never writes that one); a
// wait for nothing is dropped ("missing_dependency", a flaw). Every other node
// is counted in `ledger` as kept. Time: linear; memory: the result plus one
// window.
absl::StatusOr<PyTorchEt> ReadPyTorchEt(ByteSource* source, const ReadOptions& options,
                                        Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_PYTORCH_ET_PYTORCH_ET_H_
