// What a node costs apart from the network: recorded durations and the roofline.
#ifndef CHAKRAD_SIM_WORKLOAD_NODE_COST_H_
#define CHAKRAD_SIM_WORKLOAD_NODE_COST_H_

#include <cstdint>

#include "sim/system/system_description.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

struct ComputeCost {
  enum class Basis : uint8_t {
    kRecorded,
    kUnknown,  // No duration in the trace: charged as 0.
    kRoofline,
    kSkipped,  // Roofline of a node that moves no bytes: takes no time and no resource.
  };
  Basis basis = Basis::kRecorded;
  int64_t charged_ps = 0;  // Before the floor of one nanosecond.
  int64_t takes_ps = 0;
};

// A compute node. With the roofline (device nodes that have a work size, unless the system
// is replay_only): num_ops / min(local_mem_bw * num_ops / tensor_bytes, peak_perf), cut to
// a nanosecond. Else the recorded work_ns. At least one nanosecond, as in ASTRA-sim.
ComputeCost CostOfCompute(const SystemDescription& system, const RankTrace& trace, uint32_t node);

// A communication node that has no cost model: its recorded work_ns, at least 1 ns.
int64_t RecordedCommPs(const RankTrace& trace, uint32_t node);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_NODE_COST_H_
