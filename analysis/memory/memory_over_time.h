// Memory that a rank's tensors take over a timeline: docs/analysis.md#memory-over-time.
#ifndef CHAKRAD_ANALYSIS_MEMORY_MEMORY_OVER_TIME_H_
#define CHAKRAD_ANALYSIS_MEMORY_MEMORY_OVER_TIME_H_

#include <cstdint>
#include <vector>

#include "analysis/timeline/timeline.h"
#include "trace/memory/tensor_lifetimes.h"

namespace chakrad {

// One entry a device on which tensors lived; times are the timeline's. Tensors and their
// operators are those of the rank's cold block: none without it, or where no operator names
// tensors. An operation without an interval (it took no time) counts at the start of the one before
// it on its queue. `rank`: whole, not cut to a step. At most `max_steps` >= 1 steps a device.
// O(bytes of the cold block + nodes log nodes). Thread-safe: only reads.
std::vector<MemoryUse> MemoryOverTime(const RankTimeline& rank, int64_t max_steps);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_MEMORY_MEMORY_OVER_TIME_H_
