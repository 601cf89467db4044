#include "server/ingest/upload_manager.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/ids.h"
#include "server/log.h"
#include "storage/limits.h"
#include "trace/import/import.h"

namespace chakrad {
namespace {

absl::Status CheckFileName(absl::string_view file) {
  if (file.empty() || file.size() > kMaxFileNameBytes ||
      file.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("file: the name has ", file.size(),
                                                   " bytes; 1 to ", kMaxFileNameBytes,
                                                   " without NUL are allowed"));
  }
  return absl::OkStatus();
}

// An upload and its trace share the random part of their ids, so that a Seal
// that was cut off between storing the trace and marking the upload finds what
// it did.
std::string TraceIdOf(absl::string_view upload_id) {
  return absl::StrCat("t-", upload_id.substr(upload_id.find('-') + 1));
}

}  // namespace

UploadWriter::UploadWriter(UploadManager* manager, UploadRecord record)
    : manager_(manager), id_(record.id), sizes_(std::move(record.committed_bytes)) {
  for (const auto& [file, bytes] : sizes_) total_bytes_ += bytes;
}

UploadWriter::~UploadWriter() { manager_->EndUse(id_); }

absl::Status UploadWriter::Append(absl::string_view file, int64_t offset, absl::string_view data) {
  RETURN_IF_ERROR(CheckFileName(file));
  if (data.size() > kPieceBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("data: a piece of ", data.size(), " bytes is larger than ", kPieceBytes));
  }
  MutexLock lock(&mutex_);
  const ServerLimits& limits = manager_->limits_;
  const auto known = sizes_.find(std::string(file));
  const int64_t size = known == sizes_.end() ? 0 : known->second;
  if (offset < 0 || offset > size) {
    return absl::OutOfRangeError(absl::StrCat("offset: ", file, " has ", size,
                                              " bytes, and the piece starts at ", offset,
                                              "; send from the committed offset"));
  }
  if (known == sizes_.end() && static_cast<int64_t>(sizes_.size()) >= limits.upload_files) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "upload has ", sizes_.size(), " files, the most allowed (--max_upload_files)"));
  }
  const int64_t known_bytes = std::min<int64_t>(size - offset, static_cast<int64_t>(data.size()));
  const absl::string_view fresh = data.substr(static_cast<size_t>(known_bytes));
  if (total_bytes_ + static_cast<int64_t>(fresh.size()) > limits.upload_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("upload would exceed ", limits.upload_bytes, " bytes (--max_upload_bytes)"));
  }
  if (known == sizes_.end() || !fresh.empty()) {
    RETURN_IF_ERROR(manager_->uploads_->Append(id_, file, size, fresh));
  }
  touched_.insert(std::string(file));
  sizes_[std::string(file)] = size + static_cast<int64_t>(fresh.size());
  total_bytes_ += static_cast<int64_t>(fresh.size());
  manager_->metrics_->AddIngestBytes(static_cast<int64_t>(fresh.size()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<CommittedFile>> UploadWriter::Commit() {
  MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const UploadRecord record, manager_->uploads_->Commit(id_));
  std::vector<CommittedFile> committed;
  for (const std::string& file : touched_) {
    const auto it = record.committed_bytes.find(file);
    if (it != record.committed_bytes.end()) committed.push_back({file, it->second});
  }
  touched_.clear();
  return committed;
}

UploadManager::UploadManager(UploadStore* uploads, TraceStore* traces, Clock* clock,
                             Metrics* metrics, const ServerLimits& limits,
                             ImportResources resources)
    : uploads_(uploads),
      traces_(traces),
      clock_(clock),
      metrics_(metrics),
      limits_(limits),
      resources_(std::move(resources)) {}

absl::Status UploadManager::CheckNotDraining() {
  if (draining_) return absl::UnavailableError("the daemon is shutting down; try again soon");
  return absl::OkStatus();
}

absl::StatusOr<UploadRecord> UploadManager::Create(const UploadRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id));
  RETURN_IF_ERROR(CheckLabels(request.labels));
  for (const auto& [file, rank] : request.settings.rank_by_file) {
    RETURN_IF_ERROR(CheckFileName(file));
    if (rank < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank_by_file: ", file, " has the rank ", rank, ", below 0"));
    }
  }
  if (request.settings.world_size < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("world_size: ", request.settings.world_size, " is below 0"));
  }
  if (request.settings.passes_count < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("passes_count: ", request.settings.passes_count, " is below 1"));
  }
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(CheckNotDraining());
  // Before any limit: an answer that was lost can always be asked for again.
  absl::StatusOr<UploadRecord> existing = uploads_->FindByRequestId(request.request_id);
  if (!absl::IsNotFound(existing.status())) {
    const bool trace_is_gone = existing.ok() && existing->state == UploadRecord::State::kSealed &&
                               absl::IsNotFound(traces_->GetInfo(existing->trace_id).status());
    if (!trace_is_gone) return existing;
    RETURN_IF_ERROR(uploads_->Delete(existing->id));  // The request asks for it anew.
  }
  RETURN_IF_ERROR(MakeRoomForUpload());
  UploadRecord record;
  record.id = absl::StrCat("u-", RandomId());
  record.request_id = request.request_id;
  record.create_unix_ns = clock_->NowUnixNs();
  record.labels = request.labels;
  record.settings = request.settings;
  ASSIGN_OR_RETURN(UploadRecord stored, uploads_->Create(record));
  ++open_uploads_;
  return stored;
}

