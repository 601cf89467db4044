// The part of the UploadManager that turns uploads into traces.
#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status.h"
#include "server/ingest/upload_manager.h"
#include "server/log.h"

namespace chakrad {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

// The first names, and how many more there are.
std::string NamesText(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMaxNamesInNotice);
  std::string text = absl::StrJoin(names.begin(), names.begin() + shown, ", ");
  if (shown < names.size()) absl::StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

// What a reader of a joint upload's trace should know; "" when nothing is amiss.
std::string SealNotice(const UploadRecord& upload, absl::string_view why) {
  std::vector<std::string> incomplete;
  int64_t complete_count = 0;
  for (const auto& [name, file] : upload.files) {
    if (file.complete) {
      ++complete_count;
    } else {
      incomplete.push_back(
          absl::StrCat(absl::CHexEscape(name), " (", file.committed_bytes, " bytes)"));
    }
  }
  std::vector<std::string> missing;
  for (const auto& [name, rank] : upload.settings.rank_by_file) {
    if (upload.files.count(name) > 0) continue;
    missing.push_back(absl::StrCat(absl::CHexEscape(name), " (rank ", rank, ")"));
  }
  const int64_t expected = upload.join->expected_files;
  const bool enough = expected > 0 && complete_count >= expected;
  if (incomplete.empty() && missing.empty() && (enough || expected == 0)) return "";
  std::string notice =
      absl::StrCat("joint upload: sealed ", enough ? "with all that it expected" : why, ", ",
                   complete_count, " files complete");
  if (expected > 0) absl::StrAppend(&notice, " of ", expected, " expected");
  if (!incomplete.empty()) {
    absl::StrAppend(&notice, "; left out, since not complete: ", NamesText(incomplete));
  }
  if (!missing.empty()) absl::StrAppend(&notice, "; never came: ", NamesText(missing));
  return notice;
}

}  // namespace

absl::StatusOr<TraceInfo> UploadManager::Seal(absl::string_view id) {
  Live live;
  {
    MutexLock lock(&mutex_);
    RETURN_IF_ERROR(CheckNotDraining());
    live = FindLive(id);
  }
  if (live == nullptr) return AnswerSealed(id);
  return live->join.has_value() ? SealJoint(live) : SealAlone(live);
}

absl::StatusOr<TraceInfo> UploadManager::AnswerSealed(absl::string_view id) {
  ASSIGN_OR_RETURN(const UploadRecord upload, uploads_->Get(id));
  if (upload.state != UploadRecord::State::kSealed) {
    return absl::AbortedError(absl::StrCat("upload ", id, " changed meanwhile; ask again"));
  }
  return traces_->GetInfo(upload.trace_id);
}

void UploadManager::EndSealing(LiveUpload* live) {
  MutexLock lock(&mutex_);
  --seals_running_;
  live->sealing = false;
  changed_.NotifyAll();
}

absl::StatusOr<TraceInfo> UploadManager::SealAlone(const Live& live) {
  bool gone = false;
  {
    MutexLock lock(&mutex_);
    for (;;) {
      RETURN_IF_ERROR(CheckNotDraining());
      gone = live->gone;
      if (gone) break;
      if (live->streams > 0) {
        return absl::AbortedError(absl::StrCat("upload ", live->id, " is still being written"));
      }
      if (!live->sealing && !live->closing && seals_running_ < limits_.concurrent_seals) break;
      changed_.Wait(&mutex_);
    }
    if (!gone) {
      live->sealing = true;
      ++seals_running_;
    }
  }
  if (gone) return AnswerSealed(live->id);
  const auto end = absl::MakeCleanup([this, &live] { EndSealing(live.get()); });
  ASSIGN_OR_RETURN(UploadRecord upload, uploads_->Commit(live->id));  // All bytes there are.
  RETURN_IF_ERROR(use_.Check(live->tenant, 0));
  absl::StatusOr<SealResult> result = sealer_.Seal(upload);
  if (!result.ok()) {
    metrics_->AddSeal(false);
    if (!absl::IsInvalidArgument(result.status())) return result.status();
    // Bytes that are wrong stay wrong; kept, they would take disk and a place
    // among the open uploads until they expire.
    MutexLock records(&records_mutex_);
    RETURN_IF_ERROR(uploads_->Delete(live->id));
    EndLive(live);
    return result.status();
  }
  RETURN_IF_ERROR(Finish(std::move(upload), live, *result));
  return std::move(result->info);
}

absl::Status UploadManager::Finish(UploadRecord upload, const Live& live,
                                   const SealResult& result) {
  upload.state = UploadRecord::State::kSealed;
  upload.trace_id = result.info.id;
  upload.content_hash = result.content_hash;
  upload.end_unix_ns = NowUnixNs();
  upload.error.clear();
  {
    MutexLock records(&records_mutex_);
    RETURN_IF_ERROR(uploads_->Update(upload));
  }
  EndLive(live);
  metrics_->AddSeal(true);
  if (!result.known) {
    for (const Ledger& ledger : result.info.ledgers) metrics_->AddLedger(ledger);
  }
  Log(LogLevel::kInfo, result.known ? "trace_known" : "trace_sealed",
      {{"trace", result.info.id},
       {"upload", upload.id},
       {"files", absl::StrCat(result.files_count)},
       {"ranks", absl::StrCat(result.info.ranks.size())}});
  return absl::OkStatus();
}

