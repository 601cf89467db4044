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
#include "storage/scan_past_damage.h"
#include "storage/upload_record.h"
#include "storage/upload_staging.h"

namespace chakrad {
namespace {

std::string HeaderKey(absl::string_view id) { return absl::StrCat("u", id); }
std::string RequestKey(absl::string_view request_id) { return absl::StrCat("q", request_id); }
std::string FilesPrefix(absl::string_view id) {
  return absl::StrCat("f", id, std::string(1, '\0'));
}
std::string ClaimsKey(absl::string_view id) { return absl::StrCat("c", id); }
std::string FileKey(absl::string_view id, int32_t number) {
  return absl::StrCat(FilesPrefix(id), SortableInt32(number));
}

// What SortableInt32 wrote; -1: it did not.
int64_t ParseFileNumber(absl::string_view bytes) {
  if (bytes.size() != 4) return -1;
  uint32_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
  return static_cast<int32_t>(bits ^ 0x80000000u);
}

class UploadStoreKv : public UploadStore {
 public:
  UploadStoreKv(std::shared_ptr<Kv> kv, std::string staging_dir, int64_t reserve_bytes)
      : kv_(std::move(kv)), staging_dir_(std::move(staging_dir)), reserve_bytes_(reserve_bytes) {}

  absl::StatusOr<UploadRecord> Create(const UploadRecord& record) override;
  absl::StatusOr<UploadRecord> Get(absl::string_view id) override;
  absl::StatusOr<UploadRecord> FindByRequestId(absl::string_view request_id) override;
  absl::StatusOr<std::vector<UploadRecord>> ListUnsealed() override;
  absl::Status Visit(const std::function<void(const UploadRecord&)>& visit) override;
  absl::Status Append(absl::string_view id, absl::string_view file, int64_t offset,
                      absl::string_view data) override;
  absl::Status Finish(absl::string_view id, absl::string_view file) override;
  absl::StatusOr<bool> Matches(absl::string_view id, absl::string_view file, int64_t offset,
                               absl::string_view data) override;
  absl::StatusOr<std::map<std::string, UploadedFile>> CommitFiles(
      absl::string_view id, const std::set<std::string>& files) override;
  absl::StatusOr<UploadRecord> Commit(absl::string_view id) override;
  absl::StatusOr<std::string> PathOf(absl::string_view id, absl::string_view file) override;
  absl::Status Update(const UploadRecord& record) override;
  absl::Status Delete(absl::string_view id) override;
  absl::StatusOr<int64_t> Recover() override;

 private:
  std::string FolderOf(absl::string_view id) const { return absl::StrCat(staging_dir_, "/", id); }
  absl::StatusOr<UploadRecord> ReadHeader(absl::string_view id);
  // The header; FAILED_PRECONDITION when it is sealed or refused.
  absl::StatusOr<UploadRecord> ReadUnsealedHeader(absl::string_view id);
  absl::StatusOr<std::vector<NumberedFile>> ReadFiles(absl::string_view id);
  absl::Status WriteFiles(absl::string_view id, const std::vector<NumberedFile>& files);
  absl::StatusOr<std::shared_ptr<UploadStaging>> StagingOf(absl::string_view id);
  void Forget(absl::string_view id);
  // Returns how many records, or places of them, could not be read.
  absl::StatusOr<int64_t> VisitPastDamage(const std::function<void(const UploadRecord&)>& visit);
  absl::Status RecoverUpload(UploadRecord record);

