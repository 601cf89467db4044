#include "server/jobs/job_manager.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status.h"
#include "server/ids.h"
#include "server/log.h"

namespace chakrad {
namespace {

constexpr std::chrono::milliseconds kPoll{kProgressPeriodMs};

absl::Status Draining() {
  return absl::UnavailableError("the daemon is shutting down; try again soon");
}

absl::string_view StateName(JobRecord::State state) {
  switch (state) {
    case JobRecord::State::kPending:
      return "pending";
    case JobRecord::State::kRunning:
      return "running";
    case JobRecord::State::kSucceeded:
      return "succeeded";
    case JobRecord::State::kFailed:
      return "failed";
    case JobRecord::State::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

// Of the simulated world; absent where only the run can tell.
std::optional<int64_t> RanksCount(const TraceInfo& trace, const SimulationSpec& spec) {
  if (!spec.projection.has_value()) return trace.world_size;
  if (spec.projection->multiply_by > 0) {
    return int64_t{trace.world_size} * spec.projection->multiply_by;
  }
  if (spec.projection->divide_by > 0) return trace.world_size / spec.projection->divide_by;
  return std::nullopt;
}

absl::Status CheckRanks(const TraceInfo& trace, const SimulationSpec& spec,
                        const SystemDescription& system) {
  const int64_t npus_count = NpusCount(system);
  const std::optional<int64_t> ranks_count = RanksCount(trace, spec);
  if (ranks_count.has_value() && npus_count != *ranks_count) {
    return absl::InvalidArgumentError(absl::StrCat(
        spec.system_yaml.empty() ? "network_yaml" : "system_yaml", ": the topology has ",
        npus_count, " NPUs, and trace ", trace.id, " has ", *ranks_count, " ranks",
        spec.projection.has_value() ? " as projected" : "", "; they must be equal"));
  }
  if (static_cast<int64_t>(trace.ranks.size()) == trace.world_size ||
      spec.replicate_missing_ranks) {
    return absl::OkStatus();
  }
  std::vector<int32_t> traced;
  for (const RankSummary& rank : trace.ranks) traced.push_back(rank.rank);
  constexpr size_t kShown = 16;
  const size_t shown = std::min(traced.size(), kShown);
  return absl::InvalidArgumentError(absl::StrCat(
      "trace ", trace.id, " has ", trace.ranks.size(), " of its world's ", trace.world_size,
      " ranks (",
      absl::StrJoin(traced.begin(), traced.begin() + static_cast<ptrdiff_t>(shown), ", "),
      shown < traced.size() ? ", ..." : "",
      "); upload the others, or ask for replicate_missing_ranks to let copies stand in"));
}

}  // namespace

JobManager::JobManager(JobStore* jobs, TraceStore* traces, Clock* clock, Metrics* metrics,
                       int workers, const ServerLimits& limits)
    : jobs_(jobs),
      traces_(traces),
      clock_(clock),
      metrics_(metrics),
      workers_(workers),
      limits_(limits) {}

JobManager::~JobManager() { Drain(std::chrono::milliseconds(0)); }

absl::Status JobManager::Start() {
  ASSIGN_OR_RETURN(std::vector<JobRecord> unfinished, jobs_->ListUnfinished());
  MutexLock lock(&mutex_);
  for (JobRecord& record : unfinished) {
    const absl::StatusOr<SimulationSpec> decoded = DecodeSpec(record.spec);
    if (!decoded.ok()) {  // Damage to one job is no reason to keep all others waiting.
      record.state = JobRecord::State::kFailed;
      record.error = absl::StrCat("its specification is damaged: ", decoded.status().message());
      record.end_unix_ns = clock_->NowUnixNs();
      RETURN_IF_ERROR(jobs_->Update(record));
      continue;
    }
    const SimulationSpec& spec = *decoded;
    if (record.cancel_asked) {  // A crash came before it could end.
      record.state = JobRecord::State::kCancelled;
      record.end_unix_ns = clock_->NowUnixNs();
      RETURN_IF_ERROR(jobs_->Update(record));
      continue;
    }
    if (record.state == JobRecord::State::kRunning) {  // A crash cut it off.
      record.state = JobRecord::State::kPending;
      record.start_unix_ns = 0;
      RETURN_IF_ERROR(jobs_->Update(record));
    }
    auto job = std::make_shared<LiveJob>();
    job->view.record = record;
    job->spec = spec;
    absl::StatusOr<Leases> leases = LeaseTraces(spec);
    // Without its trace the job fails when it runs, and says why.
    if (leases.ok()) job->leases = *std::move(leases);
    live_[record.id] = std::move(job);
    queue_.push_back(record.id);
  }
  PublishCounts();
  for (int i = 0; i < workers_; ++i) threads_.emplace_back([this] { WorkerLoop(); });
  return absl::OkStatus();
}

absl::StatusOr<JobManager::Leases> JobManager::LeaseTraces(const SimulationSpec& spec) {
  Leases leases;
  ASSIGN_OR_RETURN(leases.emplace_back(), traces_->Lease(spec.trace_id));
  for (const CustomAlgorithm& algorithm : spec.custom_algorithms) {
    auto lease = traces_->Lease(algorithm.trace_id);
    if (!lease.ok()) return Annotate(lease.status(), "custom_algorithms");
    leases.push_back(*std::move(lease));
  }
  return leases;
}

absl::Status JobManager::CheckFits(const SimulationSpec& spec) {
  ASSIGN_OR_RETURN(const SystemDescription system, SystemOf(spec));
  ASSIGN_OR_RETURN(const TraceInfo trace, traces_->GetInfo(spec.trace_id));
  return CheckRanks(trace, spec, system);
}

absl::StatusOr<JobView> JobManager::Create(const std::string& request_id,
                                           const SimulationSpec& spec) {
  if (!request_id.empty()) {
    RETURN_IF_ERROR(CheckRequestId(request_id));
    // Before anything that may have changed since the first request.
    const absl::StatusOr<JobRecord> existing = jobs_->FindByRequestId(request_id);
    if (existing.ok()) return Get(existing->id);
    if (!absl::IsNotFound(existing.status())) return existing.status();
  }
  RETURN_IF_ERROR(CheckFits(spec));
  ASSIGN_OR_RETURN(Leases leases, LeaseTraces(spec));
  JobView view;
  view.record.id = absl::StrCat("j-", RandomId());
  view.record.request_id = request_id;
  view.record.trace_id = spec.trace_id;
  view.record.create_unix_ns = clock_->NowUnixNs();
  view.record.spec = EncodeSpec(spec);
  {
    MutexLock lock(&mutex_);
    if (draining_) return Draining();
    if (static_cast<int64_t>(queue_.size()) >= limits_.pending_jobs) {
      return absl::ResourceExhaustedError(
          absl::StrCat(queue_.size(), " jobs wait already, the most allowed (--max_pending_jobs)"));
    }
    ASSIGN_OR_RETURN(const JobRecord stored, jobs_->Create(view.record));
    if (stored.id == view.record.id) {
      auto job = std::make_shared<LiveJob>();
      job->view = view;
      job->spec = spec;
      job->leases = std::move(leases);
      live_[stored.id] = std::move(job);
      queue_.push_back(stored.id);
      PublishCounts();
      changed_.NotifyAll();
      return view;
    }
    view.record = stored;
  }
  return Get(view.record.id);  // An earlier request had this id.
}

std::shared_ptr<JobManager::LiveJob> JobManager::FindLive(absl::string_view id) {
  const auto it = live_.find(std::string(id));
  return it == live_.end() ? nullptr : it->second;
}

absl::StatusOr<JobView> JobManager::Get(absl::string_view id) {
  {
    MutexLock lock(&mutex_);
    if (const auto job = FindLive(id)) return job->view;
  }
  JobView view;
  ASSIGN_OR_RETURN(view.record, jobs_->Get(id));
  return view;
}

absl::StatusOr<JobView> JobManager::Cancel(absl::string_view id) {
  {
    MutexLock lock(&mutex_);
    if (const auto job = FindLive(id)) {
      JobRecord cancelled = job->view.record;
      cancelled.cancel_asked = true;
      if (cancelled.state != JobRecord::State::kPending) {  // The worker will look.
        RETURN_IF_ERROR(jobs_->Update(cancelled));
        job->view.record.cancel_asked = true;
        return job->view;
      }
      cancelled.state = JobRecord::State::kCancelled;
      cancelled.end_unix_ns = clock_->NowUnixNs();
      RETURN_IF_ERROR(jobs_->Update(cancelled));
      job->view.record = cancelled;
      ++job->version;
      queue_.erase(std::remove(queue_.begin(), queue_.end(), id), queue_.end());
      live_.erase(cancelled.id);
      job->leases.clear();  // Watchers may hold the job for a while yet.
      ++ended_;
      PublishCounts();
      changed_.NotifyAll();
      return job->view;
    }
  }
  ASSIGN_OR_RETURN(const JobRecord record, jobs_->Get(id));
  return absl::FailedPreconditionError(
      absl::StrCat("job ", id, " has ", StateName(record.state), " already"));
}

absl::Status JobManager::Watch(absl::string_view id, const std::function<bool()>& gone,
                               const std::function<bool(const JobView&)>& event) {
  std::shared_ptr<LiveJob> job;
  int64_t seen_version = -1;
  for (;;) {
    JobView view;
    bool is_news = false;
    {
      MutexLock lock(&mutex_);
      if (job == nullptr) job = FindLive(id);
      if (job == nullptr) break;
      const bool pending = job->view.record.state == JobRecord::State::kPending;
      is_news = job->version != seen_version;
      if (!is_news) {
        if (draining_ && pending) return Draining();
        changed_.WaitFor(&mutex_, kPoll);
        is_news = job->version != seen_version;
      }
      if (is_news) {
        seen_version = job->version;
        view = job->view;
      }
    }
    if (gone()) return absl::CancelledError("the watcher went away");
    if (!is_news) continue;
    if (!event(view) || IsFinished(view.record.state)) return absl::OkStatus();
  }
  JobView finished;
  ASSIGN_OR_RETURN(finished.record, jobs_->Get(id));
  event(finished);
  return absl::OkStatus();
}

absl::Status JobManager::StreamTimeline(absl::string_view id, const std::function<bool()>& gone,
                                        const std::function<bool(const std::string&)>& chunk) {
  ASSIGN_OR_RETURN(const JobView first, Get(id));
  ASSIGN_OR_RETURN(const SimulationSpec spec, DecodeSpec(first.record.spec));
  if (!spec.keep_timeline) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", id, " keeps no timeline; create it again with keep_timeline"));
  }
  for (int64_t next = 0;; ++next) {
    for (;;) {  // Until chunk `next` is stored, or none will come.
      MutexLock lock(&mutex_);
      const auto job = FindLive(id);
      if (job == nullptr || job->timeline_chunks > next) break;
      if (draining_ && job->view.record.state == JobRecord::State::kPending) return Draining();
      changed_.WaitFor(&mutex_, kPoll);
      if (gone()) return absl::CancelledError("the reader went away");
    }
    const absl::StatusOr<std::string> bytes = jobs_->GetTimelineChunk(id, next);
    if (absl::IsNotFound(bytes.status())) return absl::OkStatus();
    if (!bytes.ok()) return bytes.status();
    if (!chunk(*bytes)) return absl::OkStatus();
  }
}

void JobManager::WorkerLoop() {
  for (;;) {
    std::shared_ptr<LiveJob> job;
    {
      MutexLock lock(&mutex_);
      while (queue_.empty() && !draining_) changed_.Wait(&mutex_);
      if (draining_) return;
      job = FindLive(queue_.front());
      queue_.pop_front();
      job->view.record.state = JobRecord::State::kRunning;
      job->view.record.start_unix_ns = clock_->NowUnixNs();
      ++job->version;
      ++running_;
      PublishCounts();
      changed_.NotifyAll();
    }
    RunOne(job);
    MutexLock lock(&mutex_);
    --running_;
    PublishCounts();
    changed_.NotifyAll();
  }
}

JobHooks JobManager::HooksOf(const std::shared_ptr<LiveJob>& job) {
  JobHooks hooks;
  hooks.stop = [this, job] {
    MutexLock lock(&mutex_);
    return job->view.record.cancel_asked || put_back_;
  };
  hooks.progress = [this, job](const SimProgress& progress) {
    MutexLock lock(&mutex_);
    job->view.progress = progress;
    const auto now = std::chrono::steady_clock::now();
    if (now - job->progress_told_at < kPoll) return;
    job->progress_told_at = now;
    ++job->version;  // Watchers look every kPoll: no notice for each.
  };
  hooks.timeline = [this, job](int64_t chunks_count) {
    MutexLock lock(&mutex_);
    job->timeline_chunks = chunks_count;
  };
  return hooks;
}

void JobManager::RunOne(const std::shared_ptr<LiveJob>& job) {
  JobRecord running;
  absl::Status marked;
  {
    // The lock keeps a Cancel from being overwritten by what was read before it.
    MutexLock lock(&mutex_);
    running = job->view.record;
    marked = jobs_->Update(running);
  }
  Log(LogLevel::kInfo, "job_started", {{"job", running.id}, {"trace", running.trace_id}});
  if (!marked.ok()) {
    Conclude(job, marked);
    return;
  }
  absl::StatusOr<std::string> result = absl::UnknownError("did not run");
  try {
    result = RunSimulation(running.id, job->spec, traces_, jobs_, HooksOf(job));
  } catch (const std::exception& error) {  // Out of memory, above all.
    result = absl::ResourceExhaustedError(absl::StrCat("the simulation ended by: ", error.what()));
  }
  Conclude(job, result);
}

void JobManager::Conclude(const std::shared_ptr<LiveJob>& job,
                          const absl::StatusOr<std::string>& result) {
  MutexLock lock(&mutex_);
  JobRecord record = job->view.record;
  record.end_unix_ns = clock_->NowUnixNs();
  if (result.ok()) {
    record.state = JobRecord::State::kSucceeded;
    record.result = *result;
  } else if (absl::IsCancelled(result.status()) && record.cancel_asked) {
    record.state = JobRecord::State::kCancelled;
  } else if (absl::IsCancelled(result.status()) && put_back_) {
    record.state = JobRecord::State::kPending;
    record.start_unix_ns = record.end_unix_ns = 0;
  } else {
    record.state = JobRecord::State::kFailed;
    record.error = std::string(result.status().message());
  }
  if (const absl::Status stored = jobs_->Update(record); !stored.ok()) {
    // The stored record says running: the next start takes the job up again.
    Log(LogLevel::kError, "job_not_recorded",
        {{"job", record.id}, {"error", std::string(stored.message())}});
    record.error = absl::StrCat("the job ended, but that could not be stored: ", stored.message());
    record.state = JobRecord::State::kFailed;
  }
  const double seconds =
      static_cast<double>(std::max<int64_t>(0, record.end_unix_ns - record.start_unix_ns)) * 1e-9;
  Log(LogLevel::kInfo, "job_ended",
      {{"job", record.id},
       {"state", std::string(StateName(record.state))},
       {"seconds", absl::StrCat(seconds)},
       {"error", record.error.empty() ? "-" : record.error}});
  job->view.record = record;
  ++job->version;
  if (IsFinished(record.state)) {
    metrics_->ObserveJob("simulation", StateName(record.state), seconds);
    ++ended_;
    live_.erase(record.id);
    job->leases.clear();
  }
  changed_.NotifyAll();
}

void JobManager::PublishCounts() {
  metrics_->SetJobs(static_cast<int64_t>(queue_.size()), running_);
}

void JobManager::Drain(std::chrono::milliseconds grace) {
  const auto deadline = std::chrono::steady_clock::now() + grace;
  {
    MutexLock lock(&mutex_);
    draining_ = true;
    changed_.NotifyAll();
    while (running_ > 0 && std::chrono::steady_clock::now() < deadline) {
      changed_.WaitFor(&mutex_, kPoll);
    }
    put_back_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace chakrad
