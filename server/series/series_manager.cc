#include "server/series/series_manager.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/log.h"
#include "server/series/sample_codec.h"

namespace chakrad {
namespace {

constexpr char kTracesCursor[] = "traces";
constexpr char kJobsCursor[] = "jobs";
// "{times} {id}": of the large trace at hand; empty: none.
constexpr char kAttemptCursor[] = "attempt";
constexpr int64_t kNoCursor = std::numeric_limits<int64_t>::min();

// Why a source gives no record.
const char* ReasonOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return "deleted";
    case absl::StatusCode::kDataLoss:
      return "damaged";
    case absl::StatusCode::kFailedPrecondition:
      return "no_times";
    case absl::StatusCode::kResourceExhausted:
      return "too_large";
    default:
      return "failed";
  }
}

absl::StatusOr<int64_t> ReadCursor(SeriesStore* series, const char* name) {
  const absl::StatusOr<std::string> text = series->GetCursor(name);
  if (text.ok() && text->empty()) return kNoCursor;
  int64_t value = 0;
  if (text.ok() && absl::SimpleAtoi(*text, &value)) return value;
  if (!text.ok() && !absl::IsDataLoss(text.status())) return text.status();
  // Sources that have their record are not added twice: to begin anew costs time only.
  Log(LogLevel::kError, "series_cursor_damaged", {{"cursor", name}});
  return kNoCursor;
}

// Ingest and answers come first.
void BecomeModest() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kSeriesThreadNice);
}

}  // namespace

SeriesManager::SeriesManager(TraceStore* traces, JobStore* jobs, SeriesStore* series,
                             std::function<int64_t()> jobs_ended, Clock* clock, Metrics* metrics,
                             const SeriesOptions& options)
    : traces_(traces),
      jobs_(jobs),
      series_(series),
      jobs_ended_(std::move(jobs_ended)),
      clock_(clock),
      metrics_(metrics),
      options_(options),
      latest_(static_cast<size_t>(options.metric_keys), options.metric_expiry_seconds * 1'000),
      trace_cursor_(kNoCursor) {}

SeriesManager::~SeriesManager() { Stop(); }

void SeriesManager::Start() {
  const absl::Status shown = ShowStored().status();
  if (!shown.ok()) TellFailure(shown);
  thread_ = std::thread([this] { Loop(); });
}

void SeriesManager::StartStopping() {
  MutexLock lock(&mutex_);
  stopping_ = true;
  stopped_.NotifyAll();
}

void SeriesManager::Stop() {
  StartStopping();
  if (thread_.joinable()) thread_.join();
}

bool SeriesManager::IsStopping() {
  MutexLock lock(&mutex_);
  return stopping_;
}

void SeriesManager::TellFailure(const absl::Status& status) {
  metrics_->AddSeriesFailure();
  Log(LogLevel::kError, "series_failed", {{"error", std::string(status.message())}});
}

void SeriesManager::Loop() {
  BecomeModest();
  struct Turn {
    absl::StatusOr<bool> (SeriesManager::*take)();
    std::chrono::milliseconds pause{kSeriesPollMs};
    std::chrono::steady_clock::time_point due;
  };
  Turn turns[] = {
      {&SeriesManager::ShowStored}, {&SeriesManager::TakeTraces}, {&SeriesManager::TakeJobs}};
  for (;;) {
    bool more = false;
    for (Turn& turn : turns) {
      if (std::chrono::steady_clock::now() < turn.due) continue;
      const absl::StatusOr<bool> taken = (this->*turn.take)();
      if (IsStopping()) return;
      if (taken.ok()) {
        more = more || *taken;
        turn.pause = std::chrono::milliseconds(kSeriesPollMs);
        continue;
      }
      TellFailure(taken.status());
      turn.pause = std::min(turn.pause * 2, std::chrono::milliseconds(kSeriesRetryMsMax));
      turn.due = std::chrono::steady_clock::now() + turn.pause;
    }
    MutexLock lock(&mutex_);
    if (!stopping_ && !more) stopped_.WaitFor(&mutex_, std::chrono::milliseconds(kSeriesPollMs));
    if (stopping_) return;
  }
}

// The numbers of traces begin anew behind the newest one that is left: where the clock was ahead
// once, and those traces are gone, the cursor must not stay ahead of all that come.
absl::Status SeriesManager::ReadTraceCursor(const TraceCards& cards) {
  if (has_trace_cursor_) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t stored, ReadCursor(series_, kTracesCursor));
  trace_cursor_ = std::min(stored, cards.empty() ? kNoCursor : cards.front()->create_unix_ns);
  const absl::StatusOr<std::string> attempt = series_->GetCursor(kAttemptCursor);
  if (!attempt.ok() && !absl::IsDataLoss(attempt.status())) return attempt.status();
  if (attempt.ok()) {
    const size_t space = attempt->find(' ');
    if (space != std::string::npos &&
        absl::SimpleAtoi(attempt->substr(0, space), &crashes_count_)) {
      crashed_trace_ = attempt->substr(space + 1);
    }
  }
  has_trace_cursor_ = true;
  return absl::OkStatus();
}

