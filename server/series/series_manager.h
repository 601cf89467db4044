// Turns every stored trace and every finished simulation into its record of series, in the
// background, and shows the latest of each key on /metrics.
//
// One thread walks the traces in the order in which they were stored, behind a durable cursor:
// records and cursor are one batch, so that a crash loses nothing and repeats nothing. Many small
// traces share a synced write. A store of before this existed is worked through from its first
// trace on. What cannot be turned into series (a damaged trace, one without times, one that is too
// large, one that was deleted meanwhile) is counted by reason and passed over; where the store
// fails, the thread tries again, and passes over a source that it cannot give time after time
// while it takes the records of others. A large trace is marked before it is looked at, so that
// one in which the daemon ends twice is passed over as well. Traces and simulations wait for each
// other for a batch at most, also when one of them fails.
#ifndef CHAKRAD_SERVER_SERIES_SERIES_MANAGER_H_
#define CHAKRAD_SERVER_SERIES_SERIES_MANAGER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "server/limits.h"
#include "server/metrics.h"
#include "server/series/latest_series.h"
#include "server/series/make_record.h"
#include "storage/job_store.h"
#include "storage/series_store.h"
#include "storage/trace_store.h"

namespace chakrad {

struct SeriesOptions {
  int64_t metric_keys = 10'000;                   // Shown on /metrics at most.
  int64_t metric_expiry_seconds = 7 * 24 * 3600;  // After a key's record arrived.
  int64_t marked_nodes = kSeriesMarkedNodes;      // Of a trace that is marked, or more.
};

// Thread-safe. What it is given must outlive it.
class SeriesManager {
 public:
  // `jobs_ended`: a number that grows whenever a job ends.
  SeriesManager(TraceStore* traces, JobStore* jobs, SeriesStore* series,
                std::function<int64_t()> jobs_ended, Clock* clock, Metrics* metrics,
                const SeriesOptions& options);
  ~SeriesManager();  // Stops.

  // Shows what the store has of an earlier life, and starts the thread. What the store does not
  // give is logged, counted and tried again by the thread.
  void Start();
  // Lets the thread end; does not wait.
  void StartStopping();
  // Ends after the trace at hand; what was made is stored.
  void Stop();

  // Everything that there is now, in the calling thread: for tests, instead of Start. Errors of
  // the store; another call goes on from there.
  absl::Status CatchUp();

  // Tells the metrics how many keys and how many pending traces there are.
  void Publish();
  // The job families in Prometheus's text format, in pieces, until `write` returns false.
  void WriteText(const std::function<bool(absl::string_view)>& write);

 private:
  // Records that are stored together.
  struct Batch {
    std::vector<MadeRecord> made;
    int64_t cursor = 0;
    int64_t begun_steady_ns = 0;
    int64_t looked_at_count = 0;
  };
  // State of a job by creation and id; none of one whose record is damaged.
  using JobStates = std::map<std::pair<int64_t, std::string>, std::optional<JobRecord::State>>;

  // One turn each; true: there is more to do at once.
  absl::StatusOr<bool> ShowStored();
  absl::StatusOr<bool> TakeTraces();
  absl::StatusOr<bool> TakeJobs();

  absl::Status ReadTraceCursor(const TraceCards& cards);
  absl::Status ReadJobCursor();
  absl::Status TakeTrace(const TraceCard& card, Batch* batch);
  // Adds what the source gives; counts it where it gives nothing. UNAVAILABLE: try again.
  absl::Status Take(const std::string& source, const char* kind,
                    const std::function<absl::StatusOr<MadeRecord>()>& make, Batch* batch);
  void Skip(absl::string_view source, const char* reason, const absl::Status& why);
  absl::Status Flush(const char* cursor_name, int64_t cursor, Batch* batch);
  absl::Status FlushTraces(Batch* batch);
  absl::StatusOr<std::vector<JobRecord>> UnfinishedJobs();
  absl::StatusOr<JobStates> NewJobs(const std::set<std::string>& unfinished);
  bool IsFull(const Batch& batch);
  bool IsStopping();
  void TellFailure(const absl::Status& status);
  void Loop();

  TraceStore* const traces_;
  JobStore* const jobs_;
  SeriesStore* const series_;
  const std::function<int64_t()> jobs_ended_;
  Clock* const clock_;
  Metrics* const metrics_;
  const SeriesOptions options_;
  LatestSeries latest_;

  // create_unix_ns of the last trace that was dealt with.
  std::atomic<int64_t> trace_cursor_;

  // Of the one thread that works.
  bool has_shown_ = false;
  bool has_trace_cursor_ = false;
  bool has_job_cursor_ = false;
  int64_t job_cursor_ = 0;  // All jobs created up to then have been dealt with.
  std::shared_ptr<const TraceCards> seen_cards_;
  int64_t seen_jobs_ended_ = -1;
  std::set<std::string> done_jobs_;          // Dealt with, and created after job_cursor_.
  std::set<std::string> unfinished_jobs_;    // When they were last looked at.
  std::map<std::string, int> failed_reads_;  // Of a source that could not be read.
  std::string crashed_trace_;                // The marked one that the last process left behind,
  int crashes_count_ = 0;                    // and in how many processes in a row.

  Mutex mutex_;
  CondVar stopped_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_SERIES_SERIES_MANAGER_H_
