// How many analyses run at once: each holds its whole timeline in memory.
#ifndef CHAKRAD_SERVER_RPC_ANALYSIS_GATE_H_
#define CHAKRAD_SERVER_RPC_ANALYSIS_GATE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "server/metrics.h"

namespace chakrad {

// Thread-safe. `metrics` must outlive it.
class AnalysisGate {
 public:
  AnalysisGate(int running_max, int waiting_max, std::chrono::milliseconds patience,
               Metrics* metrics)
      : running_max_(running_max),
        waiting_max_(waiting_max),
        patience_(patience),
        metrics_(metrics) {}

  // Runs `analysis` once fewer than `running_max` run and those that came earlier have had their
  // turn, and returns what it says.
  // RESOURCE_EXHAUSTED, and it does not run: `waiting_max` wait already, or it was not its turn
  // within `patience`. CANCELLED: `gone`, asked a few times a second, says that nobody waits for
  // the answer any more.
  absl::Status Run(absl::string_view method, const std::function<bool()>& gone,
                   const std::function<absl::Status()>& analysis);

 private:
  absl::Status Enter(const std::function<bool()>& gone);
  void Leave();
  int waiting_count() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<int>(waiting_.size());
  }

  const int running_max_;
  const int waiting_max_;
  const std::chrono::milliseconds patience_;
  Metrics* const metrics_;
  Mutex mutex_;
  CondVar left_;
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<int64_t> waiting_ ABSL_GUARDED_BY(mutex_);  // Their tickets: the least is next.
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_ANALYSIS_GATE_H_