absl::Status SeriesManager::ReadJobCursor() {
  if (has_job_cursor_) return absl::OkStatus();
  ASSIGN_OR_RETURN(job_cursor_, ReadCursor(series_, kJobsCursor));
  has_job_cursor_ = true;
  return absl::OkStatus();
}

absl::StatusOr<bool> SeriesManager::ShowStored() {
  if (has_shown_) return false;
  const int64_t now_ms = clock_->NowUnixNs() / 1'000'000;
  const int64_t oldest_ms = now_ms - options_.metric_expiry_seconds * 1'000;
  std::vector<SeriesRecord> records;
  RETURN_IF_ERROR(series_->ScanLatest([&](const SeriesRecord& record) {
    if (record.added_unix_ms > oldest_ms) records.push_back(record);
    return true;
  }));
  // Where there are too many, those that came last are shown.
  std::sort(records.begin(), records.end(),
            [](const SeriesRecord& a, const SeriesRecord& b) { return a.sequence > b.sequence; });
  for (const SeriesRecord& record : records) {
    const auto samples = DecodeSamples(record.samples);
    if (!samples.ok()) continue;
    if (!latest_.Put(record, *samples, now_ms)) metrics_->AddMetricKeyDropped();
  }
  has_shown_ = true;
  return false;
}

absl::Status SeriesManager::CatchUp() {
  absl::Status first;
  // One fails, the other goes on.
  for (const auto take : {&SeriesManager::TakeTraces, &SeriesManager::TakeJobs}) {
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) more = (this->*take)();
    if (first.ok()) first = more.status();
  }
  return first;
}

bool SeriesManager::IsFull(const Batch& batch) {
  return batch.looked_at_count >= kSeriesBatchRecords ||
         clock_->SteadyNs() - batch.begun_steady_ns >= kSeriesBatchNs;
}

void SeriesManager::Skip(absl::string_view source, const char* reason, const absl::Status& why) {
  metrics_->AddSeriesSkipped(reason);
  Log(absl::IsFailedPrecondition(why) ? LogLevel::kDebug : LogLevel::kWarning, "series_skipped",
      {{"source", std::string(source)}, {"reason", reason}, {"error", std::string(why.message())}});
}

absl::Status SeriesManager::Take(const std::string& source, const char* kind,
                                 const std::function<absl::StatusOr<MadeRecord>()>& make,
                                 Batch* batch) {
  if (batch->looked_at_count++ == 0) batch->begun_steady_ns = clock_->SteadyNs();
  const int64_t begun_ns = clock_->SteadyNs();
  absl::StatusOr<MadeRecord> made = absl::UnknownError("not made");
  try {
    made = make();
  } catch (const std::exception& error) {  // Out of memory, above all.
    made = absl::ResourceExhaustedError(error.what());
  }
  if (absl::IsUnavailable(made.status())) {
    if (++failed_reads_[source] < kSeriesReadTries) return Annotate(made.status(), source);
    Skip(source, "unreadable", made.status());
    return absl::OkStatus();
  }
  failed_reads_.erase(source);
  if (!made.ok()) {
    Skip(source, ReasonOf(made.status()), made.status());
    return absl::OkStatus();
  }
  metrics_->ObserveSeries(kind, static_cast<double>(clock_->SteadyNs() - begun_ns) * 1e-9);
  for (const auto& [id, count] : made->dropped_samples) {
    metrics_->AddMetricSamplesDropped(FamilyOf(id).name, count);
  }
  batch->made.push_back(*std::move(made));
  return absl::OkStatus();
}

