#include "server/series/series_manager.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/limits.h"
#include "server/log.h"
#include "server/series/sample_codec.h"

namespace chakrad {
namespace {

constexpr char kTracesCursor[] = "traces";
constexpr char kJobsCursor[] = "jobs";
constexpr int64_t kNone = std::numeric_limits<int64_t>::min();

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
  ASSIGN_OR_RETURN(const std::string text, series->GetCursor(name));
  if (text.empty()) return kNone;
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value)) return value;
  // Sources that have their record are not added twice: to begin anew costs time only.
  Log(LogLevel::kError, "series_cursor_damaged", {{"cursor", name}});
  return kNone;
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
      latest_(static_cast<size_t>(options.metric_keys), options.metric_expiry_seconds * 1'000) {}

SeriesManager::~SeriesManager() { Stop(); }

absl::Status SeriesManager::Start() {
  RETURN_IF_ERROR(Annotate(ShowStored(), "series"));
  RETURN_IF_ERROR(Annotate(ReadCursors(), "series"));
  thread_ = std::thread([this] { Loop(); });
  return absl::OkStatus();
}

void SeriesManager::Stop() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    stopped_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

bool SeriesManager::IsStopping() {
  MutexLock lock(&mutex_);
  return stopping_;
}

void SeriesManager::Loop() {
  BecomeModest();
  std::chrono::milliseconds pause(kSeriesPollMs);
  for (;;) {
    const absl::Status status = CatchUp();
    if (IsStopping()) return;
    if (status.ok()) {
      pause = std::chrono::milliseconds(kSeriesPollMs);
    } else {
      pause = std::min(pause * 2, std::chrono::milliseconds(kSeriesRetryMsMax));
      metrics_->AddSeriesFailure();
      Log(LogLevel::kError, "series_failed", {{"error", std::string(status.message())}});
    }
    MutexLock lock(&mutex_);
    if (!stopping_) stopped_.WaitFor(&mutex_, pause);
    if (stopping_) return;
  }
}

absl::Status SeriesManager::ReadCursors() {
  if (has_cursors_) return absl::OkStatus();
  ASSIGN_OR_RETURN(trace_cursor_, ReadCursor(series_, kTracesCursor));
  ASSIGN_OR_RETURN(job_cursor_, ReadCursor(series_, kJobsCursor));
  has_cursors_ = true;
  return absl::OkStatus();
}

absl::Status SeriesManager::ShowStored() {
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
  return absl::OkStatus();
}

absl::Status SeriesManager::CatchUp() {
  RETURN_IF_ERROR(ReadCursors());
  // One fails, the other goes on.
  const absl::Status traces = TakeTraces();
  const absl::Status jobs = TakeJobs();
  return traces.ok() ? jobs : traces;
}

bool SeriesManager::IsFull(const Batch& batch) {
  return batch.looked_at_count >= kSeriesBatchRecords ||
         clock_->SteadyNs() - batch.begun_steady_ns >= kSeriesBatchNs;
}

absl::Status SeriesManager::Take(absl::string_view source, const char* kind,
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
  if (absl::IsUnavailable(made.status())) return Annotate(made.status(), source);
  if (!made.ok()) {
    metrics_->AddSeriesSkipped(ReasonOf(made.status()));
    Log(absl::IsFailedPrecondition(made.status()) ? LogLevel::kDebug : LogLevel::kWarning,
        "series_skipped",
        {{"source", std::string(source)}, {"error", std::string(made.status().message())}});
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

absl::Status SeriesManager::TakeTraces() {
  const std::shared_ptr<const TraceCards> cards = traces_->Cards();
  if (cards == seen_cards_) return absl::OkStatus();
  // Newest first: those behind the cursor, from its end to the beginning.
  const auto end = std::partition_point(cards->begin(), cards->end(), [&](const auto& card) {
    return card->create_unix_ns > trace_cursor_;
  });
  Batch batch;
  const auto flush = [&] {
    if (batch.looked_at_count == 0) return absl::OkStatus();
    const int64_t cursor = batch.cursor;
    RETURN_IF_ERROR(Flush(kTracesCursor, cursor, &batch));
    trace_cursor_ = cursor;
    return absl::OkStatus();
  };
  for (auto it = end; it != cards->begin();) {
    const TraceCard& card = **--it;
    metrics_->SetSeriesPending(it - cards->begin() + 1, clock_->NowUnixNs() - card.create_unix_ns);
    // Traces of layout 1 may share a creation time: the cursor is not between them.
    const bool may_cut = batch.looked_at_count > 0 && card.create_unix_ns != batch.cursor;
    if (may_cut && (IsFull(batch) || IsStopping())) {
      RETURN_IF_ERROR(flush());
      if (IsStopping()) return absl::OkStatus();
    }
    const absl::Status taken = Take(
        absl::StrCat("traces/", card.id), "trace",
        [&] { return MakeTraceRecord(card, traces_); }, &batch);
    if (!taken.ok()) return taken;  // What the batch holds is made again.
    batch.cursor = card.create_unix_ns;
  }
  RETURN_IF_ERROR(flush());
  metrics_->SetSeriesPending(0, 0);
  seen_cards_ = cards;
  return absl::OkStatus();
}

// Those that the cursor does not cover, and those that were unfinished when last looked at (of a
// clock that went back since), by creation.
absl::StatusOr<std::map<std::pair<int64_t, std::string>, JobRecord::State>> SeriesManager::NewJobs(
    const std::set<std::string>& unfinished) {
  std::map<std::pair<int64_t, std::string>, JobRecord::State> found;
  std::string page_token;
  do {
    ASSIGN_OR_RETURN(const JobPage page, jobs_->List(kMaxPageSize, page_token, ""));
    page_token = page.next_page_token;
    for (const JobRecord& job : page.jobs) {
      if (job.create_unix_ns <= job_cursor_) {
        page_token.clear();
        break;
      }
      found[{job.create_unix_ns, job.id}] = job.state;
    }
  } while (!page_token.empty());
  for (const std::string& id : unfinished_jobs_) {
    if (unfinished.count(id) > 0) continue;
    const absl::StatusOr<JobRecord> job = jobs_->Get(id);
    if (job.ok()) found[{job->create_unix_ns, id}] = job->state;
  }
  return found;
}

absl::Status SeriesManager::TakeJobs() {
  const int64_t ended = jobs_ended_();  // Before the look: a job that ends meanwhile is seen next.
  if (ended == seen_jobs_ended_) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<JobRecord> open, jobs_->ListUnfinished());
  std::set<std::string> unfinished;
  int64_t first_open_ns = std::numeric_limits<int64_t>::max();
  for (const JobRecord& job : open) {
    unfinished.insert(job.id);
    first_open_ns = std::min(first_open_ns, job.create_unix_ns);
  }
  ASSIGN_OR_RETURN(const auto jobs, NewJobs(unfinished));
  // Of a job that was created just now, an earlier one may not be stored yet, and the clock may
  // have gone back a little: the last hour's jobs are looked at each time.
  const int64_t settled_ns = clock_->NowUnixNs() - kJobsSettledNs;
  Batch batch;
  int64_t cursor = job_cursor_;
  std::set<std::string> done;
  for (const auto& [at, state] : jobs) {
    const auto& [create_unix_ns, id] = at;
    if (unfinished.count(id) > 0 || !IsFinished(state)) {
      first_open_ns = std::min(first_open_ns, create_unix_ns);
      continue;
    }
    if (create_unix_ns < first_open_ns && create_unix_ns < settled_ns) {
      cursor = std::max(cursor, create_unix_ns);
    } else {
      done.insert(id);
    }
    if (state != JobRecord::State::kSucceeded || done_jobs_.count(id) > 0) continue;
    if (IsStopping()) return absl::OkStatus();
    const auto make = [&, job_id = id]() -> absl::StatusOr<MadeRecord> {
      ASSIGN_OR_RETURN(const JobRecord job, jobs_->Get(job_id));
      return MakeJobRecord(job, traces_);
    };
    RETURN_IF_ERROR(Take(absl::StrCat("jobs/", id), "simulation", make, &batch));
    // The cursor moves with the last batch: what came before it is known by its source.
    if (IsFull(batch)) RETURN_IF_ERROR(Flush(kJobsCursor, job_cursor_, &batch));
  }
  if (batch.looked_at_count > 0 || cursor != job_cursor_) {
    RETURN_IF_ERROR(Flush(kJobsCursor, cursor, &batch));
  }
  job_cursor_ = cursor;
  done_jobs_ = std::move(done);
  unfinished_jobs_ = std::move(unfinished);
  seen_jobs_ended_ = ended;
  return absl::OkStatus();
}

void SeriesManager::WriteText(const std::function<bool(absl::string_view)>& write) {
  latest_.WriteText(clock_->NowUnixNs() / 1'000'000, write);
}

void SeriesManager::PublishKeys() {
  metrics_->SetMetricKeys(static_cast<int64_t>(latest_.size(clock_->NowUnixNs() / 1'000'000)));
}

}  // namespace chakrad
