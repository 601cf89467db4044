// Why nothing ran on a rank for a while: docs/analysis.md#idle-by-cause.
#ifndef CHAKRAD_ANALYSIS_BREAKDOWN_IDLE_CAUSES_H_
#define CHAKRAD_ANALYSIS_BREAKDOWN_IDLE_CAUSES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/timeline/timeline.h"

namespace chakrad {

// What a device or a thread takes, at most, to go on once all that it waited for is there: 1 to 10
// us are usual. Of 7,747 operations of a rank of 16 that had been launched 160 ms before, most
// began 80 us after the one before them: that is no latency.
inline constexpr int64_t kMaxLatencyPs = 20'000'000;

// The parts of a gap; they add up to its length.
struct GapCauses {
  int64_t host_bound_ps = 0;
  int64_t kernel_wait_ps = 0;
  int64_t sync_ps = 0;
  int64_t other_ps = 0;
};

// `rank` must outlive it. Not thread-safe.
class IdleCauses {
 public:
  explicit IdleCauses(const RankTimeline& rank) : rank_(rank) {}

  // Of [start_ps, end_ps), in which no device work ran: what `next`, which started at end_ps,
  // waited for. O(dependencies of `next`); the first call O(intervals + edges).
  GapCauses Before(uint32_t next, int64_t start_ps, int64_t end_ps);

 private:
  void Prepare();
  int64_t LaunchedAt(uint32_t host, uint32_t next, int64_t start_ps, int64_t end_ps) const;
  int64_t OutOfSyncAt(uint16_t thread, int64_t start_ps, int64_t launched_ps) const;

  const RankTimeline& rank_;
  bool prepared_ = false;
  NodeTimes times_;
  // Of each thread, the starts of operations before which the host had waited for a device
  // operation or communication; sorted.
  std::vector<std::pair<uint16_t, int64_t>> out_of_sync_;
  std::vector<bool> host_waited_for_;  // By node.
};

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_BREAKDOWN_IDLE_CAUSES_H_