absl::Status UploadManager::MakeRoomForUpload() {
  if (open_uploads_ >= 0 && open_uploads_ < limits_.open_uploads) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<UploadRecord> all, uploads_->List());
  const int64_t oldest_ns = clock_->NowUnixNs() - kAbandonedUploadSeconds * 1'000'000'000;
  open_uploads_ = 0;
  for (const UploadRecord& upload : all) {
    if (upload.state != UploadRecord::State::kOpen) continue;
    if (upload.create_unix_ns >= oldest_ns || in_use_.count(upload.id) > 0) {
      ++open_uploads_;
      continue;
    }
    Log(LogLevel::kWarning, "upload_expired", {{"upload", upload.id}});
    RETURN_IF_ERROR(uploads_->Delete(upload.id));
  }
  if (open_uploads_ < limits_.open_uploads) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      open_uploads_, " uploads are open, the most allowed (--max_open_uploads); those older than ",
      kAbandonedUploadSeconds / 3600, " h make room by themselves"));
}

absl::StatusOr<UploadRecord> UploadManager::Query(absl::string_view id) {
  return uploads_->Get(id);
}

absl::StatusOr<std::unique_ptr<UploadWriter>> UploadManager::BeginWrite(absl::string_view id) {
  {
    MutexLock lock(&mutex_);
    RETURN_IF_ERROR(CheckNotDraining());
    if (!in_use_.emplace(id, Use::kWriting).second) {
      return absl::AbortedError(
          absl::StrCat("upload ", id, " is being written or sealed by another call"));
    }
  }
  absl::StatusOr<UploadRecord> record = uploads_->Get(id);
  if (record.ok() && record->state == UploadRecord::State::kSealed) {
    record = absl::FailedPreconditionError(
        absl::StrCat("upload ", id, " is sealed: its trace is traces/", record->trace_id));
  }
  // What an earlier stream appended and could not commit is committed now, so
  // that this one begins at the end of the files.
  if (record.ok()) record = uploads_->Commit(id);
  if (!record.ok()) {
    EndUse(std::string(id));
    return record.status();
  }
  return std::unique_ptr<UploadWriter>(new UploadWriter(this, *std::move(record)));
}

