// Memory that a rank's tensors take over time, from the tensors that each operator of a
// recorded PyTorch trace names. Definitions: docs/compute_model.md.
#ifndef CHAKRAD_TRACE_MEMORY_TENSOR_LIFETIMES_H_
#define CHAKRAD_TRACE_MEMORY_TENSOR_LIFETIMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trace/model/rank_trace.h"

namespace chakrad {

// One storage from its allocation to its last use. Storage ids are reused after a free: equal
// ids may be several lives.
struct TensorLife {
  uint32_t device = 0;     // Index into TensorLifetimes::devices.
  uint32_t first = kNone;  // The innermost operator that it first comes out of; kNone: it was
                           // there before the trace.
  uint32_t last = kNone;   // The last operator that names it; kNone: it stays.
  int64_t bytes = 0;       // What its tensors span; the storage itself may be larger.
  friend bool operator==(const TensorLife&, const TensorLife&) = default;
};

struct TensorLifetimes {
  std::vector<std::string> devices;  // As recorded: "cuda:0"; in order of first sight.
  std::vector<TensorLife> lives;     // In order of their beginnings.
};

// From the host operations' argument texts in the cold block, in recorded order (of nodes without
// times: the order of the trace, callers around what they call). No lives where a trace has no
// such texts. O(bytes of the cold block + nodes log nodes).
TensorLifetimes FindTensorLifetimes(const RankTrace& trace);

struct MemoryStep {
  int64_t at_ps = 0;
  int64_t bytes = 0;  // From then on, up to the next step.
  friend bool operator==(const MemoryStep&, const MemoryStep&) = default;
};

struct MemoryUse {
  std::string device;
  int64_t lives_count = 0;
  int64_t resident_bytes = 0;  // Of what was there before, and stays.
  int64_t peak_bytes = 0;
  int64_t peak_at_ps = 0;         // The first time.
  std::vector<MemoryStep> steps;  // Ascending times.
  bool steps_coarse = false;      // More changes than steps: each step is the most in its time.
};

// One entry a device. `start_ps` and `end_ps`: of each node of the trace, recorded or
// simulated; a node with start_ps < 0 did not run, and takes its lives with it. A life is
// [start of first, end of last): memory given back at a time is free at that time.
// At most `max_steps` >= 1 steps a device. O(lives log lives).
std::vector<MemoryUse> ComputeMemoryUse(const TensorLifetimes& lifetimes,
                                        const std::vector<int64_t>& start_ps,
                                        const std::vector<int64_t>& end_ps, int64_t max_steps);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MEMORY_TENSOR_LIFETIMES_H_
