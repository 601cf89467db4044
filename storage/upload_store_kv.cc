#include "storage/upload_store_kv.h"

#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/status.h"
#include "storage/ids.h"
#include "storage/keys.h"
#include "storage/limits.h"
#include "storage/posix_file.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/upload_record.h"

namespace chakrad {
namespace {

std::string HeaderKey(absl::string_view id) { return absl::StrCat("u", id); }
std::string RequestKey(absl::string_view request_id) { return absl::StrCat("q", request_id); }
std::string FilesPrefix(absl::string_view id) {
  return absl::StrCat("f", id, std::string(1, '\0'));
}
std::string FileKey(absl::string_view id, int32_t number) {
  return absl::StrCat(FilesPrefix(id), SortableInt32(number));
}

// How messages name a file: any bytes may be in it.
std::string Quoted(absl::string_view file) {
  return absl::StrCat("file \"", absl::CHexEscape(file), "\"");
}

struct StagedFile {
  int32_t number = 0;
  int64_t committed_bytes = 0;
  int64_t appended_bytes = 0;
  bool recorded = false;  // Has a record: it was committed once.
  bool dirty = false;     // Has something that no commit has made durable.
};

// What an open upload has received. Used by one call at a time.
struct Staging {
  std::map<std::string, StagedFile> files;
  int32_t next_number = 0;
  bool folder_exists = false;
};

class UploadStoreKv : public UploadStore {
 public:
  UploadStoreKv(std::shared_ptr<Kv> kv, std::string staging_dir, int64_t reserve_bytes)
      : kv_(std::move(kv)), staging_dir_(std::move(staging_dir)), reserve_bytes_(reserve_bytes) {}

  absl::StatusOr<UploadRecord> Create(const UploadRecord& record) override;
  absl::StatusOr<UploadRecord> Get(absl::string_view id) override;
  absl::StatusOr<UploadRecord> FindByRequestId(absl::string_view request_id) override;
  absl::StatusOr<std::vector<UploadRecord>> List() override;
  absl::Status Append(absl::string_view id, absl::string_view file, int64_t offset,
                      absl::string_view data) override;
  absl::StatusOr<UploadRecord> Commit(absl::string_view id) override;
  absl::StatusOr<std::string> PathOf(absl::string_view id, absl::string_view file) override;
  absl::Status MarkSealed(absl::string_view id, absl::string_view trace_id) override;
  absl::Status Delete(absl::string_view id) override;
  absl::Status Recover() override;

 private:
  std::string FolderOf(absl::string_view id) const { return absl::StrCat(staging_dir_, "/", id); }
  std::string PathOfFile(absl::string_view id, const StagedFile& file) const {
    return absl::StrCat(FolderOf(id), "/", file.number);
  }
  absl::StatusOr<UploadRecord> ReadHeader(absl::string_view id);
  // The header and FAILED_PRECONDITION when it is sealed.
  absl::StatusOr<UploadRecord> ReadOpenHeader(absl::string_view id);
  absl::StatusOr<std::map<std::string, StagedFile>> ReadFiles(absl::string_view id);
  absl::StatusOr<std::shared_ptr<Staging>> StagingOf(absl::string_view id);
  void Forget(absl::string_view id);
  absl::StatusOr<StagedFile*> FindOrAddFile(absl::string_view file, int64_t offset,
                                            Staging* staging);
  absl::Status SyncFiles(absl::string_view id, Staging* staging);
  absl::Status RecoverUpload(absl::string_view id);

