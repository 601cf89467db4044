#include "server/ingest/upload_manager.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status.h"
#include "server/ids.h"
#include "server/log.h"

namespace chakrad {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kAbandonedNs = kAbandonedUploadSeconds * kNsPerSecond;

int64_t ExpireNs(UploadRecord::State state, const std::optional<UploadJoin>& join,
                 int64_t create_unix_ns, int64_t end_unix_ns) {
  switch (state) {
    case UploadRecord::State::kSealed:
      return 0;
    case UploadRecord::State::kRefused:
      return end_unix_ns + kAbandonedNs;
    case UploadRecord::State::kSealing:
      return create_unix_ns + (join.has_value() ? join->seal_after_ns : 0) + kAbandonedNs;
    case UploadRecord::State::kOpen:
      break;
  }
  return create_unix_ns + (join.has_value() ? join->seal_after_ns : kAbandonedNs);
}

int64_t NewestUnixNs(TraceStore* traces) {
  const std::shared_ptr<const TraceCards> cards = traces->Cards();
  return cards->empty() ? 0 : cards->front()->create_unix_ns;
}

}  // namespace

int64_t ExpireUnixNs(const UploadRecord& upload) {
  return ExpireNs(upload.state, upload.join, upload.create_unix_ns, upload.end_unix_ns);
}

UploadManager::UploadManager(UploadStore* uploads, TraceStore* traces, Clock* clock,
                             Metrics* metrics, const ServerLimits& limits,
                             ImportResources resources)
    : uploads_(uploads),
      traces_(traces),
      clock_(clock),
      start_unix_ns_(std::max(clock->NowUnixNs(), NewestUnixNs(traces))),
      start_steady_ns_(clock->SteadyNs()),
      metrics_(metrics),
      limits_(limits),
      use_(traces, limits.tenant_bytes, limits.store_bytes),
      sealer_(uploads, traces, clock, &gate_, std::move(resources)) {}

UploadManager::~UploadManager() {
  StartDraining();
  for (std::thread& thread : threads_) thread.join();
}

absl::Status UploadManager::Start() {
  ASSIGN_OR_RETURN(const std::vector<UploadRecord> unsealed, uploads_->ListUnsealed());
  for (const UploadRecord& upload : unsealed) AddLive(upload);
  for (int64_t i = 0; i < limits_.concurrent_seals; ++i) {
    threads_.emplace_back([this] { SealLoop(); });
  }
  threads_.emplace_back([this] { HousekeepLoop(); });
  return absl::OkStatus();
}

void UploadManager::StartDraining() {
  MutexLock lock(&mutex_);
  draining_ = true;
  changed_.NotifyAll();
  work_.NotifyAll();
}

absl::Status UploadManager::CheckNotDraining() {
  if (draining_) return absl::UnavailableError("the daemon is shutting down; try again soon");
  return absl::OkStatus();
}

int64_t UploadManager::NowUnixNs() {
  return start_unix_ns_ + (clock_->SteadyNs() - start_steady_ns_);
}

UploadManager::Live UploadManager::FindLive(absl::string_view id) {
  const auto it = live_.find(std::string(id));
  return it == live_.end() ? nullptr : it->second;
}

void UploadManager::AddLive(const UploadRecord& record) {
  const auto live = std::make_shared<LiveUpload>();
  live->id = record.id;
  live->tenant = TenantOf(record.labels);
  live->state = record.state;
  live->join = record.join;
  live->create_unix_ns = record.create_unix_ns;
  live->end_unix_ns = record.end_unix_ns;
  const bool has_bytes = record.state != UploadRecord::State::kRefused;
  live->files_count = static_cast<int64_t>(record.files.size());
  for (const auto& [name, file] : record.files) {
    if (has_bytes) live->staged_bytes += file.committed_bytes;
    if (file.complete && record.join.has_value()) live->complete.insert(name);
  }
  use_.AddStaged(live->tenant, live->staged_bytes);
  MutexLock lock(&mutex_);
  live_[record.id] = live;
  if (live->state != UploadRecord::State::kSealing) return;
  seal_queue_.push_back(live);
  work_.NotifyAll();
}

