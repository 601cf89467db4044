// The durable queue of jobs and the pool of threads that runs them. A job that
// was created ends exactly once as succeeded, failed or cancelled; a restart
// takes up what was pending or running. An unfinished job leases the traces that it
// reads, so that nobody deletes them.
#ifndef CHAKRAD_SERVER_JOBS_JOB_MANAGER_H_
#define CHAKRAD_SERVER_JOBS_JOB_MANAGER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "server/jobs/job_runner.h"
#include "server/jobs/simulation.h"
#include "server/limits.h"
#include "server/metrics.h"
#include "storage/job_store.h"
#include "storage/trace_store.h"

namespace chakrad {

// A job at one moment.
struct JobView {
  JobRecord record;
  SimProgress progress;
};

// Thread-safe. What it is given must outlive it.
class JobManager {
 public:
  JobManager(JobStore* jobs, TraceStore* traces, Clock* clock, Metrics* metrics, int workers,
             const ServerLimits& limits);
  // Drains with no time left for running jobs, unless Drain was called.
  ~JobManager();

  // Takes up the unfinished jobs of an earlier life and starts the workers.
  absl::Status Start();

  // INVALID_ARGUMENT for a system that does not parse or does not fit the trace
  // (both NPU and rank counts in the message), NOT_FOUND for the trace,
  // RESOURCE_EXHAUSTED for a full queue.
  absl::StatusOr<JobView> Create(const std::string& request_id, const SimulationSpec& spec);
  absl::StatusOr<JobView> Get(absl::string_view id);
  absl::StatusOr<JobView> Cancel(absl::string_view id);

  // Calls `event` with the job now and after each change, at most every
  // kProgressPeriodMs for progress alone, until it is finished, `event` returns
  // false, or `gone` (asked a few times a second) returns true. UNAVAILABLE when
  // the daemon drains first.
  absl::Status Watch(absl::string_view id, const std::function<bool()>& gone,
                     const std::function<bool(const JobView&)>& event);

  // Hands out stored timeline chunks in order, following a running job to its
  // end. Ends as Watch does.
  absl::Status StreamTimeline(absl::string_view id, const std::function<bool()>& gone,
                              const std::function<bool(const std::string&)>& chunk);

  // Grows whenever a job has ended.
  int64_t ended_count() const { return ended_; }

  // No new jobs; watchers end; running jobs get `grace` to finish and are put
  // back as pending then. Returns when no worker runs.
  void Drain(std::chrono::milliseconds grace);

 private:
  using Leases = std::vector<std::unique_ptr<TraceLease>>;
  struct LiveJob {
    JobView view;
    SimulationSpec spec;
    int64_t version = 0;  // Grows with every change that a watcher wants to see.
    std::chrono::steady_clock::time_point progress_told_at;
    int64_t timeline_chunks = 0;
    Leases leases;
  };
  using LiveJobs = std::map<std::string, std::shared_ptr<LiveJob>>;

  std::shared_ptr<LiveJob> FindLive(absl::string_view id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of the trace and those of custom algorithms.
  absl::StatusOr<Leases> LeaseTraces(const SimulationSpec& spec);
  absl::Status CheckFits(const SimulationSpec& spec);
  void WorkerLoop();
  void RunOne(const std::shared_ptr<LiveJob>& job);
  JobHooks HooksOf(const std::shared_ptr<LiveJob>& job);
  void Conclude(const std::shared_ptr<LiveJob>& job, const absl::StatusOr<std::string>& result);
  void PublishCounts() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  JobStore* const jobs_;
  TraceStore* const traces_;
  Clock* const clock_;
  Metrics* const metrics_;
  const int workers_;
  const ServerLimits limits_;

  Mutex mutex_;
  CondVar changed_;  // Any job, the queue, or one of the flags below.
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool put_back_ ABSL_GUARDED_BY(mutex_) = false;  // Running jobs stop and become pending.
  LiveJobs live_ ABSL_GUARDED_BY(mutex_);          // The unfinished ones, by id.
  std::deque<std::string> queue_ ABSL_GUARDED_BY(mutex_);
  int64_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<int64_t> ended_{0};
  std::vector<std::thread> threads_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_JOBS_JOB_MANAGER_H_