  const std::shared_ptr<Kv> kv_;
  const std::string staging_dir_;
  const int64_t reserve_bytes_;
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<Staging>> staging_by_id_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<UploadRecord> UploadStoreKv::ReadHeader(absl::string_view id) {
  const auto value = kv_->Get(Family::kUploads, HeaderKey(id));
  if (absl::IsNotFound(value.status())) {
    return absl::NotFoundError(absl::StrCat("upload ", absl::CHexEscape(id), " is not known"));
  }
  RETURN_IF_ERROR(value.status());
  storage::UploadHeader header;
  RETURN_IF_ERROR(Annotate(UnpackRecord(*value, &header), absl::StrCat("upload ", id)));
  UploadRecord record;
  record.id = std::string(id);
  RETURN_IF_ERROR(Annotate(UploadFromProto(header, &record), absl::StrCat("upload ", id)));
  return record;
}

absl::StatusOr<UploadRecord> UploadStoreKv::ReadOpenHeader(absl::string_view id) {
  ASSIGN_OR_RETURN(UploadRecord record, ReadHeader(id));
  if (record.state == UploadRecord::State::kOpen) return record;
  return absl::FailedPreconditionError(
      absl::StrCat("upload ", id, " is sealed as trace ", record.trace_id));
}

absl::StatusOr<std::map<std::string, StagedFile>> UploadStoreKv::ReadFiles(absl::string_view id) {
  std::map<std::string, StagedFile> files;
  absl::Status failure;
  int32_t number = 0;
  const std::string prefix = FilesPrefix(id);
  // Numbers are dense: a file gets its record with the first commit after it began.
  RETURN_IF_ERROR(kv_->Scan(Family::kUploads, PrefixRange(prefix), ScanOrder::kForward,
                            [&](absl::string_view key, absl::string_view value) {
                              storage::UploadFile record;
                              failure = UnpackRecord(value, &record);
                              if (failure.ok() && key != FileKey(id, number)) {
                                failure = absl::DataLossError(
                                    absl::StrCat("the record of file ", number, " is missing"));
                              }
                              StagedFile file;
                              file.number = number++;
                              file.committed_bytes = file.appended_bytes = record.committed_bytes();
                              file.recorded = true;
                              files[record.name()] = file;
                              return failure.ok();
                            }));
  RETURN_IF_ERROR(Annotate(failure, absl::StrCat("upload ", id)));
  return files;
}

absl::StatusOr<std::shared_ptr<Staging>> UploadStoreKv::StagingOf(absl::string_view id) {
  {
    MutexLock lock(&mutex_);
    const auto it = staging_by_id_.find(std::string(id));
    if (it != staging_by_id_.end()) return it->second;
  }
  auto staging = std::make_shared<Staging>();
  ASSIGN_OR_RETURN(staging->files, ReadFiles(id));
  staging->next_number = static_cast<int32_t>(staging->files.size());
  MutexLock lock(&mutex_);
  return staging_by_id_.emplace(std::string(id), std::move(staging)).first->second;
}

void UploadStoreKv::Forget(absl::string_view id) {
  MutexLock lock(&mutex_);
  staging_by_id_.erase(std::string(id));
}

absl::StatusOr<UploadRecord> UploadStoreKv::Create(const UploadRecord& record) {
  RETURN_IF_ERROR(CheckId("upload_id", record.id));
  RETURN_IF_ERROR(CheckLength("request_id", record.request_id, kMaxRequestIdBytes));
  if (record.state != UploadRecord::State::kOpen || !record.committed_bytes.empty()) {
    return absl::InvalidArgumentError("upload: a new one is open and has no committed bytes");
  }
  MutexLock lock(&mutex_);  // Looking for the request and storing it is one step.
  if (!record.request_id.empty()) {
    auto existing = FindByRequestId(record.request_id);
    if (!absl::IsNotFound(existing.status())) return existing;
  }
  const absl::Status found = kv_->Get(Family::kUploads, HeaderKey(record.id)).status();
  if (found.ok()) return absl::AlreadyExistsError(absl::StrCat("upload ", record.id, " exists"));
  if (!absl::IsNotFound(found)) return found;
  storage::UploadHeader header;
  UploadToProto(record, &header);
  KvBatch batch;
  batch.Put(Family::kUploads, HeaderKey(record.id), PackRecord(header));
  if (!record.request_id.empty()) {
    batch.Put(Family::kUploads, RequestKey(record.request_id), record.id);
  }
  RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/true));
  return record;
}

absl::StatusOr<UploadRecord> UploadStoreKv::FindByRequestId(absl::string_view request_id) {
  ASSIGN_OR_RETURN(const std::string id, kv_->Get(Family::kUploads, RequestKey(request_id)));
  return Get(id);
}

absl::StatusOr<UploadRecord> UploadStoreKv::Get(absl::string_view id) {
  ASSIGN_OR_RETURN(UploadRecord record, ReadHeader(id));
  ASSIGN_OR_RETURN(const auto files, ReadFiles(id));
  for (const auto& [name, file] : files) record.committed_bytes[name] = file.committed_bytes;
  return record;
}

absl::StatusOr<std::vector<UploadRecord>> UploadStoreKv::List() {
  std::vector<std::string> ids;
  RETURN_IF_ERROR(kv_->Scan(Family::kUploads, PrefixRange("u"), ScanOrder::kForward,
                            [&](absl::string_view key, absl::string_view) {
                              ids.emplace_back(key.substr(1));
                              return true;
                            }));
  std::vector<UploadRecord> records;
  for (const std::string& id : ids) {
    auto record = Get(id);
    if (absl::IsNotFound(record.status())) continue;  // Deleted meanwhile.
    RETURN_IF_ERROR(record.status());
    records.push_back(*std::move(record));
  }
  return records;
}

absl::StatusOr<StagedFile*> UploadStoreKv::FindOrAddFile(absl::string_view file, int64_t offset,
                                                         Staging* staging) {
  auto it = staging->files.find(std::string(file));
  const int64_t appended_bytes = it == staging->files.end() ? 0 : it->second.appended_bytes;
  if (offset != appended_bytes) {
    return absl::OutOfRangeError(absl::StrCat(Quoted(file), ": offset: ", offset,
                                              " is not the appended size, ", appended_bytes));
  }
  if (it == staging->files.end()) {
    if (staging->next_number >= kMaxFilesPerUpload) {
      return absl::ResourceExhaustedError(
          absl::StrCat(Quoted(file), ": an upload has at most ", kMaxFilesPerUpload, " files"));
    }
    it = staging->files.emplace(std::string(file), StagedFile{}).first;
    it->second.number = staging->next_number++;
  }
  return &it->second;
}

absl::Status UploadStoreKv::Append(absl::string_view id, absl::string_view file, int64_t offset,
                                   absl::string_view data) {
  if (file.empty()) return absl::InvalidArgumentError("file: must not be empty");
  RETURN_IF_ERROR(CheckLength("file", file, kMaxFileNameBytes));
  RETURN_IF_ERROR(ReadOpenHeader(id).status());
  ASSIGN_OR_RETURN(const std::shared_ptr<Staging> staging, StagingOf(id));
  if (!staging->folder_exists) {
    RETURN_IF_ERROR(MakeFolders(FolderOf(id)));
    staging->folder_exists = true;
  }
  RETURN_IF_ERROR(CheckFreeSpace(staging_dir_, static_cast<int64_t>(data.size()), reserve_bytes_,
                                 Quoted(file)));
  ASSIGN_OR_RETURN(StagedFile* const staged, FindOrAddFile(file, offset, staging.get()));
  const bool create = !staged->recorded && staged->appended_bytes == 0;
  const absl::Status written = WriteAt(PathOfFile(id, *staged), offset, data, create);
  if (!written.ok()) {
    if (!staged->recorded && !staged->dirty) {  // It never began: its number is the last.
      staging->files.erase(std::string(file));
      --staging->next_number;
    }
    return Annotate(written, absl::StrCat(Quoted(file), ": ", data.size(), " bytes at ", offset));
  }
  staged->dirty = true;
  staged->appended_bytes += static_cast<int64_t>(data.size());
  return absl::OkStatus();
}

absl::Status UploadStoreKv::SyncFiles(absl::string_view id, Staging* staging) {
  bool has_new_file = false;
  for (auto& [name, file] : staging->files) {
    if (!file.dirty) continue;
    const absl::Status synced = SyncFile(PathOfFile(id, file));
    if (!synced.ok()) {
      // The system may have dropped what it could not write: a second sync would
      // report success. The client starts again from the committed size.
      file.appended_bytes = file.committed_bytes;
      TruncateFile(PathOfFile(id, file), file.committed_bytes).IgnoreError();
      return Annotate(synced, Quoted(name));
    }
    has_new_file = has_new_file || !file.recorded;
  }
  if (!has_new_file) return absl::OkStatus();
  RETURN_IF_ERROR(SyncFolder(FolderOf(id)));
  return SyncFolder(staging_dir_);
}

absl::StatusOr<UploadRecord> UploadStoreKv::Commit(absl::string_view id) {
  RETURN_IF_ERROR(ReadOpenHeader(id).status());
  ASSIGN_OR_RETURN(const std::shared_ptr<Staging> staging, StagingOf(id));
  RETURN_IF_ERROR(SyncFiles(id, staging.get()));
  KvBatch batch;
  for (const auto& [name, file] : staging->files) {
    if (!file.dirty) continue;
    storage::UploadFile record;
    record.set_name(name);
    record.set_committed_bytes(file.appended_bytes);
    batch.Put(Family::kUploads, FileKey(id, file.number), PackRecord(record));
  }
  if (!batch.ops().empty()) RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/true));
  for (auto& [name, file] : staging->files) {
    if (!file.dirty) continue;
    file.committed_bytes = file.appended_bytes;
    file.recorded = true;
    file.dirty = false;
  }
  return Get(id);
}