absl::Status UploadManager::BeginSealing(const Live& live, absl::string_view why) {
  {
    MutexLock lock(&mutex_);
    while (live->closing) changed_.Wait(&mutex_);
    if (live->gone || live->state != UploadRecord::State::kOpen) return absl::OkStatus();
    if (live->complete.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "upload ", live->id, ": no file is complete; the last piece of each says so"));
    }
    live->closing = true;
    while (live->calls > 0) changed_.Wait(&mutex_);
  }
  absl::Status status;
  {
    MutexLock records(&records_mutex_);
    absl::StatusOr<UploadRecord> upload = uploads_->Get(live->id);
    status = upload.status();
    if (status.ok()) {
      upload->state = UploadRecord::State::kSealing;
      upload->seal_notice = SealNotice(*upload, why);
      status = uploads_->Update(*upload);
    }
  }
  MutexLock lock(&mutex_);
  live->closing = false;
  if (status.ok()) {
    live->state = UploadRecord::State::kSealing;
    seal_queue_.push_back(live);
    work_.NotifyAll();
  }
  changed_.NotifyAll();
  return status;
}

absl::StatusOr<TraceInfo> UploadManager::SealJoint(const Live& live) {
  int64_t attempts = 0;
  {
    MutexLock lock(&mutex_);
    attempts = live->attempts;
    if (live->state == UploadRecord::State::kSealing && live->retry_unix_ns > 0) {
      live->retry_unix_ns = 0;  // Now, rather than later.
      seal_queue_.push_back(live);
      work_.NotifyAll();
    }
  }
  RETURN_IF_ERROR(BeginSealing(live, "by a call of Seal"));
  {
    MutexLock lock(&mutex_);
    while (!live->gone && live->state == UploadRecord::State::kSealing &&
           live->attempts == attempts) {
      RETURN_IF_ERROR(CheckNotDraining());
      changed_.Wait(&mutex_);
    }
    if (!live->gone && live->state == UploadRecord::State::kSealing) return live->attempt_status;
  }
  ASSIGN_OR_RETURN(const UploadRecord upload, uploads_->Get(live->id));
  if (upload.state == UploadRecord::State::kRefused) {
    return absl::InvalidArgumentError(upload.error);
  }
  return AnswerSealed(live->id);
}

absl::Status UploadManager::Refuse(UploadRecord upload, const Live& live, const absl::Status& why) {
  upload.state = UploadRecord::State::kRefused;
  upload.error = std::string(why.message());
  upload.end_unix_ns = NowUnixNs();
  {
    MutexLock records(&records_mutex_);
    RETURN_IF_ERROR(uploads_->Update(upload));
  }
  Log(LogLevel::kWarning, "upload_refused", {{"upload", upload.id}, {"error", upload.error}});
  int64_t staged_bytes = 0;
  {
    MutexLock lock(&mutex_);
    live->state = UploadRecord::State::kRefused;
    live->end_unix_ns = upload.end_unix_ns;
    std::swap(staged_bytes, live->staged_bytes);
  }
  use_.Unstage(live->tenant, staged_bytes);
  return absl::OkStatus();
}

absl::Status UploadManager::ConvertJoint(const Live& live) {
  ASSIGN_OR_RETURN(UploadRecord upload, uploads_->Get(live->id));
  absl::Status status = use_.Check(live->tenant, 0);
  if (status.ok()) {
    absl::StatusOr<SealResult> result = sealer_.Seal(upload);
    if (result.ok()) return Finish(std::move(upload), live, *result);
    metrics_->AddSeal(false);
    status = result.status();
  }
  if (absl::IsInvalidArgument(status)) {
    RETURN_IF_ERROR(Refuse(std::move(upload), live, status));
    return status;
  }
  Log(LogLevel::kWarning, "seal_failed",
      {{"upload", upload.id}, {"error", std::string(status.message())}});
  upload.error = std::string(status.message());
  MutexLock records(&records_mutex_);
  uploads_->Update(upload).IgnoreError();  // For people only; a full disk may refuse it.
  return status;
}

void UploadManager::AttemptJoint(const Live& live) {
  {
    MutexLock lock(&mutex_);
    // A delete that fails leaves it to be sealed.
    while (!draining_ && (live->closing || seals_running_ >= limits_.concurrent_seals)) {
      changed_.Wait(&mutex_);
    }
    if (draining_ || live->gone || live->sealing || live->state != UploadRecord::State::kSealing) {
      return;
    }
    live->sealing = true;
    ++seals_running_;
  }
  absl::Status status;
  try {
    status = ConvertJoint(live);
  } catch (const std::exception& error) {  // Of libraries below.
    status = absl::InternalError(absl::StrCat("upload ", live->id, ": ", error.what()));
    Log(LogLevel::kError, "seal_failed", {{"upload", live->id}, {"error", error.what()}});
  }
  const int64_t now_ns = NowUnixNs();
  MutexLock lock(&mutex_);
  --seals_running_;
  live->sealing = false;
  live->attempt_status = status;
  if (!live->gone && live->state == UploadRecord::State::kSealing) {
    const int64_t doublings = std::min<int64_t>(live->attempts, 10);
    const int64_t delay_seconds = std::min(kSealRetrySeconds << doublings, kSealRetrySecondsMax);
    live->retry_unix_ns = now_ns + delay_seconds * kNsPerSecond;
  }
  ++live->attempts;
  changed_.NotifyAll();
}

void UploadManager::SealLoop() {
  for (;;) {
    Live live;
    {
      MutexLock lock(&mutex_);
      while (!draining_ && seal_queue_.empty()) work_.Wait(&mutex_);
      if (draining_) return;
      live = std::move(seal_queue_.front());
      seal_queue_.pop_front();
    }
    AttemptJoint(live);
  }
}

}  // namespace chakrad
