// The machine that a trace is simulated on: plain data, already checked.
//
// Two kinds of file become one: ASTRA-sim's pair (astra_system_reader.h, always with
// Semantics::kAstra) and our own YAML (system_reader.h, kPhysical unless it says otherwise).
// What the semantics change is listed in sim/engine/semantics.h.
#ifndef CHAKRAD_SIM_SYSTEM_SYSTEM_DESCRIPTION_H_
#define CHAKRAD_SIM_SYSTEM_SYSTEM_DESCRIPTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "sim/system/collective_script.h"
#include "trace/model/types.h"

namespace chakrad {

enum class Semantics : uint8_t { kAstra = 0, kPhysical = 1 };
absl::string_view SemanticsName(Semantics semantics);  // "astra", "physical".

enum class NetworkBackEnd : uint8_t {
  kAnalytical = 0,  // Links are never shared; physical: a port sends one message at a time.
  kLink = 1,        // Every link is first come, first served.
};
absl::string_view NetworkBackEndName(NetworkBackEnd back_end);  // "analytical", "link".

enum class TopologyKind : uint8_t {
  kRing = 0,
  kFullyConnected = 1,
  kSwitch = 2,
  kMesh = 3,  // A ring without the link that closes it.
};
absl::string_view TopologyKindName(TopologyKind kind);  // "Ring", ...

// A limit on how fast a port may send: at most burst_bytes + bytes_per_ns * t bytes in any
// time t. Physical semantics only.
struct TokenBucket {
  double bytes_per_ns = 0;  // 0: no bucket.
  double burst_bytes = 0;
  friend bool operator==(const TokenBucket&, const TokenBucket&) = default;
};

// One level of the network. NPU ids are mixed-radix numbers of coordinates,
// dimension 0 varying fastest.
struct NetworkDim {
  TopologyKind topology = TopologyKind::kRing;
  int32_t npus_count = 1;   // Along this dimension; >= 1.
  double bytes_per_ns = 0;  // Of one link, each direction; numerically GB/s with GB = 1e9 bytes.
  double latency_ns = 0;    // Of one hop (a switch is two).
  double message_ns = 0;    // Physical: what a message holds its sender's port beside its bytes.
  TokenBucket bucket;       // Physical: of every port of this dimension.
  friend bool operator==(const NetworkDim&, const NetworkDim&) = default;
};

// A link that differs from its dimension's. A directed link along `dim` is named by the
// NPUs at its ends; of a switch by one of them, the other being -1: {src, -1} is the way up
// from src, {-1, dst} the way down to dst. Of other topologies -1 means every link of the NPU
// in that direction.
struct LinkOverride {
  int32_t dim = 0;
  int32_t src = -1;
  int32_t dst = -1;
  double bytes_per_ns = 0;  // 0: as its dimension.
  double latency_ns = -1;   // < 0: as its dimension.
  friend bool operator==(const LinkOverride&, const LinkOverride&) = default;
};

// NPUs first_npu .. last_npu, which compute more slowly (or faster) than the rest.
struct NpuOverride {
  int32_t first_npu = 0;
  int32_t last_npu = 0;
  double compute_scale = 1;  // Compute times are multiplied by it: 1.1 is 10 % slower.
  friend bool operator==(const NpuOverride&, const NpuOverride&) = default;
};

enum class AlgorithmKind : uint8_t {
  kRing = 0,
  kDirect = 1,            // To every peer, `window` messages outstanding.
  kHalvingDoubling = 2,   // Needs a power of two of ranks.
  kDoubleBinaryTree = 3,  // Always an all-reduce. Astra: needs a power of two of ranks.
  kScript = 4,            // Steps as data: a CollectiveScript. Never an AlgorithmChoice.
};
absl::string_view AlgorithmKindName(AlgorithmKind kind);  // "ring", ... as in the system file.

struct AlgorithmChoice {
  AlgorithmKind kind = AlgorithmKind::kRing;
  int32_t window = -1;  // kDirect only; -1: all peers at once.
  friend bool operator==(const AlgorithmChoice&, const AlgorithmChoice&) = default;
};

// "ring", "direct", "direct3" (a window), "halvingDoubling", "doubleBinaryTree". False when
// `text` is none of them; *choice is untouched then.
bool ParseAlgorithm(absl::string_view text, AlgorithmChoice* choice);

// How one type of collective runs: one choice a dimension, or, when `flat`, a
// single choice over all NPUs as one group ("oneRing" and the like).
struct CollectiveImplementation {
  bool flat = false;
  std::vector<AlgorithmChoice> per_dim;
  friend bool operator==(const CollectiveImplementation&,
                         const CollectiveImplementation&) = default;
};

// What a rank runs at once.
enum class IssueRule : uint8_t {
  // ASTRA-sim: one host operation, one device operation, one communication.
  kOneOfEach = 0,
  // One operation a recorded queue (host thread, device stream); communication that was
  // recorded on a queue of its own overlaps with other communication.
  kRecordedQueues = 1,
};

// How long compute takes.
enum class ComputeBasis : uint8_t {
  kRecorded = 0,
  kRoofline = 1,        // num_ops and tensor_bytes of the trace; recorded where it has none.
  kOperatorShapes = 2,  // FLOPs and bytes from operator names and tensor shapes
                        // (sim/compute); roofline, then recorded, where that does not apply.
};

struct ComputeModel {
  ComputeBasis basis = ComputeBasis::kRecorded;
  double peak_flops_per_ns = 0;    // 1 TFLOP/s is 1,000.
  double memory_bytes_per_ns = 0;  // Of device memory, for roofline and shapes.
  double recorded_scale = 1;       // Recorded compute durations are multiplied by it.
  // Multiplies the time of the operators of a class, whatever it was computed from; names of
  // classes: sim/compute/operator_class.h.
  std::vector<std::pair<std::string, double>> scale_by_class;
  friend bool operator==(const ComputeModel&, const ComputeModel&) = default;
};

// Memory that a memory node (MEM_LOAD, MEM_STORE) reaches.
struct RemoteMemory {
  enum class Kind : uint8_t {
    kNone = 0,     // Memory nodes take their recorded durations.
    kPerNpu = 1,   // Each NPU its own.
    kPerNode = 2,  // npus_per_node share one, which serves one access at a time.
    kPool = 3,     // One for all, which serves one access at a time.
  };
  Kind kind = Kind::kNone;
  double latency_ns = 0;
  double bytes_per_ns = 0;
  int32_t npus_per_node = 1;
  friend bool operator==(const RemoteMemory&, const RemoteMemory&) = default;
};

struct SystemDescription {
  Semantics semantics = Semantics::kAstra;
  NetworkBackEnd back_end = NetworkBackEnd::kAnalytical;
  IssueRule issue_rule = IssueRule::kOneOfEach;

