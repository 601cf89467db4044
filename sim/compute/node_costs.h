// How long each compute node of a rank takes on a described machine: from the recorded
// duration, from num_ops and tensor bytes (roofline), or from operator names and tensor
// shapes. Definitions and formulas: docs/compute_model.md.
#ifndef CHAKRAD_SIM_COMPUTE_NODE_COSTS_H_
#define CHAKRAD_SIM_COMPUTE_NODE_COSTS_H_

#include <cstdint>
#include <vector>

#include "common/status.h"
#include "sim/system/system_description.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

struct ComputeCosts {
  // Of a node that the roofline leaves out: it takes no time and no resource. Astra only.
  static constexpr int64_t kSkipped = -1;

  // By node of the trace: what a compute node takes, before NpuOverride::compute_scale; at most
  // kMaxDelayPs. 0 of nodes that are no compute nodes.
  std::vector<int64_t> takes_ps;

  // Compute nodes by what their time comes from; the counts add up to the compute nodes.
  int64_t recorded_count = 0;
  int64_t unknown_count = 0;  // No duration in the trace: charged 0.
  int64_t roofline_count = 0;
  int64_t skipped_count = 0;
  int64_t shapes_count = 0;
  int64_t inside_count = 0;  // Nested in an operator whose shapes give the time of the whole.
  // Device compute nodes (host ones where the rank has no others) for which the basis that the
  // system wants had nothing to go by, among the recorded and the unknown.
  int64_t without_size_count = 0;
  bool charged_any_time = false;  // Before the floor of a nanosecond.
};

// Astra: recorded and roofline times as in ASTRA-sim, each cut to a nanosecond and at least one;
// the roofline skips a node of 0 bytes. Physical: to the nearest picosecond, no floor; the
// roofline is max(num_ops / peak, bytes / bandwidth), and a node without both has no size.
// ComputeModel::recorded_scale and scale_by_class apply to what the rank computes on: its device
// operations, or those of the host where it has no others.
// INVALID_ARGUMENT: a factor that is not finite and positive, a class that does not exist.
// O(nodes + edges + bytes of cold blocks, read for kOperatorShapes only); 8 bytes a node.
// Thread-safe: only reads.
absl::StatusOr<ComputeCosts> CostComputeNodes(const SystemDescription& system,
                                              const RankTrace& trace);

// A communication node that has no cost model: its recorded work_ns; astra, at least 1 ns.
int64_t RecordedCommPs(Semantics semantics, const RankTrace& trace, uint32_t node);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COMPUTE_NODE_COSTS_H_