absl::StatusOr<std::string> UploadStoreKv::PathOf(absl::string_view id, absl::string_view file) {
  RETURN_IF_ERROR(ReadOpenHeader(id).status());
  ASSIGN_OR_RETURN(const std::shared_ptr<Staging> staging, StagingOf(id));
  const auto it = staging->files.find(std::string(file));
  if (it == staging->files.end() || !it->second.recorded) {
    return absl::NotFoundError(
        absl::StrCat("upload ", id, ": ", Quoted(file), " has nothing committed"));
  }
  return PathOfFile(id, it->second);
}

absl::Status UploadStoreKv::MarkSealed(absl::string_view id, absl::string_view trace_id) {
  RETURN_IF_ERROR(CheckId("trace_id", trace_id));
  ASSIGN_OR_RETURN(UploadRecord record, ReadHeader(id));
  if (record.state == UploadRecord::State::kSealed && record.trace_id != trace_id) {
    return absl::FailedPreconditionError(
        absl::StrCat("upload ", id, " is sealed as trace ", record.trace_id));
  }
  record.state = UploadRecord::State::kSealed;
  record.trace_id = std::string(trace_id);
  storage::UploadHeader header;
  UploadToProto(record, &header);
  KvBatch batch;
  batch.Put(Family::kUploads, HeaderKey(id), PackRecord(header));
  RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/true));
  Forget(id);
  // Sealed is sealed: bytes that stay behind here go with the next Recover.
  RemoveAll(FolderOf(id)).IgnoreError();
  return absl::OkStatus();
}

