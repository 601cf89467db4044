// The part of the UploadManager that takes bytes.
#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/ingest/upload_manager.h"
#include "server/log.h"

namespace chakrad {

UploadWriter::~UploadWriter() {
  MutexLock lock(&mutex_);
  manager_->EndStream(live_.get(), taken_);
}

absl::StatusOr<UploadWriter::OwnFile*> UploadWriter::Claim(const std::string& file) {
  const auto found = files_.find(file);
  if (found != files_.end()) return &found->second;
  if (taken_.count(file) == 0) RETURN_IF_ERROR(manager_->TakeFile(live_.get(), file));
  taken_.insert(file);  // From here on the destructor gives the file back.
  OwnFile own;
  {
    RETURN_IF_ERROR(manager_->BeginCall(live_.get()));
    const auto end = absl::MakeCleanup([this] { manager_->EndCall(live_.get()); });
    // What an earlier stream appended and could not commit is committed now, so
    // that this one begins at the end of the file.
    ASSIGN_OR_RETURN(const auto committed, manager_->uploads_->CommitFiles(live_->id, {file}));
    manager_->NoteComplete(live_.get(), committed);
    const auto there = committed.find(file);
    if (there != committed.end()) {
      own = {there->second.committed_bytes, true, there->second.complete};
    }
  }
  return &files_.emplace(file, own).first->second;
}

absl::Status UploadWriter::CheckPiece(const std::string& file, const OwnFile& own, int64_t offset,
                                      absl::string_view data, bool last) {
  if (offset < 0 || offset > own.bytes) {
    return absl::OutOfRangeError(absl::StrCat("offset: ", file, " has ", own.bytes,
                                              " bytes, and the piece starts at ", offset,
                                              "; send from the committed offset"));
  }
  const int64_t data_bytes = static_cast<int64_t>(data.size());
  const int64_t known_bytes = std::min<int64_t>(own.bytes - offset, data_bytes);
  if (known_bytes > 0) {
    RETURN_IF_ERROR(manager_->BeginCall(live_.get()));
    const auto end = absl::MakeCleanup([this] { manager_->EndCall(live_.get()); });
    ASSIGN_OR_RETURN(const bool same,
                     manager_->uploads_->Matches(live_->id, file, offset,
                                                 data.substr(0, static_cast<size_t>(known_bytes))));
    if (!same) {
      return absl::FailedPreconditionError(absl::StrCat(
          file, ": the bytes [", offset, ", ", offset + known_bytes,
          ") differ from those that are there: another file of this name, or it has changed"));
    }
  }
  if (own.finished && offset + data_bytes > own.bytes) {
    return absl::FailedPreconditionError(
        absl::StrCat(file, ": is complete with ", own.bytes, " bytes, and the piece ends at ",
                     offset + data_bytes, ": another file of this name, or it has changed"));
  }
  if (last && offset + data_bytes < own.bytes) {
    return absl::FailedPreconditionError(
        absl::StrCat(file, ": ends at ", offset + data_bytes, " with this last piece, but ",
                     own.bytes, " bytes are there: another file of this name, or it has changed"));
  }
  return absl::OkStatus();
}

absl::Status UploadWriter::Store(const std::string& file, absl::string_view fresh, bool last,
                                 OwnFile* own) {
  const int64_t bytes = static_cast<int64_t>(fresh.size());
  RETURN_IF_ERROR(manager_->BeginCall(live_.get()));
  const auto end = absl::MakeCleanup([this] { manager_->EndCall(live_.get()); });
  if (!own->known || bytes > 0) {
    const int64_t files = own->known ? 0 : 1;
    RETURN_IF_ERROR(manager_->Reserve(live_.get(), bytes, files));
    const absl::Status appended = manager_->uploads_->Append(live_->id, file, own->bytes, fresh);
    if (!appended.ok()) {
      manager_->Unreserve(live_.get(), bytes, files);
      return appended;
    }
    own->known = true;
    own->bytes += bytes;
    manager_->metrics_->AddIngestBytes(bytes);
  }
  if (!last || own->finished) return absl::OkStatus();
  RETURN_IF_ERROR(manager_->uploads_->Finish(live_->id, file));
  own->finished = true;
  return absl::OkStatus();
}

absl::Status UploadWriter::Append(absl::string_view file, int64_t offset, absl::string_view data,
                                  bool last) {
  RETURN_IF_ERROR(CheckFileName(file));
  if (data.size() > kPieceBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("data: a piece of ", data.size(), " bytes is larger than ", kPieceBytes));
  }
  const std::string name(file);
  MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(OwnFile* const own, Claim(name));
  RETURN_IF_ERROR(CheckPiece(name, *own, offset, data, last));
  const size_t known_bytes = static_cast<size_t>(
      std::min<int64_t>(own->bytes - offset, static_cast<int64_t>(data.size())));
  RETURN_IF_ERROR(Store(name, data.substr(known_bytes), last, own));
  touched_.insert(name);
  return absl::OkStatus();
}

// After a commit that failed the disk may have less than was appended.
void UploadWriter::TakeBack(const std::set<std::string>& files) {
  const absl::StatusOr<UploadRecord> record = manager_->uploads_->Get(live_->id);
  if (!record.ok()) return;
  MutexLock lock(&mutex_);
  for (const std::string& file : files) {
    const auto own = files_.find(file);
    if (own == files_.end()) continue;
    const auto there = record->files.find(file);
    const int64_t bytes = there == record->files.end() ? 0 : there->second.committed_bytes;
    manager_->Unreserve(live_.get(), own->second.bytes - bytes, 0);
    own->second.bytes = bytes;
  }
}