void UploadManager::EndLive(const Live& live) {
  int64_t staged_bytes = 0;
  {
    MutexLock lock(&mutex_);
    live->gone = true;
    live->closing = false;
    std::swap(staged_bytes, live->staged_bytes);
    live_.erase(live->id);
    changed_.NotifyAll();
  }
  use_.Unstage(live->tenant, staged_bytes);
}

absl::StatusOr<UploadRecord> UploadManager::Create(UploadRequest request) {
  RETURN_IF_ERROR(CheckUploadRequest(limits_, &request));
  MutexLock records(&records_mutex_);
  {
    MutexLock lock(&mutex_);
    RETURN_IF_ERROR(CheckNotDraining());
  }
  // Before any limit: an answer that was lost can always be asked for again.
  absl::StatusOr<UploadRecord> existing = uploads_->FindByRequestId(request.request_id);
  if (absl::IsNotFound(existing.status())) return CreateNew(request);
  RETURN_IF_ERROR(existing.status());
  return AnswerRepeated(*std::move(existing), request);
}

absl::StatusOr<UploadRecord> UploadManager::AnswerRepeated(UploadRecord existing,
                                                           const UploadRequest& request) {
  if (existing.state == UploadRecord::State::kSealed &&
      absl::IsNotFound(traces_->Lease(existing.trace_id).status())) {
    RETURN_IF_ERROR(uploads_->Delete(existing.id));  // The request asks for it anew.
    return CreateNew(request);
  }
  if (existing.state == UploadRecord::State::kSealed && existing.claims.empty() &&
      existing.files.empty()) {
    return absl::AlreadyExistsError(
        absl::StrCat("request_id: ", request.request_id, " is that of traces/", existing.trace_id,
                     ", which was pushed converted; use another request id"));
  }
  const std::string difference = FirstDifference(existing, request);
  if (!difference.empty()) {
    return absl::AlreadyExistsError(absl::StrCat(
        "request_id: ", request.request_id, " is that of uploads/", existing.id,
        ", which differs: ", difference, "; use another request id, or delete that upload"));
  }
  if (!existing.join.has_value() || existing.state != UploadRecord::State::kOpen) return existing;
  const size_t ranks_before = existing.settings.rank_by_file.size();
  existing.settings.rank_by_file.insert(request.settings.rank_by_file.begin(),
                                        request.settings.rank_by_file.end());
  if (static_cast<int64_t>(existing.settings.rank_by_file.size()) > limits_.upload_files) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "rank_by_file: of all hosts together it names more than ", limits_.upload_files, " files"));
  }
  if (existing.settings.rank_by_file.size() != ranks_before) {
    RETURN_IF_ERROR(uploads_->Update(existing));
  }
  return existing;
}

absl::StatusOr<UploadRecord> UploadManager::CreateNew(const UploadRequest& request) {
  UploadRecord record;
  record.id = absl::StrCat("u-", RandomId());
  record.request_id = request.request_id;
  record.create_unix_ns = NowUnixNs();
  record.labels = request.labels;
  record.settings = request.settings;
  record.keep_files = request.keep_files;
  record.join = request.join;
  record.claims = request.claims;
  if (!request.claims.empty()) {
    const absl::StatusOr<SealResult> stored = sealer_.FindStored(
        FilesContentHash(request.labels, request.settings, request.keep_files, request.claims));
    if (stored.ok()) {
      record.state = UploadRecord::State::kSealed;
      record.trace_id = stored->info.id;
      record.content_hash = stored->content_hash;
      record.end_unix_ns = record.create_unix_ns;
      return uploads_->Create(record);
    }
    if (!absl::IsNotFound(stored.status()) && !absl::IsDataLoss(stored.status())) {
      return stored.status();
    }
  }
  RETURN_IF_ERROR(MakeRoomForUpload());
  int64_t claimed_bytes = 0;
  for (const auto& [file, digest] : request.claims) claimed_bytes += digest.size_bytes;
  RETURN_IF_ERROR(use_.Check(TenantOf(request.labels), std::max<int64_t>(claimed_bytes, 1)));
  ASSIGN_OR_RETURN(UploadRecord stored, uploads_->Create(record));
  AddLive(stored);
  return stored;
}

