// The collectives of a run, one by one, as many as are asked for.
#ifndef CHAKRAD_SIM_WORKLOAD_COLLECTIVE_LOG_H_
#define CHAKRAD_SIM_WORKLOAD_COLLECTIVE_LOG_H_

#include <cstdint>
#include <vector>

#include "sim/simulate.h"

namespace chakrad {

// Bytes of data that the operation is about, and of those the share that the busiest rank has
// to send: algorithm bandwidth and bus bandwidth as nccl-tests define them
// (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md). `bytes`: as CommOp::bytes.
double AlgorithmBytes(CollectiveType type, int64_t bytes, int32_t ranks_count);
double BusBytes(CollectiveType type, int64_t bytes, int32_t ranks_count);

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