absl::StatusOr<std::vector<CommittedFile>> UploadWriter::Commit() {
  std::set<std::string> files;
  {
    MutexLock lock(&mutex_);
    files.swap(touched_);
  }
  if (files.empty()) return std::vector<CommittedFile>();
  absl::StatusOr<std::map<std::string, UploadedFile>> committed;
  bool enough = false;
  {
    RETURN_IF_ERROR(manager_->BeginCall(live_.get()));
    const auto end = absl::MakeCleanup([this] { manager_->EndCall(live_.get()); });
    committed = manager_->uploads_->CommitFiles(live_->id, files);
    if (committed.ok()) enough = manager_->NoteComplete(live_.get(), *committed);
  }
  if (!committed.ok()) {
    TakeBack(files);  // After the call: an Append that holds the lock may wait for its end.
    return committed.status();
  }
  if (enough) {
    const absl::Status begun = manager_->BeginSealing(live_, "");
    // The files are durable all the same, and the housekeeping tries again.
    if (!begun.ok()) {
      Log(LogLevel::kWarning, "sealing_not_begun",
          {{"upload", live_->id}, {"error", std::string(begun.message())}});
    }
  }
  std::vector<CommittedFile> answers;
  for (const auto& [file, state] : *committed) answers.push_back({file, state.committed_bytes});
  return answers;
}

absl::StatusOr<std::unique_ptr<UploadWriter>> UploadManager::BeginWrite(absl::string_view id) {
  {
    MutexLock lock(&mutex_);
    RETURN_IF_ERROR(CheckNotDraining());
    const Live live = FindLive(id);
    while (live != nullptr && live->closing) changed_.Wait(&mutex_);
    if (live != nullptr && !live->gone) {
      if (live->state == UploadRecord::State::kOpen) {
        if (!live->join.has_value() && (live->streams > 0 || live->sealing)) {
          return absl::AbortedError(
              absl::StrCat("upload ", id, " is being written or sealed by another call"));
        }
        ++live->streams;
        return std::unique_ptr<UploadWriter>(new UploadWriter(this, live));
      }
      if (live->state == UploadRecord::State::kSealing) {
        return absl::FailedPreconditionError(
            absl::StrCat("upload ", id, " is being sealed and takes no more files"));
      }
    }
  }
  ASSIGN_OR_RETURN(const UploadRecord record, uploads_->Get(id));
  if (record.state == UploadRecord::State::kRefused) {
    return absl::FailedPreconditionError(
        absl::StrCat("upload ", id, " was refused: ", record.error));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("upload ", id, " is sealed: its trace is traces/", record.trace_id));
}

absl::Status UploadManager::BeginCall(LiveUpload* live) {
  MutexLock lock(&mutex_);
  while (live->closing) changed_.Wait(&mutex_);
  if (live->gone || live->state != UploadRecord::State::kOpen) {
    return absl::FailedPreconditionError(
        absl::StrCat("upload ", live->id,
                     live->gone ? " is sealed or deleted"
                                : " is being sealed, and takes no more bytes; what is not complete "
                                  "is left out"));
  }
  ++live->calls;
  return absl::OkStatus();
}

void UploadManager::EndCall(LiveUpload* live) {
  MutexLock lock(&mutex_);
  if (--live->calls == 0 && live->closing) changed_.NotifyAll();
}

absl::Status UploadManager::TakeFile(LiveUpload* live, const std::string& file) {
  if (!live->join.has_value()) return absl::OkStatus();  // Never changes.
  MutexLock lock(&mutex_);
  if (live->writing.insert(file).second) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("upload ", live->id, ": ", file, " is being written by another call"));
}

void UploadManager::EndStream(LiveUpload* live, const std::set<std::string>& files) {
  MutexLock lock(&mutex_);
  --live->streams;
  for (const std::string& file : files) live->writing.erase(file);
  changed_.NotifyAll();
}

absl::Status UploadManager::Reserve(LiveUpload* live, int64_t bytes, int64_t files) {
  {
    MutexLock lock(&mutex_);
    if (live->files_count + files > limits_.upload_files) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "upload has ", live->files_count, " files, the most allowed (--max_upload_files)"));
    }
    if (live->staged_bytes + bytes > limits_.upload_bytes) {
      return absl::ResourceExhaustedError(absl::StrCat("upload would exceed ", limits_.upload_bytes,
                                                       " bytes (--max_upload_bytes)"));
    }
    live->files_count += files;
    live->staged_bytes += bytes;
  }
  const absl::Status staged = use_.Stage(live->tenant, bytes);
  if (staged.ok()) return staged;
  MutexLock lock(&mutex_);
  live->files_count -= files;
  live->staged_bytes -= bytes;
  return staged;
}

void UploadManager::Unreserve(LiveUpload* live, int64_t bytes, int64_t files) {
  {
    MutexLock lock(&mutex_);
    // Then they were given back with all others.
    if (live->gone || live->state == UploadRecord::State::kRefused) return;
    live->files_count -= files;
    live->staged_bytes -= bytes;
  }
  use_.Unstage(live->tenant, bytes);
}

bool UploadManager::NoteComplete(LiveUpload* live,
                                 const std::map<std::string, UploadedFile>& files) {
  if (!live->join.has_value()) return false;
  MutexLock lock(&mutex_);
  for (const auto& [name, file] : files) {
    if (file.complete) live->complete.insert(name);
  }
  return live->join->expected_files > 0 &&
         static_cast<int64_t>(live->complete.size()) >= live->join->expected_files;
}

}  // namespace chakrad
