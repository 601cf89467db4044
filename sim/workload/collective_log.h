// The collectives of a run, one by one, as many as are asked for.
#ifndef CHAKRAD_SIM_WORKLOAD_COLLECTIVE_LOG_H_
#define CHAKRAD_SIM_WORKLOAD_COLLECTIVE_LOG_H_

#include <cstdint>
#include <vector>

#include "sim/simulate.h"

namespace chakrad {

// Keeps the first `max_count` by (end, group, number), in whatever order they are added.
// Amortised O(log max_count) an addition; at most 2 * max_count are held.
class CollectiveLog {
 public:
  explicit CollectiveLog(int64_t max_count) : max_count_(max_count) {}
  void Add(const CollectiveResult& result);
  // Sorted. Call once.
  std::vector<CollectiveResult> Take(int64_t* dropped_count);

 private:
  void Cut();

  int64_t max_count_;
  int64_t added_count_ = 0;
  std::vector<CollectiveResult> kept_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_COLLECTIVE_LOG_H_
