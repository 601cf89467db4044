// Which operations took the time, by name. Definitions: docs/analysis.md#kernels.
#ifndef CHAKRAD_ANALYSIS_KERNELS_KERNEL_STATS_H_
#define CHAKRAD_ANALYSIS_KERNELS_KERNEL_STATS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/timeline/timeline.h"

namespace chakrad {

// Device operations of one name and kind (of a rank without a device, host operations), all ranks
// together. Times are sums: operations that run at the same time count each.
struct KernelStats {
  std::string name;  // Bytes as recorded.
  IntervalKind kind = IntervalKind::kCompute;
  int64_t count = 0;
  int64_t total_ps = 0;
  int64_t min_ps = 0;
  int64_t max_ps = 0;
  double mean_ps = 0;
  double stddev_ps = 0;  // Of all of them, not of a sample: 0 for one.
};

struct KernelBreakdown {
  std::vector<KernelStats> kernels;  // By total, largest first; of equal ones by name and kind.
  int64_t compute_ps = 0;            // Sums over all of them, saturating.
  int64_t comm_ps = 0;
  int64_t memory_ps = 0;
  int64_t count = 0;

  int64_t total_ps() const;  // Of the three.
};

// Intervals of kHost are left out. An interval that is cut at a step's end counts with what is
// left. O(intervals + names log names). Thread-safe: only reads.
KernelBreakdown BreakDownKernels(const JobTimeline& job);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_KERNELS_KERNEL_STATS_H_