  const std::shared_ptr<Kv> kv_;
  const std::string staging_dir_;
  const int64_t reserve_bytes_;
  Mutex mutex_;
  // Of uploads that are not sealed: whoever is here need not read its header again.
  std::map<std::string, std::shared_ptr<UploadStaging>> staging_by_id_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<UploadRecord> ParseHeader(absl::string_view id, absl::string_view value) {
  storage::UploadHeader header;
  RETURN_IF_ERROR(Annotate(UnpackRecord(value, &header), absl::StrCat("upload ", id)));
  UploadRecord record;
  record.id = std::string(id);
  RETURN_IF_ERROR(Annotate(UploadFromProto(header, &record), absl::StrCat("upload ", id)));
  return record;
}

std::string PackHeader(const UploadRecord& record) {
  storage::UploadHeader header;
  UploadToProto(record, &header);
  return PackRecord(header);
}

bool HasBytes(const UploadRecord& record) {
  return record.state == UploadRecord::State::kOpen ||
         record.state == UploadRecord::State::kSealing;
}

absl::StatusOr<UploadRecord> UploadStoreKv::ReadHeader(absl::string_view id) {
  const auto value = kv_->Get(Family::kUploads, HeaderKey(id));
  if (absl::IsNotFound(value.status())) {
    return absl::NotFoundError(absl::StrCat("upload ", absl::CHexEscape(id), " is not known"));
  }
  RETURN_IF_ERROR(value.status());
  return ParseHeader(id, *value);
}

absl::StatusOr<UploadRecord> UploadStoreKv::ReadUnsealedHeader(absl::string_view id) {
  ASSIGN_OR_RETURN(UploadRecord record, ReadHeader(id));
  if (HasBytes(record)) return record;
  if (record.state == UploadRecord::State::kRefused) {
    return absl::FailedPreconditionError(
        absl::StrCat("upload ", id, " was refused: ", record.error));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("upload ", id, " is sealed as trace ", record.trace_id));
}

absl::StatusOr<std::vector<NumberedFile>> UploadStoreKv::ReadFiles(absl::string_view id) {
  std::vector<NumberedFile> files;
  absl::Status failure;
  const std::string prefix = FilesPrefix(id);
  // Numbers may have gaps: a file gets its record with its own first commit.
  RETURN_IF_ERROR(kv_->Scan(
      Family::kUploads, PrefixRange(prefix), ScanOrder::kForward,
      [&](absl::string_view key, absl::string_view value) {
        storage::UploadFile record;
        failure = UnpackRecord(value, &record);
        const int64_t number = ParseFileNumber(key.substr(prefix.size()));
        if (failure.ok() && number < 0) failure = absl::DataLossError("a file's key has no number");
        if (!failure.ok()) return false;
        files.push_back({record.name(), static_cast<int32_t>(number), UploadFileFromProto(record)});
        return true;
      }));
  RETURN_IF_ERROR(Annotate(failure, absl::StrCat("upload ", id)));
  return files;
}

absl::Status UploadStoreKv::WriteFiles(absl::string_view id,
                                       const std::vector<NumberedFile>& files) {
  KvBatch batch;
  for (const NumberedFile& file : files) {
    storage::UploadFile record;
    UploadFileToProto(file.name, file.file, &record);
    batch.Put(Family::kUploads, FileKey(id, file.number), PackRecord(record));
  }
  return kv_->Write(batch, /*sync=*/true);
}

absl::StatusOr<std::shared_ptr<UploadStaging>> UploadStoreKv::StagingOf(absl::string_view id) {
  {
    MutexLock lock(&mutex_);
    const auto it = staging_by_id_.find(std::string(id));
    if (it != staging_by_id_.end()) return it->second;
  }
  ASSIGN_OR_RETURN(const UploadRecord record, ReadUnsealedHeader(id));
  ASSIGN_OR_RETURN(const std::vector<NumberedFile> files, ReadFiles(id));
  auto staging = std::make_shared<UploadStaging>(staging_dir_, id, reserve_bytes_, files);
  if (record.state != UploadRecord::State::kOpen) staging->Close();
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
  const bool sealed = record.state == UploadRecord::State::kSealed;
  if ((record.state != UploadRecord::State::kOpen && !sealed) || !record.files.empty()) {
    return absl::InvalidArgumentError("upload: a new one is open or sealed and has no files");
  }
  if (sealed) RETURN_IF_ERROR(CheckId("trace_id", record.trace_id));
  MutexLock lock(&mutex_);  // Looking for the request and storing it is one step.
  if (!record.request_id.empty()) {
    auto existing = FindByRequestId(record.request_id);
    if (!absl::IsNotFound(existing.status())) return existing;
  }
  const absl::Status found = kv_->Get(Family::kUploads, HeaderKey(record.id)).status();
  if (found.ok()) return absl::AlreadyExistsError(absl::StrCat("upload ", record.id, " exists"));
  if (!absl::IsNotFound(found)) return found;
  KvBatch batch;
  batch.Put(Family::kUploads, HeaderKey(record.id), PackHeader(record));
  if (!record.claims.empty()) {
    storage::UploadClaims claims;
    ClaimsToProto(record.claims, &claims);
    batch.Put(Family::kUploads, ClaimsKey(record.id), PackRecord(claims));
  }
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
  ASSIGN_OR_RETURN(const std::vector<NumberedFile> files, ReadFiles(id));
  for (const NumberedFile& file : files) record.files[file.name] = file.file;
  const auto packed = kv_->Get(Family::kUploads, ClaimsKey(id));
  if (absl::IsNotFound(packed.status())) return record;
  RETURN_IF_ERROR(packed.status());
  storage::UploadClaims claims;
  RETURN_IF_ERROR(Annotate(UnpackRecord(*packed, &claims), absl::StrCat("upload ", id)));
  record.claims = ClaimsFromProto(claims);
  return record;
}

absl::Status UploadStoreKv::Visit(const std::function<void(const UploadRecord&)>& visit) {
  return VisitPastDamage(visit).status();
}

absl::StatusOr<int64_t> UploadStoreKv::VisitPastDamage(
    const std::function<void(const UploadRecord&)>& visit) {
  int64_t damaged_count = 0;
  ASSIGN_OR_RETURN(const bool damaged,
                   ScanPastDamage(kv_.get(), Family::kUploads, PrefixRange("u"),
                                  [&](absl::string_view key, absl::string_view value) {
                                    const auto record = ParseHeader(key.substr(1), value);
                                    if (record.ok()) visit(*record);
                                    damaged_count += record.ok() ? 0 : 1;
                                  }));
  return damaged_count + (damaged ? 1 : 0);
}

absl::StatusOr<std::vector<UploadRecord>> UploadStoreKv::ListUnsealed() {
  std::vector<UploadRecord> records;
  RETURN_IF_ERROR(Visit([&](const UploadRecord& record) {
    if (record.state != UploadRecord::State::kSealed) records.push_back(record);
  }));
  std::vector<UploadRecord> readable;
  for (UploadRecord& record : records) {
    const auto files = ReadFiles(record.id);
    if (absl::IsDataLoss(files.status())) continue;  // Whoever asks for it is told.
    RETURN_IF_ERROR(files.status());
    for (const NumberedFile& file : *files) record.files[file.name] = file.file;
    readable.push_back(std::move(record));
  }
  return readable;
}

absl::Status UploadStoreKv::Append(absl::string_view id, absl::string_view file, int64_t offset,
                                   absl::string_view data) {
  ASSIGN_OR_RETURN(const std::shared_ptr<UploadStaging> staging, StagingOf(id));
  return staging->Append(file, offset, data);
}

absl::Status UploadStoreKv::Finish(absl::string_view id, absl::string_view file) {
  ASSIGN_OR_RETURN(const std::shared_ptr<UploadStaging> staging, StagingOf(id));
  return staging->Finish(file);
}

absl::StatusOr<bool> UploadStoreKv::Matches(absl::string_view id, absl::string_view file,
                                            int64_t offset, absl::string_view data) {
  ASSIGN_OR_RETURN(const std::shared_ptr<UploadStaging> staging, StagingOf(id));
  return staging->Matches(file, offset, data);
}

absl::StatusOr<std::map<std::string, UploadedFile>> UploadStoreKv::CommitFiles(
    absl::string_view id, const std::set<std::string>& files) {
  ASSIGN_OR_RETURN(const std::shared_ptr<UploadStaging> staging, StagingOf(id));
  return staging->Commit(files, [&](const auto& news) { return WriteFiles(id, news); });
}

absl::StatusOr<UploadRecord> UploadStoreKv::Commit(absl::string_view id) {
  ASSIGN_OR_RETURN(const std::shared_ptr<UploadStaging> staging, StagingOf(id));
  RETURN_IF_ERROR(
      staging->Commit(std::nullopt, [&](const auto& news) { return WriteFiles(id, news); })
          .status());
  return Get(id);
}

absl::StatusOr<std::string> UploadStoreKv::PathOf(absl::string_view id, absl::string_view file) {
  ASSIGN_OR_RETURN(const std::shared_ptr<UploadStaging> staging, StagingOf(id));
  absl::StatusOr<std::string> path = staging->PathOf(file);
  if (!path.ok()) return Annotate(path.status(), absl::StrCat("upload ", id));
  return path;
}

absl::Status UploadStoreKv::Update(const UploadRecord& record) {
  if (record.state == UploadRecord::State::kSealed) {
    RETURN_IF_ERROR(CheckId("trace_id", record.trace_id));
  }
  ASSIGN_OR_RETURN(const UploadRecord before, ReadHeader(record.id));
  if (before.state == UploadRecord::State::kSealed &&
      (record.state != before.state || record.trace_id != before.trace_id)) {
    return absl::FailedPreconditionError(
        absl::StrCat("upload ", record.id, " is sealed as trace ", before.trace_id));
  }
  UploadRecord after = record;
  after.request_id = before.request_id;
  KvBatch batch;
  batch.Put(Family::kUploads, HeaderKey(record.id), PackHeader(after));
  RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/true));
  if (HasBytes(after)) {
    if (after.state == before.state) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::shared_ptr<UploadStaging> staging, StagingOf(record.id));
    if (after.state == UploadRecord::State::kSealing) staging->Close();
    return absl::OkStatus();
  }
  Forget(record.id);
  // The record says so: bytes that stay behind here go with the next Recover.
  RemoveAll(FolderOf(record.id)).IgnoreError();
  return absl::OkStatus();
}

