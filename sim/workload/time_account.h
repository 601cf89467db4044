// Where one rank's time goes, kept while it runs: as analysis/exposed_comm.h defines it, without
// keeping an interval.
#ifndef CHAKRAD_SIM_WORKLOAD_TIME_ACCOUNT_H_
#define CHAKRAD_SIM_WORKLOAD_TIME_ACCOUNT_H_

#include <cstdint>

#include "sim/simulate.h"
#include "trace/model/timeline.h"

namespace chakrad {

// Begin and End must be called in order of time. O(1) each. Not thread-safe.
class TimeAccount {
 public:
  void Begin(int64_t now_ps, IntervalKind kind) {
    Advance(now_ps);
    ++running_[static_cast<int>(kind)];
  }
  void End(int64_t now_ps, IntervalKind kind) {
    Advance(now_ps);
    --running_[static_cast<int>(kind)];
  }
  // Recorded idle time of the host (Python, data loading), while nothing else explains it.
  void BeginGap(int64_t now_ps) {
    Advance(now_ps);
    ++gaps_;
  }
  void EndGap(int64_t now_ps) {
    Advance(now_ps);
    --gaps_;
  }

  // The rank's last node ended at rank_end_ps, the run at run_end_ps.
  RankTime Finish(int64_t rank_end_ps, int64_t run_end_ps) const {
    RankTime time = time_;
    time.idle_ps[static_cast<int>(IdleCause::kFinished)] = run_end_ps - rank_end_ps;
    return time;
  }

 private:
  void Advance(int64_t now_ps) {
    const int64_t dur_ps = now_ps - since_ps_;
    since_ps_ = now_ps;
    if (dur_ps == 0) return;
    const bool compute = running_[static_cast<int>(IntervalKind::kCompute)] > 0;
    const bool comm = running_[static_cast<int>(IntervalKind::kComm)] > 0;
    if (comm) time_.comm_ps += dur_ps;
    if (compute) {
      time_.compute_ps += dur_ps;
    } else if (comm) {
      time_.exposed_comm_ps += dur_ps;
    } else if (running_[static_cast<int>(IntervalKind::kMemory)] > 0) {
      time_.exposed_memory_ps += dur_ps;
    } else {
      const bool host = gaps_ > 0 || running_[static_cast<int>(IntervalKind::kHost)] > 0;
      time_.idle_ps[static_cast<int>(host ? IdleCause::kHost : IdleCause::kQueue)] += dur_ps;
    }
  }

  RankTime time_;
  int64_t since_ps_ = 0;
  int32_t running_[kIntervalKindsCount] = {};
  int32_t gaps_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_TIME_ACCOUNT_H_