absl::Status UploadManager::MakeRoomForUpload() {
  const auto count_open = [this] {
    MutexLock lock(&mutex_);
    return std::count_if(live_.begin(), live_.end(), [](const auto& entry) {
      return entry.second->state != UploadRecord::State::kRefused;
    });
  };
  if (count_open() < limits_.open_uploads) return absl::OkStatus();
  ExpireOld();
  const int64_t open_uploads = count_open();
  if (open_uploads < limits_.open_uploads) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      open_uploads, " uploads are open, the most allowed (--max_open_uploads); those older than ",
      kAbandonedUploadSeconds / 3600, " h make room by themselves, `chakra uploads rm` at once"));
}

absl::StatusOr<UploadRecord> UploadManager::Query(absl::string_view id) {
  return uploads_->Get(id);
}

absl::StatusOr<UploadPage> UploadManager::List(int page_size, absl::string_view page_token) {
  using Position = std::pair<int64_t, std::string>;  // Creation, id.
  Position after{std::numeric_limits<int64_t>::min(), ""};
  if (!page_token.empty()) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(page_token, absl::MaxSplits('/', 1));
    if (!absl::SimpleAtoi(parts.first, &after.first) || parts.second.empty()) {
      return absl::InvalidArgumentError("page_token: is none that an earlier page gave");
    }
    after.second = std::string(parts.second);
  }
  std::vector<Position> positions;
  {
    MutexLock lock(&mutex_);
    for (const auto& [id, live] : live_) {
      if (Position position{live->create_unix_ns, id}; position > after) {
        positions.push_back(std::move(position));
      }
    }
  }
  std::sort(positions.begin(), positions.end());
  UploadPage page;
  for (size_t i = 0; i < positions.size(); ++i) {
    absl::StatusOr<UploadRecord> record = uploads_->Get(positions[i].second);
    const bool left = absl::IsNotFound(record.status()) ||
                      (record.ok() && record->state == UploadRecord::State::kSealed);
    if (!left) {
      RETURN_IF_ERROR(record.status());
      page.uploads.push_back(*std::move(record));
    }
    if (static_cast<int>(page.uploads.size()) == page_size && i + 1 < positions.size()) {
      page.next_page_token = absl::StrCat(positions[i].first, "/", positions[i].second);
      break;
    }
  }
  return page;
}

bool UploadManager::TakeForDelete(LiveUpload* live) {
  if (live->gone || live->closing || live->streams > 0 || live->sealing) return false;
  live->closing = true;
  return true;
}

absl::Status UploadManager::DeleteTaken(const Live& live) {
  const absl::Status deleted = uploads_->Delete(live->id);
  if (deleted.ok() || absl::IsNotFound(deleted)) {
    EndLive(live);
    return absl::OkStatus();
  }
  MutexLock lock(&mutex_);
  live->closing = false;
  changed_.NotifyAll();
  return deleted;
}

absl::Status UploadManager::Delete(absl::string_view id) {
  MutexLock records(&records_mutex_);
  Live live;
  {
    MutexLock lock(&mutex_);
    RETURN_IF_ERROR(CheckNotDraining());
    live = FindLive(id);
    if (live != nullptr) {
      // One whose seal failed waits for its next attempt: nobody needs it meanwhile.
      const bool is_sealing = live->state == UploadRecord::State::kSealing && live->attempts == 0;
      if (is_sealing || live->sealing) {
        return absl::FailedPreconditionError(
            absl::StrCat("upload ", id, " is being sealed; delete its trace then"));
      }
      if (!TakeForDelete(live.get())) {
        return absl::AbortedError(absl::StrCat("upload ", id, " is being written"));
      }
    }
  }
  if (live != nullptr) return DeleteTaken(live);
  ASSIGN_OR_RETURN(const UploadRecord record, uploads_->Get(id));
  return absl::FailedPreconditionError(absl::StrCat(
      "upload ", id, " is sealed: its trace is traces/", record.trace_id, "; delete that"));
}

