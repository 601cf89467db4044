// Copies of a store, taken while it serves, and the way back. A backup is a folder
// with the database as of one moment and a file that describes it; bytes of uploads
// in progress are not in it: after a restore their clients send them again.
#ifndef CHAKRAD_STORAGE_BACKUP_H_
#define CHAKRAD_STORAGE_BACKUP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/kv.h"

namespace chakrad {

struct BackupInfo {
  std::string name;  // Of its folder.
  std::string path;
  int64_t create_unix_ns = 0;
  int64_t traces_count = 0;
  int64_t size_bytes = 0;  // Of all files, those that are linked included.
};

// Thread-safe; backups are made one at a time.
class Backups {
 public:
  virtual ~Backups() = default;

  // Makes `backup_dir`/name, whole or not at all. An empty name becomes the time
  // `now_unix_ns`: 20261130T071500Z. Costs seconds where files can be linked
  // (the same file system as the store), else as long as copying takes.
  // ALREADY_EXISTS: there is one of that name. INVALID_ARGUMENT: the name has other
  // characters than letters, digits, '-', '_' and '.'. FAILED_PRECONDITION: there is
  // no backup folder.
  virtual absl::StatusOr<BackupInfo> Create(absl::string_view name, int64_t now_unix_ns) = 0;
  // Oldest first. A folder without a description is none: it is left out.
  virtual absl::StatusOr<std::vector<BackupInfo>> List() = 0;
};

// `backup_dir` empty: Create and List are FAILED_PRECONDITION.
std::unique_ptr<Backups> NewBackups(std::shared_ptr<Kv> kv, std::string backup_dir);

// Copies the backup at `path` into `data_dir`, which must not hold a store; then
// a daemon may start on it. An interrupted one leaves nothing that a daemon would
// open, and can be repeated. `progress` is called with bytes copied and bytes in all; may be
// null. INVALID_ARGUMENT: `path` is no backup. FAILED_PRECONDITION: `data_dir`
// holds a store or is in use. RESOURCE_EXHAUSTED: the disk has no room for it.
using RestoreProgress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;
absl::StatusOr<BackupInfo> RestoreBackup(const std::string& path, const std::string& data_dir,
                                         const RestoreProgress& progress);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_BACKUP_H_