absl::Status SeriesManager::Flush(const char* cursor_name, int64_t cursor, Batch* batch) {
  std::vector<SeriesRecord> records;
  for (const MadeRecord& made : batch->made) records.push_back(made.record);
  RETURN_IF_ERROR(series_->Append(std::move(records), cursor_name, absl::StrCat(cursor)).status());
  const int64_t now_ms = clock_->NowUnixNs() / 1'000'000;
  for (MadeRecord& made : batch->made) {
    if (!latest_.Put(made.record, std::move(made.samples), now_ms)) {
      metrics_->AddMetricKeyDropped();
    }
  }
  *batch = Batch();
  return absl::OkStatus();
}

absl::Status SeriesManager::FlushTraces(Batch* batch) {
  const int64_t cursor = batch->cursor;
  if (batch->made.empty() && cursor == trace_cursor_) return absl::OkStatus();
  RETURN_IF_ERROR(Flush(kTracesCursor, cursor, batch));
  trace_cursor_ = cursor;
  return absl::OkStatus();
}

absl::Status SeriesManager::TakeTrace(const TraceCard& card, Batch* batch) {
  const std::string source = absl::StrCat("traces/", card.id);
  const auto take = [&] {
    return Take(
        source, "trace", [&] { return MakeTraceRecord(card, traces_); }, batch);
  };
  if (card.nodes_count < options_.marked_nodes) return take();
  // The process may end in it, for want of memory above all, and would at every start.
  const int crashes = card.id == crashed_trace_ ? crashes_count_ : 0;
  if (crashes >= kSeriesCrashesMax) {
    ++batch->looked_at_count;
    Skip(source, "crashed",
         absl::AbortedError(absl::StrCat("the daemon ended ", crashes, " times in it")));
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(series_->SetCursor(kAttemptCursor, absl::StrCat(crashes + 1, " ", card.id)));
  const absl::Status taken = take();
  RETURN_IF_ERROR(series_->SetCursor(kAttemptCursor, ""));
  return taken;
}

absl::StatusOr<bool> SeriesManager::TakeTraces() {
  const std::shared_ptr<const TraceCards> cards = traces_->Cards();
  if (cards == seen_cards_) return false;
  RETURN_IF_ERROR(ReadTraceCursor(*cards));
  // Newest first: those behind the cursor, from its end to the beginning.
  const auto end = std::partition_point(cards->begin(), cards->end(), [&](const auto& card) {
    return card->create_unix_ns > trace_cursor_;
  });
  Batch batch;
  batch.cursor = trace_cursor_;
  int64_t cursor_before = trace_cursor_;  // Of all that share the time at hand.
  for (auto it = end; it != cards->begin();) {
    const TraceCard& card = **--it;
    // Traces of layout 1 may share a creation time: the cursor is not between them.
    if (card.create_unix_ns != batch.cursor) {
      if (batch.looked_at_count > 0 && (IsFull(batch) || IsStopping())) {
        RETURN_IF_ERROR(FlushTraces(&batch));
        return !IsStopping();
      }
      cursor_before = batch.cursor;
    }
    const absl::Status taken = TakeTrace(card, &batch);
    batch.cursor = taken.ok() ? card.create_unix_ns : cursor_before;
    if (!taken.ok()) {
      RETURN_IF_ERROR(FlushTraces(&batch));  // What was made is not made again.
      return taken;
    }
  }
  RETURN_IF_ERROR(FlushTraces(&batch));
  seen_cards_ = cards;
  return false;
}

absl::StatusOr<std::vector<JobRecord>> SeriesManager::UnfinishedJobs() {
  auto open = jobs_->ListUnfinished();
  if (!absl::IsDataLoss(open.status())) return open;
  // Their states tell as well, but for a clock that went back since.
  Log(LogLevel::kError, "series_unfinished_jobs_damaged",
      {{"error", std::string(open.status().message())}});
  return std::vector<JobRecord>();
}

// Those that the cursor does not cover, and those that were unfinished when last looked at (of a
// clock that went back since), by creation.
absl::StatusOr<SeriesManager::JobStates> SeriesManager::NewJobs(
    const std::set<std::string>& unfinished) {
  JobStates found;
  RETURN_IF_ERROR(jobs_->ScanCreatedAfter(
      job_cursor_,
      [&](const std::string& id, int64_t create_unix_ns, const absl::StatusOr<JobRecord>& job) {
        auto& state = found[{create_unix_ns, id}];
        if (job.ok()) state = job->state;
      }));
  for (const std::string& id : unfinished_jobs_) {
    if (unfinished.count(id) > 0) continue;
    const absl::StatusOr<JobRecord> job = jobs_->Get(id);
    if (job.ok()) found[{job->create_unix_ns, id}] = job->state;
  }
  return found;
}

absl::StatusOr<bool> SeriesManager::TakeJobs() {
  const int64_t ended = jobs_ended_();  // Before the look: a job that ends meanwhile is seen next.
  if (ended == seen_jobs_ended_) return false;
  RETURN_IF_ERROR(ReadJobCursor());
  // Of a job that was created just now, an earlier one may not be stored yet, and the clock may
  // have gone back a little: the last hour's jobs are looked at each time. Where it went back
  // further, the cursor goes with it.
  const int64_t settled_ns = clock_->NowUnixNs() - kJobsSettledNs;
  job_cursor_ = std::min(job_cursor_, settled_ns);
  ASSIGN_OR_RETURN(const std::vector<JobRecord> open, UnfinishedJobs());
  std::set<std::string> unfinished;
  int64_t first_open_ns = std::numeric_limits<int64_t>::max();
  for (const JobRecord& job : open) {
    unfinished.insert(job.id);
    first_open_ns = std::min(first_open_ns, job.create_unix_ns);
  }
  ASSIGN_OR_RETURN(const JobStates jobs, NewJobs(unfinished));
  Batch batch;
  int64_t cursor = job_cursor_;
  std::set<std::string> done;
  std::vector<std::string> taken_ids;
  // The cursor moves with the last batch: what came before it is known by its source.
  const auto flush = [&](int64_t to) {
    if (!batch.made.empty() || to != job_cursor_) {
      RETURN_IF_ERROR(Flush(kJobsCursor, to, &batch));
    }
    done_jobs_.insert(taken_ids.begin(), taken_ids.end());
    taken_ids.clear();
    return absl::OkStatus();
  };
  for (const auto& [at, state] : jobs) {
    const auto& [create_unix_ns, id] = at;
    if (unfinished.count(id) > 0 || (state.has_value() && !IsFinished(*state))) {
      first_open_ns = std::min(first_open_ns, create_unix_ns);
      continue;
    }
    if (create_unix_ns < first_open_ns && create_unix_ns < settled_ns) {
      cursor = std::max(cursor, create_unix_ns);
    } else {
      done.insert(id);
    }
    if (done_jobs_.count(id) > 0) continue;
    const std::string source = absl::StrCat("jobs/", id);
    if (!state.has_value()) {
      Skip(source, "damaged", absl::DataLossError("its record cannot be read"));
      done_jobs_.insert(id);
    }
    if (state != JobRecord::State::kSucceeded) continue;
    if (IsStopping()) {
      RETURN_IF_ERROR(flush(job_cursor_));
      return false;
    }
    const auto make = [&, job_id = id]() -> absl::StatusOr<MadeRecord> {
      ASSIGN_OR_RETURN(const JobRecord job, jobs_->Get(job_id));
      return MakeJobRecord(job, traces_);
    };
    const absl::Status taken = Take(source, "simulation", make, &batch);
    if (taken.ok()) taken_ids.push_back(id);
    if (!taken.ok() || IsFull(batch)) RETURN_IF_ERROR(flush(job_cursor_));
    RETURN_IF_ERROR(taken);
  }
  RETURN_IF_ERROR(flush(cursor));
  job_cursor_ = cursor;
  done_jobs_ = std::move(done);
  unfinished_jobs_ = std::move(unfinished);
  seen_jobs_ended_ = ended;
  return false;
}

void SeriesManager::WriteText(const std::function<bool(absl::string_view)>& write) {
  latest_.WriteText(clock_->NowUnixNs() / 1'000'000, write);
}

void SeriesManager::Publish() {
  metrics_->SetMetricKeys(static_cast<int64_t>(latest_.size(clock_->NowUnixNs() / 1'000'000)));
  const std::shared_ptr<const TraceCards> cards = traces_->Cards();
  const auto end = std::partition_point(
      cards->begin(), cards->end(),
      [cursor = trace_cursor_.load()](const auto& card) { return card->create_unix_ns > cursor; });
  const int64_t pending = end - cards->begin();
  const int64_t lag_ns = pending == 0 ? 0 : clock_->NowUnixNs() - (*(end - 1))->create_unix_ns;
  metrics_->SetSeriesPending(pending, std::max<int64_t>(lag_ns, 0));
}

}  // namespace chakrad