bool UploadManager::IsExpired(const LiveUpload& live, int64_t now_ns) {
  // A joint one that has something is sealed instead; one that is to be sealed is tried once.
  if (live.state == UploadRecord::State::kOpen && !live.complete.empty()) return false;
  if (live.state == UploadRecord::State::kSealing && live.attempts == 0) return false;
  return now_ns >= ExpireNs(live.state, live.join, live.create_unix_ns, live.end_unix_ns);
}

void UploadManager::ExpireOld() {
  const int64_t now_ns = NowUnixNs();
  std::vector<Live> expired;
  {
    MutexLock lock(&mutex_);
    for (const auto& [id, live] : live_) {
      if (IsExpired(*live, now_ns) && TakeForDelete(live.get())) expired.push_back(live);
    }
  }
  for (const Live& live : expired) {
    const absl::Status deleted = DeleteTaken(live);
    Log(LogLevel::kWarning, "upload_expired",
        {{"upload", live->id}, {"status", deleted.ok() ? "-" : std::string(deleted.message())}});
  }
}

void UploadManager::Housekeep() {
  const int64_t now_ns = NowUnixNs();
  std::vector<Live> due;
  {
    MutexLock lock(&mutex_);
    if (draining_) return;
    for (const auto& [id, live] : live_) {
      if (live->state == UploadRecord::State::kSealing && live->retry_unix_ns > 0 &&
          live->retry_unix_ns <= now_ns) {
        live->retry_unix_ns = 0;
        seal_queue_.push_back(live);
        work_.NotifyAll();
      }
      if (live->state != UploadRecord::State::kOpen || live->complete.empty()) continue;
      const auto complete = static_cast<int64_t>(live->complete.size());
      const bool enough = live->join->expected_files > 0 && complete >= live->join->expected_files;
      if (enough || now_ns >= live->create_unix_ns + live->join->seal_after_ns) due.push_back(live);
    }
  }
  for (const Live& live : due) {
    const absl::Status begun = BeginSealing(
        live, absl::StrCat("by time-out after ", live->join->seal_after_ns / kNsPerSecond, " s"));
    if (begun.ok()) continue;
    Log(LogLevel::kWarning, "sealing_not_begun",
        {{"upload", live->id}, {"error", std::string(begun.message())}});
  }
  bool sweep = false;
  {
    MutexLock records(&records_mutex_);
    ExpireOld();
    sweep = now_ns >= next_sweep_unix_ns_;
    if (sweep) next_sweep_unix_ns_ = now_ns + kRecordSweepSeconds * kNsPerSecond;
  }
  if (sweep) ForgetSealedOfGoneTraces();
}

void UploadManager::ForgetSealedOfGoneTraces() {
  std::map<std::string, std::vector<std::string>> uploads_by_trace;
  const absl::Status visited = uploads_->Visit([&](const UploadRecord& upload) {
    if (upload.state == UploadRecord::State::kSealed) {
      uploads_by_trace[upload.trace_id].push_back(upload.id);
    }
  });
  // After the visit: a trace is there before its upload is sealed.
  for (const auto& card : *traces_->Cards()) uploads_by_trace.erase(card->id);
  for (const auto& [trace, ids] : uploads_by_trace) {
    for (const std::string& id : ids) {
      MutexLock records(&records_mutex_);
      uploads_->Delete(id).IgnoreError();  // The next sweep tries again.
    }
  }
  if (!visited.ok()) {
    Log(LogLevel::kError, "uploads_unreadable", {{"error", std::string(visited.message())}});
  }
}

void UploadManager::HousekeepLoop() {
  using std::chrono::steady_clock;
  auto next = steady_clock::now();
  for (;;) {
    next += std::chrono::milliseconds(kHousekeepingMs);
    {
      MutexLock lock(&mutex_);
      while (!draining_ && steady_clock::now() < next) {
        const auto left = next - steady_clock::now();
        work_.WaitFor(&mutex_, std::chrono::duration_cast<std::chrono::milliseconds>(left) +
                                   std::chrono::milliseconds(1));
      }
      if (draining_) return;
    }
    Housekeep();
    next = std::max(next, steady_clock::now());
  }
}

}  // namespace chakrad