  std::vector<NetworkDim> dims;  // At least one.
  std::vector<LinkOverride> link_overrides;
  std::vector<NpuOverride> npu_overrides;
  // Each has dims.size() choices, or one when flat.
  CollectiveImplementation all_reduce, all_gather, reduce_scatter, all_to_all;
  // The same of these; empty per_dim: as all_reduce, all_reduce, all_gather, reduce_scatter. Of
  // a choice they take the shape: ring, a chain; direct, the root with every other; the others,
  // a binomial tree. A barrier is an all-reduce of 0 bytes.
  CollectiveImplementation broadcast, reduce, gather, scatter;
  // Custom algorithms, and who runs them in place of the above: a type, or the collective nodes
  // with an id (which comes first). Values: index into `scripts`.
  std::vector<CollectiveScript> scripts;
  std::map<CollectiveType, int32_t> script_by_type;
  std::map<uint64_t, int32_t> script_by_node_id;

  // All-reduce over several dimensions: true, reduce-scatter down and all-gather
  // up with shrinking sizes ("localBWAware"); false, a full all-reduce on each
  // dimension ("baseline").
  bool local_bw_aware = true;
  int32_t splits = 1;                 // Chunks that a collective is cut into.
  int32_t active_chunks_per_dim = 1;  // Chunks of a rank that run together on a dimension.
  int32_t num_queues_per_dim = 1;     // Astra: an option beside the system file.
  int64_t endpoint_delay_ns = 10;     // Before a first send and after each receive; >= 0.
  // Of the additions of a reduction; numerically GB/s with GB = 1e9 bytes. Physical: 0 means
  // that they are free.
  double local_mem_bytes_per_ns = 0;
  ComputeModel compute;
  RemoteMemory remote_memory;
  friend bool operator==(const SystemDescription&, const SystemDescription&) = default;
};

// "GB/s" of ASTRA-sim's network file, where GB is 2^30 bytes, as bytes a nanosecond.
double BytesPerNsOfGibPerSec(double gib_per_sec);

// Product of the dimensions' npus_count.
int64_t NpusCount(const SystemDescription& system);

// "8 NPUs: Ring 2 x Switch 4".
std::string DescribeTopology(const SystemDescription& system);

// How messages name fields: as ASTRA-sim's files do ("bandwidth[0]"), or as our own
// ("network.dimensions[0].bandwidth").
enum class SystemFields : uint8_t { kAstraFiles = 0, kOurs = 1 };

// What is outside the ranges that the comments above state, and those of sim/limits.h: each
// "field: value and limit". Also: links that are not there, ranges of NPUs that overlap, more or
// fewer algorithms than dimensions, halving-doubling (astra: trees, too) on a number of NPUs that
// is no power of two, and, with astra semantics, what only physical ones have (message_ns, token
// buckets).
std::vector<std::string> FindSystemFaults(const SystemDescription& system, SystemFields fields);

// INVALID_ARGUMENT with all of them in one message ("; " between them), named as the
// semantics' own files do.
absl::Status CheckSystem(const SystemDescription& system);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SYSTEM_SYSTEM_DESCRIPTION_H_
