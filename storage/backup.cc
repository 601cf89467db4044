#include "storage/backup.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/status.h"
#include "storage/ids.h"
#include "storage/limits.h"
#include "storage/posix_file.h"
#include "storage/rocks_kv.h"

namespace chakrad {
namespace {

namespace fs = std::filesystem;

constexpr char kDescription[] = "backup.json";
constexpr char kDatabase[] = "db";
// A name that no backup can have: names do not begin with '.'.
constexpr char kPartialPrefix[] = ".partial-";
constexpr size_t kMaxDescriptionBytes = 64 << 10;

std::string TimeName(int64_t unix_ns) {
  const auto seconds = static_cast<time_t>(unix_ns / 1'000'000'000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

absl::StatusOr<int64_t> FolderBytes(const std::string& folder) {
  int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_regular_file(error)) bytes += static_cast<int64_t>(it->file_size(error));
  }
  if (error) return absl::InternalError(absl::StrCat(folder, ": ", error.message()));
  return bytes;
}

// Opens the copy as well: one that cannot be opened is no backup.
absl::StatusOr<int64_t> CountTraces(const std::string& database) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Kv> kv, OpenRocksKvReadOnly(database));
  int64_t count = 0;
  RETURN_IF_ERROR(kv->Scan(Family::kMeta, PrefixRange("m"), ScanOrder::kForward,
                           [&](absl::string_view, absl::string_view) {
                             ++count;
                             return true;
                           }));
  return count;
}

absl::Status WriteDescription(const BackupInfo& info, const std::string& path) {
  const nlohmann::json json = {{"create_unix_ns", info.create_unix_ns},
                               {"traces_count", info.traces_count},
                               {"size_bytes", info.size_bytes}};
  RETURN_IF_ERROR(WriteAt(path, 0, json.dump(2) + "\n", /*create=*/true));
  return SyncFile(path);
}

absl::StatusOr<BackupInfo> ReadDescription(const std::string& folder) {
  const std::string path = absl::StrCat(folder, "/", kDescription);
  const absl::StatusOr<int64_t> size_bytes = FileSize(path);
  if (!size_bytes.ok() || *size_bytes > static_cast<int64_t>(kMaxDescriptionBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder, ": is no backup: it has no ", kDescription));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const nlohmann::json json =
      nlohmann::json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  BackupInfo info;
  for (const auto& [key, field] :
       {std::pair{"create_unix_ns", &info.create_unix_ns},
        std::pair{"traces_count", &info.traces_count}, std::pair{"size_bytes", &info.size_bytes}}) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_number_integer()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": has no number ", key));
    }
    *field = json[key].get<int64_t>();
  }
  info.path = folder;
  info.name = fs::path(folder).filename().string();
  return info;
}

class BackupsInFolder : public Backups {
 public:
  BackupsInFolder(std::shared_ptr<Kv> kv, std::string backup_dir)
      : kv_(std::move(kv)), backup_dir_(std::move(backup_dir)) {}

  absl::StatusOr<BackupInfo> Create(absl::string_view name, int64_t now_unix_ns) override {
    RETURN_IF_ERROR(CheckConfigured());
    BackupInfo info;
    info.name = name.empty() ? TimeName(now_unix_ns) : std::string(name);
    info.create_unix_ns = now_unix_ns;
    RETURN_IF_ERROR(CheckId("name", info.name));
    info.path = absl::StrCat(backup_dir_, "/", info.name);
    MutexLock lock(&mutex_);
    std::error_code error;
    if (fs::exists(info.path, error)) {
      return absl::AlreadyExistsError(absl::StrCat("backup ", info.name, " exists"));
    }
    RETURN_IF_ERROR(MakeFolders(backup_dir_));
    const std::string partial = absl::StrCat(backup_dir_, "/", kPartialPrefix, info.name);
    RETURN_IF_ERROR(RemoveAll(partial));  // Of an attempt that a crash cut short.
    const absl::Status filled = Fill(partial, &info);
    if (!filled.ok()) {
      RemoveAll(partial).IgnoreError();
      return Annotate(filled, absl::StrCat("backup ", info.name));
    }
    fs::rename(partial, info.path, error);
    if (error) return absl::InternalError(absl::StrCat(info.path, ": ", error.message()));
    RETURN_IF_ERROR(SyncFolder(backup_dir_));
    return info;
  }