absl::Status UploadStoreKv::Delete(absl::string_view id) {
  ASSIGN_OR_RETURN(const UploadRecord record, ReadHeader(id));
  const KvRange files = PrefixRange(FilesPrefix(id));
  KvBatch batch;
  batch.Delete(Family::kUploads, HeaderKey(id));
  batch.Delete(Family::kUploads, ClaimsKey(id));
  batch.DeleteRange(Family::kUploads, files.begin, files.end);
  if (!record.request_id.empty()) batch.Delete(Family::kUploads, RequestKey(record.request_id));
  RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/true));
  Forget(id);
  RemoveAll(FolderOf(id)).IgnoreError();  // As in Update.
  return absl::OkStatus();
}

absl::Status UploadStoreKv::RecoverUpload(UploadRecord record) {
  ASSIGN_OR_RETURN(const std::vector<NumberedFile> files, ReadFiles(record.id));
  std::set<std::string> known;
  std::vector<NumberedFile> damaged;
  for (const NumberedFile& file : files) {
    known.insert(absl::StrCat(file.number));
    const std::string path = absl::StrCat(FolderOf(record.id), "/", file.number);
    absl::StatusOr<int64_t> size_bytes = FileSize(path);
    if (absl::IsNotFound(size_bytes.status())) {
      RETURN_IF_ERROR(MakeFolders(FolderOf(record.id)));
      RETURN_IF_ERROR(WriteAt(path, 0, "", /*create=*/true));
      size_bytes = 0;
    }
    RETURN_IF_ERROR(size_bytes.status());
    if (*size_bytes > file.file.committed_bytes) {
      RETURN_IF_ERROR(TruncateFile(path, file.file.committed_bytes));
    } else if (*size_bytes < file.file.committed_bytes) {
      // Somebody cut the file: the client is told to send it again from there.
      damaged.push_back({file.name, file.number, {*size_bytes, false, ""}});
    }
  }
  if (!damaged.empty()) {
    RETURN_IF_ERROR(WriteFiles(record.id, damaged));
    if (record.state == UploadRecord::State::kSealing) {
      record.state = UploadRecord::State::kOpen;
      RETURN_IF_ERROR(Update(record));
    }
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(FolderOf(record.id)));
  for (const std::string& name : names) {
    if (known.count(name) > 0) continue;
    RETURN_IF_ERROR(RemoveAll(absl::StrCat(FolderOf(record.id), "/", name)));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> UploadStoreKv::Recover() {
  {
    MutexLock lock(&mutex_);
    staging_by_id_.clear();
  }
  std::vector<UploadRecord> unsealed;
  std::set<std::string> ids;
  ASSIGN_OR_RETURN(int64_t damaged_count, VisitPastDamage([&](const UploadRecord& record) {
                     if (!HasBytes(record)) return;
                     unsealed.push_back(record);
                     ids.insert(record.id);
                   }));
  for (const UploadRecord& record : unsealed) {
    const absl::Status recovered = RecoverUpload(record);
    damaged_count += absl::IsDataLoss(recovered) ? 1 : 0;
    if (absl::IsDataLoss(recovered)) continue;
    RETURN_IF_ERROR(Annotate(recovered, absl::StrCat("upload ", record.id)));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(staging_dir_));
  for (const std::string& name : names) {
    // With damage, a folder may belong to an upload whose record cannot be read.
    if (ids.count(name) > 0 || damaged_count > 0) continue;
    RETURN_IF_ERROR(RemoveAll(absl::StrCat(staging_dir_, "/", name)));
  }
  MutexLock lock(&mutex_);
  staging_by_id_.clear();  // Made meanwhile, from records that changed since.
  return damaged_count;
}

}  // namespace

absl::Status UploadStore::MarkSealed(absl::string_view id, absl::string_view trace_id) {
  ASSIGN_OR_RETURN(UploadRecord record, Get(id));
  record.state = UploadRecord::State::kSealed;
  record.trace_id = std::string(trace_id);
  return Update(record);
}

std::unique_ptr<UploadStore> NewUploadStore(std::shared_ptr<Kv> kv, std::string staging_dir,
                                            int64_t reserve_bytes) {
  return std::make_unique<UploadStoreKv>(std::move(kv), std::move(staging_dir), reserve_bytes);
}

}  // namespace chakrad
