#include "storage/upload_staging.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/sha256.h"
#include "common/status.h"
#include "storage/ids.h"
#include "storage/limits.h"
#include "storage/posix_file.h"

namespace chakrad {
namespace {

constexpr size_t kReadBytes = 1 << 20;

}  // namespace

std::string QuotedFile(absl::string_view file) {
  return absl::StrCat("file \"", absl::CHexEscape(file), "\"");
}

absl::StatusOr<std::string> Sha256OfFile(const std::string& path, int64_t size_bytes) {
  std::ifstream in(path, std::ios::binary);
  std::string piece(static_cast<size_t>(std::clamp<int64_t>(size_bytes, 1, kReadBytes)), '\0');
  Sha256 hash;
  int64_t left_bytes = size_bytes;
  while (left_bytes > 0) {
    const int64_t bytes = std::min<int64_t>(left_bytes, static_cast<int64_t>(piece.size()));
    if (!in.read(piece.data(), bytes)) {
      return absl::DataLossError(absl::StrCat(path, ": ", size_bytes - left_bytes, " of ",
                                              size_bytes, " bytes could be read"));
    }
    hash.Update(absl::string_view(piece.data(), static_cast<size_t>(bytes)));
    left_bytes -= bytes;
  }
  return hash.Digest();
}

UploadStaging::UploadStaging(std::string staging_dir, absl::string_view id, int64_t reserve_bytes,
                             const std::vector<NumberedFile>& recorded)
    : staging_dir_(std::move(staging_dir)),
      folder_(absl::StrCat(staging_dir_, "/", id)),
      reserve_bytes_(reserve_bytes) {
  for (const NumberedFile& file : recorded) {
    Staged& staged = files_[file.name];
    staged.number = file.number;
    staged.committed = file.file;
    staged.appended_bytes = file.file.committed_bytes;
    staged.recorded = true;
    staged.finished = file.file.complete;
    next_number_ = std::max(next_number_, file.number + 1);
  }
}

std::string UploadStaging::PathOf(int32_t number) const {
  return absl::StrCat(folder_, "/", number);
}

void UploadStaging::Close() {
  MutexLock lock(&mutex_);
  closed_ = true;
}

absl::Status UploadStaging::CheckOpen() {
  if (!closed_) return absl::OkStatus();
  return absl::FailedPreconditionError("the upload is being sealed and takes no more bytes");
}

absl::StatusOr<UploadStaging::Staged*> UploadStaging::FindOrAdd(absl::string_view file,
                                                                int64_t offset) {
  RETURN_IF_ERROR(CheckOpen());
  auto it = files_.find(std::string(file));
  const int64_t appended_bytes = it == files_.end() ? 0 : it->second.appended_bytes;
  if (it != files_.end() && it->second.finished) {
    return absl::FailedPreconditionError(
        absl::StrCat(QuotedFile(file), " is complete with ", appended_bytes, " bytes"));
  }
  if (offset != appended_bytes) {
    return absl::OutOfRangeError(absl::StrCat(QuotedFile(file), ": offset: ", offset,
                                              " is not the appended size, ", appended_bytes));
  }
  if (it != files_.end()) return &it->second;
  if (next_number_ >= kMaxFilesPerUpload) {
    return absl::ResourceExhaustedError(
        absl::StrCat(QuotedFile(file), ": an upload has at most ", kMaxFilesPerUpload, " files"));
  }
  Staged& added = files_[std::string(file)];
  added.number = next_number_++;
  return &added;
}

absl::Status UploadStaging::Append(absl::string_view file, int64_t offset, absl::string_view data) {
  if (file.empty()) return absl::InvalidArgumentError("file: must not be empty");
  RETURN_IF_ERROR(CheckLength("file", file, kMaxFileNameBytes));
  std::string path;
  bool create = false;
  Staged* staged = nullptr;
  {
    MutexLock lock(&mutex_);
    if (!folder_exists_) {
      RETURN_IF_ERROR(MakeFolders(folder_));
      folder_exists_ = true;
    }
    RETURN_IF_ERROR(CheckFreeSpace(staging_dir_, static_cast<int64_t>(data.size()), reserve_bytes_,
                                   QuotedFile(file)));
    ASSIGN_OR_RETURN(staged, FindOrAdd(file, offset));
    staged->appending = true;
    create = !staged->recorded && staged->appended_bytes == 0;
    path = PathOf(staged->number);
  }
  const absl::Status written = WriteAt(path, offset, data, create);
  MutexLock lock(&mutex_);
  staged->appending = false;
  changed_.NotifyAll();
  if (written.ok()) {
    staged->dirty = true;
    staged->appended_bytes += static_cast<int64_t>(data.size());
    return absl::OkStatus();
  }
  if (!staged->recorded && !staged->dirty && !staged->committing) {  // It never began.
    if (staged->number == next_number_ - 1) --next_number_;
    files_.erase(std::string(file));
  }
  return Annotate(written, absl::StrCat(QuotedFile(file), ": ", data.size(), " bytes at ", offset));
}

absl::Status UploadStaging::Finish(absl::string_view file) {
  MutexLock lock(&mutex_);
  const auto it = files_.find(std::string(file));
  if (it == files_.end()) {
    return absl::NotFoundError(absl::StrCat(QuotedFile(file), " has no bytes yet"));
  }
  if (it->second.finished) return absl::OkStatus();
  RETURN_IF_ERROR(CheckOpen());
  it->second.finished = true;
  it->second.dirty = true;
  return absl::OkStatus();
}

absl::StatusOr<bool> UploadStaging::Matches(absl::string_view file, int64_t offset,
                                            absl::string_view data) {
  std::string path;
  {
    MutexLock lock(&mutex_);
    const auto it = files_.find(std::string(file));
    if (it == files_.end() || offset < 0 ||
        offset > it->second.appended_bytes - static_cast<int64_t>(data.size())) {
      return false;
    }
    path = PathOf(it->second.number);
  }
  if (data.empty()) return true;
  std::ifstream in(path, std::ios::binary);
  std::string there(data.size(), '\0');
  if (!in.seekg(offset) || !in.read(there.data(), static_cast<std::streamsize>(there.size()))) {
    return absl::DataLossError(absl::StrCat(QuotedFile(file), ": ", data.size(), " bytes at ",
                                            offset, " cannot be read again"));
  }
  return std::memcmp(there.data(), data.data(), data.size()) == 0;
}

absl::StatusOr<std::string> UploadStaging::PathOf(absl::string_view file) {
  MutexLock lock(&mutex_);
  const auto it = files_.find(std::string(file));
  if (it == files_.end() || !it->second.recorded) {
    return absl::NotFoundError(absl::StrCat(QuotedFile(file), " has nothing committed"));
  }
  return PathOf(it->second.number);
}

bool UploadStaging::ChooseDirty(const std::optional<std::set<std::string>>& files,
                                std::vector<std::string>* dirty) {
  dirty->clear();
  bool busy = false;
  if (!files.has_value()) {
    for (const auto& [name, staged] : files_) {
      busy = busy || staged.committing;
      if (staged.dirty) dirty->push_back(name);
    }
    return !busy;
  }
  for (const std::string& name : *files) {
    const auto it = files_.find(name);
    if (it == files_.end()) continue;
    busy = busy || it->second.committing;
    if (it->second.dirty) dirty->push_back(name);
  }
  return !busy;
}

std::vector<UploadStaging::Pending> UploadStaging::BeginCommit(
    const std::optional<std::set<std::string>>& files) {
  std::vector<std::string> dirty;
  while (!ChooseDirty(files, &dirty)) changed_.Wait(&mutex_);
  std::vector<Pending> pending;
  for (const std::string& name : dirty) {
    Staged& staged = files_[name];
    staged.committing = true;
    pending.push_back({{name, staged.number, staged.committed}, !staged.recorded});
    pending.back().file.file.committed_bytes = staged.appended_bytes;
    pending.back().file.file.complete = staged.finished;
  }
  return pending;
}

// The system may have dropped what it could not write: a second sync would
// report success. The client starts again from the committed size.
void UploadStaging::TakeBack(const std::string& name) {
  Staged& staged = files_[name];
  while (staged.appending) changed_.Wait(&mutex_);
  staged.appended_bytes = staged.committed.committed_bytes;
  staged.finished = staged.committed.complete;
  TruncateFile(PathOf(staged.number), staged.appended_bytes).IgnoreError();
}

absl::Status UploadStaging::Sync(std::vector<Pending>* pending) {
  bool has_new_file = false;
  for (Pending& one : *pending) {
    const std::string path = PathOf(one.file.number);
    UploadedFile& file = one.file.file;
    absl::Status synced = SyncFile(path);
    if (synced.ok() && file.complete && file.sha256.empty()) {
      absl::StatusOr<std::string> sha256 = Sha256OfFile(path, file.committed_bytes);
      synced = sha256.status();
      if (sha256.ok()) file.sha256 = *std::move(sha256);
    }
    if (!synced.ok()) {
      MutexLock lock(&mutex_);
      TakeBack(one.file.name);
      return Annotate(synced, QuotedFile(one.file.name));
    }
    has_new_file = has_new_file || one.is_new;
  }
  if (!has_new_file) return absl::OkStatus();
  RETURN_IF_ERROR(SyncFolder(folder_));
  return SyncFolder(staging_dir_);
}

absl::StatusOr<std::map<std::string, UploadedFile>> UploadStaging::Commit(
    const std::optional<std::set<std::string>>& files,
    const std::function<absl::Status(const std::vector<NumberedFile>&)>& record) {
  std::vector<Pending> pending;
  {
    MutexLock lock(&mutex_);
    pending = BeginCommit(files);
  }
  absl::Status status;
  if (!pending.empty()) {
    status = Sync(&pending);
    if (status.ok()) {
      std::vector<NumberedFile> news;
      for (const Pending& one : pending) news.push_back(one.file);
      status = record(news);
    }
  }
  MutexLock lock(&mutex_);
  for (const Pending& one : pending) {
    Staged& staged = files_[one.file.name];
    staged.committing = false;
    if (!status.ok()) continue;
    staged.committed = one.file.file;
    staged.recorded = true;
    staged.dirty = staged.appended_bytes != staged.committed.committed_bytes ||
                   staged.finished != staged.committed.complete;
  }
  changed_.NotifyAll();
  RETURN_IF_ERROR(status);
  std::map<std::string, UploadedFile> now;
  if (!files.has_value()) return now;
  for (const std::string& name : *files) {
    const auto it = files_.find(name);
    if (it != files_.end() && it->second.recorded) now[name] = it->second.committed;
  }
  return now;
}

}  // namespace chakrad
