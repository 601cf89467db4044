// Removes old records from the store of series, now and then.
#ifndef CHAKRAD_SERVER_HISTORY_HISTORY_PRUNER_H_
#define CHAKRAD_SERVER_HISTORY_HISTORY_PRUNER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "storage/series_store.h"

namespace chakrad {

// Removes what is older than `max_age_ms`, and returns how many records went. Ages count from
// the newest record that is not in the future, never from the clock alone: a clock that jumps
// ahead removes nothing, and while nothing new comes, nothing old goes. The latest record of each
// key stays, and so do those with a sequence beyond `through_sequence`, which some receiver
// lacks. O(keys + records removed).
absl::StatusOr<int64_t> PruneHistory(SeriesStore* store, int64_t now_unix_ms, int64_t max_age_ms,
                                     int64_t through_sequence);

// Thread-safe. What it is given must outlive it.
class HistoryPruner {
 public:
  // `through_sequence` is asked before each run.
  HistoryPruner(SeriesStore* store, Clock* clock, int64_t max_age_ms,
                std::function<int64_t()> through_sequence);
  ~HistoryPruner();  // Stops.

  // First after a minute or `period`, whichever is shorter, then every `period`.
  void Start(std::chrono::milliseconds period);
  void Stop();

 private:
  void Loop(std::chrono::milliseconds period);

  SeriesStore* const store_;
  Clock* const clock_;
  const int64_t max_age_ms_;
  const std::function<int64_t()> through_sequence_;
  Mutex mutex_;
  CondVar stopped_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_HISTORY_HISTORY_PRUNER_H_
