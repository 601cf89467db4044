// The machine that a trace is simulated on: plain data, already checked.
#ifndef CHAKRAD_SIM_SYSTEM_SYSTEM_DESCRIPTION_H_
#define CHAKRAD_SIM_SYSTEM_SYSTEM_DESCRIPTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace chakrad {

enum class TopologyKind : uint8_t { kRing = 0, kFullyConnected = 1, kSwitch = 2 };
absl::string_view TopologyKindName(TopologyKind kind);  // "Ring", ...

// One level of the network. NPU ids are mixed-radix numbers of coordinates,
// dimension 0 varying fastest.
struct NetworkDim {
  TopologyKind topology = TopologyKind::kRing;
  int32_t npus_count = 1;            // Along this dimension; >= 1.
  double bandwidth_gib_per_sec = 0;  // Of one link; "GB/s" of the file is 2^30 bytes a second.
  double latency_ns = 0;             // Of one hop.
  friend bool operator==(const NetworkDim&, const NetworkDim&) = default;
};

enum class AlgorithmKind : uint8_t {
  kRing = 0,
  kDirect = 1,            // To every peer, `window` messages outstanding.
  kHalvingDoubling = 2,   // Needs a power of two of ranks.
  kDoubleBinaryTree = 3,  // Needs a power of two of ranks; always an all-reduce.
};
absl::string_view AlgorithmKindName(AlgorithmKind kind);  // "ring", ... as in the system file.

struct AlgorithmChoice {
  AlgorithmKind kind = AlgorithmKind::kRing;
  int32_t window = -1;  // kDirect only; -1: all peers at once.
  friend bool operator==(const AlgorithmChoice&, const AlgorithmChoice&) = default;
};

// How one type of collective runs: one choice a dimension, or, when `flat`, a
// single choice over all NPUs as one group ("oneRing" and the like).
struct CollectiveImplementation {
  bool flat = false;
  std::vector<AlgorithmChoice> per_dim;
  friend bool operator==(const CollectiveImplementation&,
                         const CollectiveImplementation&) = default;
};

struct SystemDescription {
  std::vector<NetworkDim> dims;  // At least one.
  // Each has dims.size() choices, or one when flat.
  CollectiveImplementation all_reduce, all_gather, reduce_scatter, all_to_all;

  // All-reduce over several dimensions: true, reduce-scatter down and all-gather
  // up with shrinking sizes ("localBWAware"); false, a full all-reduce on each
  // dimension ("baseline").
  bool local_bw_aware = true;
  int32_t splits = 1;                  // Chunks that a collective is cut into.
  int32_t active_chunks_per_dim = 1;   // Chunks of a rank that run together on a dimension.
  int32_t num_queues_per_dim = 1;      // Not part of the system file.
  int64_t endpoint_delay_ns = 10;      // Before a first send and after each receive; >= 0.
  double local_mem_bw_gb_per_sec = 0;  // Of reductions and the roofline; GB = 1e9 bytes.
  bool roofline_enabled = false;       // Compute times from num_ops and tensor_bytes.
  bool replay_only = false;            // Recorded durations even so.
  double peak_perf_tflops = 0;         // For the roofline.
  friend bool operator==(const SystemDescription&, const SystemDescription&) = default;
};

// Product of the dimensions' npus_count.
int64_t NpusCount(const SystemDescription& system);

// "8 NPUs: Ring 2 x Switch 4".
std::string DescribeTopology(const SystemDescription& system);

// Checks the ranges that the comments above state, and those of sim/limits.h.
// INVALID_ARGUMENT with every fault in one message ("; " between them).
absl::Status CheckSystem(const SystemDescription& system);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SYSTEM_SYSTEM_DESCRIPTION_H_
