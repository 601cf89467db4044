// How the communication of two timelines compares, by type and size. See docs/analysis.md#diff.
#ifndef CHAKRAD_ANALYSIS_DIFF_DIFF_COLLECTIVES_H_
#define CHAKRAD_ANALYSIS_DIFF_DIFF_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/collectives/collective_stats.h"

namespace chakrad {

// Counts and bytes of a rank: sums divided by how many ranks the side has.
struct CollectiveChange {
  absl::string_view type;         // "ALL_REDUCE", ..., "SEND", "RECV".
  absl::string_view size_bucket;  // SizeBucketOf.
  double before_count = 0;
  double after_count = 0;
  double before_bytes = 0;
  double after_bytes = 0;
  double before_bus_bandwidth = 0;  // Bytes a second; 0: none, or not known.
  double after_bus_bandwidth = 0;
};

// What either side has, by type and size, in the order of ComputeCollectiveStats. The views are of
// constants. O(types * sizes).
std::vector<CollectiveChange> DiffCollectives(const std::vector<CollectiveStats>& before,
                                              size_t before_ranks_count,
                                              const std::vector<CollectiveStats>& after,
                                              size_t after_ranks_count);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_DIFF_DIFF_COLLECTIVES_H_