absl::Status UploadStoreKv::Delete(absl::string_view id) {
  ASSIGN_OR_RETURN(const UploadRecord record, ReadHeader(id));
  const KvRange files = PrefixRange(FilesPrefix(id));
  KvBatch batch;
  batch.Delete(Family::kUploads, HeaderKey(id));
  batch.DeleteRange(Family::kUploads, files.begin, files.end);
  if (!record.request_id.empty()) batch.Delete(Family::kUploads, RequestKey(record.request_id));
  RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/true));
  Forget(id);
  RemoveAll(FolderOf(id)).IgnoreError();  // As in MarkSealed.
  return absl::OkStatus();
}

absl::Status UploadStoreKv::RecoverUpload(absl::string_view id) {
  ASSIGN_OR_RETURN(const auto files, ReadFiles(id));
  std::set<std::string> known;
  KvBatch batch;
  for (const auto& [name, file] : files) {
    known.insert(absl::StrCat(file.number));
    const std::string path = PathOfFile(id, file);
    absl::StatusOr<int64_t> size_bytes = FileSize(path);
    if (absl::IsNotFound(size_bytes.status())) {
      RETURN_IF_ERROR(MakeFolders(FolderOf(id)));
      RETURN_IF_ERROR(WriteAt(path, 0, "", /*create=*/true));
      size_bytes = 0;
    }
    RETURN_IF_ERROR(size_bytes.status());
    if (*size_bytes > file.committed_bytes) {
      RETURN_IF_ERROR(TruncateFile(path, file.committed_bytes));
    } else if (*size_bytes < file.committed_bytes) {
      // Somebody cut the file: the client is told to send it again from there.
      storage::UploadFile record;
      record.set_name(name);
      record.set_committed_bytes(*size_bytes);
      batch.Put(Family::kUploads, FileKey(id, file.number), PackRecord(record));
    }
  }
  if (!batch.ops().empty()) RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/true));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(FolderOf(id)));
  for (const std::string& name : names) {
    if (known.count(name) > 0) continue;
    RETURN_IF_ERROR(RemoveAll(absl::StrCat(FolderOf(id), "/", name)));
  }
  return absl::OkStatus();
}

absl::Status UploadStoreKv::Recover() {
  {
    MutexLock lock(&mutex_);
    staging_by_id_.clear();
  }
  ASSIGN_OR_RETURN(const std::vector<UploadRecord> records, List());
  std::set<std::string> open_ids;
  for (const UploadRecord& record : records) {
    if (record.state != UploadRecord::State::kOpen) continue;
    open_ids.insert(record.id);
    RETURN_IF_ERROR(Annotate(RecoverUpload(record.id), absl::StrCat("upload ", record.id)));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(staging_dir_));
  for (const std::string& name : names) {
    if (open_ids.count(name) > 0) continue;
    RETURN_IF_ERROR(RemoveAll(absl::StrCat(staging_dir_, "/", name)));
  }
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<UploadStore> NewUploadStore(std::shared_ptr<Kv> kv, std::string staging_dir,
                                            int64_t reserve_bytes) {
  return std::make_unique<UploadStoreKv>(std::move(kv), std::move(staging_dir), reserve_bytes);
}

}  // namespace chakrad