absl::StatusOr<TraceInfo> UploadManager::Seal(absl::string_view id) {
  {
    MutexLock lock(&mutex_);
    for (;;) {
      RETURN_IF_ERROR(CheckNotDraining());
      const auto use = in_use_.find(std::string(id));
      if (use != in_use_.end() && use->second == Use::kWriting) {
        return absl::AbortedError(absl::StrCat("upload ", id, " is still being written"));
      }
      if (use == in_use_.end() && seals_running_ < limits_.concurrent_seals) break;
      changed_.Wait(&mutex_);
    }
    in_use_.emplace(id, Use::kSealing);
    ++seals_running_;
  }
  const auto end = absl::MakeCleanup([this, id] {  // Exceptions of libraries included.
    {
      MutexLock lock(&mutex_);
      --seals_running_;
    }
    EndUse(std::string(id));
  });
  return SealExclusively(id);
}

absl::StatusOr<TraceInfo> UploadManager::SealExclusively(absl::string_view id) {
  ASSIGN_OR_RETURN(UploadRecord upload, uploads_->Get(id));
  if (upload.state == UploadRecord::State::kSealed) return traces_->GetInfo(upload.trace_id);
  ASSIGN_OR_RETURN(upload, uploads_->Commit(id));  // All bytes that a reader would find.
  const auto started = std::chrono::steady_clock::now();
  ImportOptions options;
  options.settings = upload.settings;
  options.scratch_folder = resources_.scratch_folder;
  options.kernel_names = resources_.kernel_names;
  std::vector<ImportFile> files;
  for (const auto& [file, bytes] : upload.committed_bytes) {
    ASSIGN_OR_RETURN(std::string path, uploads_->PathOf(id, file));
    files.push_back({file, std::move(path)});
  }
  absl::StatusOr<ImportResult> imported = ImportTrace(files, options);
  if (!imported.ok()) {
    metrics_->AddSeal(false);
    // Bytes that are wrong stay wrong; kept, they would take disk and a place
    // among the open uploads until they expire.
    if (absl::IsInvalidArgument(imported.status())) RETURN_IF_ERROR(Forget(id));
    return imported.status();
  }
  TraceInfo info;
  info.id = TraceIdOf(id);
  info.labels = upload.labels;
  info.create_unix_ns = clock_->NowUnixNs();
  info.world_size = imported->trace.world_size;
  info.ledgers = std::move(imported->ledgers);
  info.notices = std::move(imported->notices);
  info.check = std::move(imported->report);
  imported->trace.labels = upload.labels;
  const absl::Status put = traces_->Put(imported->trace, info);
  if (!put.ok() && put.code() != absl::StatusCode::kAlreadyExists) return put;
  RETURN_IF_ERROR(uploads_->MarkSealed(id, info.id));
  metrics_->AddSeal(true);
  for (const Ledger& ledger : info.ledgers) metrics_->AddLedger(ledger);
  {
    MutexLock lock(&mutex_);
    if (open_uploads_ > 0) --open_uploads_;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  Log(LogLevel::kInfo, "trace_sealed",
      {{"trace", info.id},
       {"upload", std::string(id)},
       {"files", absl::StrCat(files.size())},
       {"ranks", absl::StrCat(imported->trace.ranks.size())},
       {"seconds", absl::StrCat(seconds.count())}});
  return traces_->GetInfo(info.id);
}

absl::Status UploadManager::Forget(absl::string_view id) {
  RETURN_IF_ERROR(uploads_->Delete(id));
  MutexLock lock(&mutex_);
  if (open_uploads_ > 0) --open_uploads_;
  return absl::OkStatus();
}

void UploadManager::EndUse(const std::string& id) {
  MutexLock lock(&mutex_);
  in_use_.erase(id);
  changed_.NotifyAll();
}

void UploadManager::StartDraining() {
  MutexLock lock(&mutex_);
  draining_ = true;
  changed_.NotifyAll();
}

}  // namespace chakrad