  absl::StatusOr<std::vector<BackupInfo>> List() override {
    RETURN_IF_ERROR(CheckConfigured());
    std::vector<BackupInfo> backups;
    ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(backup_dir_));
    for (const std::string& name : names) {
      if (name[0] == '.') continue;
      absl::StatusOr<BackupInfo> info = ReadDescription(absl::StrCat(backup_dir_, "/", name));
      if (info.ok()) backups.push_back(*std::move(info));
    }
    std::sort(backups.begin(), backups.end(), [](const BackupInfo& a, const BackupInfo& b) {
      return std::pair(a.create_unix_ns, a.name) < std::pair(b.create_unix_ns, b.name);
    });
    return backups;
  }

 private:
  absl::Status CheckConfigured() const {
    if (!backup_dir_.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "backups are off: start chakrad with --backup_dir, best on the disk of --data_dir");
  }
  absl::Status Fill(const std::string& partial, BackupInfo* info) {
    RETURN_IF_ERROR(MakeFolders(partial));
    const std::string database = absl::StrCat(partial, "/", kDatabase);
    RETURN_IF_ERROR(kv_->Checkpoint(database));
    ASSIGN_OR_RETURN(info->traces_count, CountTraces(database));
    ASSIGN_OR_RETURN(info->size_bytes, FolderBytes(database));
    RETURN_IF_ERROR(WriteDescription(*info, absl::StrCat(partial, "/", kDescription)));
    return SyncFolder(partial);
  }

  const std::shared_ptr<Kv> kv_;
  const std::string backup_dir_;
  Mutex mutex_;  // Held while a backup is made.
};

absl::Status CopyFiles(const std::string& from, const std::string& to, int64_t total_bytes,
                       const RestoreProgress& progress) {
  RETURN_IF_ERROR(MakeFolders(to));
  int64_t done_bytes = 0;
  std::error_code error;
  // RocksDB keeps no folders in a database's folder.
  for (fs::directory_iterator it(from, error), end; !error && it != end; it.increment(error)) {
    const std::string target = absl::StrCat(to, "/", it->path().filename().string());
    fs::copy_file(it->path(), target, error);
    if (error == std::errc::no_space_on_device) {
      return absl::ResourceExhaustedError(absl::StrCat(target, ": ", error.message()));
    }
    if (error) return absl::InternalError(absl::StrCat(target, ": ", error.message()));
    RETURN_IF_ERROR(SyncFile(target));
    done_bytes += static_cast<int64_t>(it->file_size(error));
    if (progress != nullptr) progress(done_bytes, total_bytes);
  }
  if (error) return absl::InternalError(absl::StrCat(from, ": ", error.message()));
  return SyncFolder(to);
}

}  // namespace

std::unique_ptr<Backups> NewBackups(std::shared_ptr<Kv> kv, std::string backup_dir) {
  return std::make_unique<BackupsInFolder>(std::move(kv), std::move(backup_dir));
}

absl::StatusOr<BackupInfo> RestoreBackup(const std::string& path, const std::string& data_dir,
                                         const RestoreProgress& progress) {
  ASSIGN_OR_RETURN(BackupInfo info, ReadDescription(path));
  const std::string source = absl::StrCat(path, "/", kDatabase);
  RETURN_IF_ERROR(CountTraces(source).status());  // Before anything is written.
  RETURN_IF_ERROR(Annotate(MakeFolders(data_dir), "data_dir"));
  ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> lock, FolderLock::Acquire(data_dir));
  const std::string target = absl::StrCat(data_dir, "/", kDatabase);
  std::error_code error;
  if (fs::exists(target, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat("data_dir: ", data_dir, " holds a store; restore into another folder"));
  }
  const std::string partial = absl::StrCat(target, kPartialPrefix);
  RETURN_IF_ERROR(RemoveAll(partial));
  ASSIGN_OR_RETURN(const int64_t total_bytes, FolderBytes(source));
  RETURN_IF_ERROR(CheckFreeSpace(data_dir, total_bytes, kDiskReserveBytes, "restore"));
  const absl::Status copied = CopyFiles(source, partial, total_bytes, progress);
  if (!copied.ok()) {
    RemoveAll(partial).IgnoreError();
    return copied;
  }
  fs::rename(partial, target, error);
  if (error) return absl::InternalError(absl::StrCat(target, ": ", error.message()));
  RETURN_IF_ERROR(SyncFolder(data_dir));
  return info;
}

}  // namespace chakrad
