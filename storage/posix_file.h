// Files and folders of the operating system, with errors as Status.
#ifndef CHAKRAD_STORAGE_POSIX_FILE_H_
#define CHAKRAD_STORAGE_POSIX_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

// RESOURCE_EXHAUSTED for a full disk or quota, PERMISSION_DENIED for a missing
// right or a read-only file system, NOT_FOUND, else INTERNAL.
absl::Status ErrnoToStatus(int error, absl::string_view context);

// Creates `path` and its parents; OK when it is there. FAILED_PRECONDITION: a part
// of the path is not a folder.
absl::Status MakeFolders(const std::string& path);
// Names in a folder, sorted; empty when there is no such folder.
absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path);
// Removes a file or a whole folder; OK when it is not there.
absl::Status RemoveAll(const std::string& path);
// Makes the entries of a folder durable.
absl::Status SyncFolder(const std::string& path);

// Creates the file when `create`, emptying what was there. On error the file is
// cut back to `offset` where possible.
absl::Status WriteAt(const std::string& path, int64_t offset, absl::string_view data, bool create);
// Makes a file's bytes durable.
absl::Status SyncFile(const std::string& path);
absl::Status TruncateFile(const std::string& path, int64_t size_bytes);
absl::StatusOr<int64_t> FileSize(const std::string& path);

// RESOURCE_EXHAUSTED, naming `what`, unless `bytes` more leave `reserve_bytes` free
// on the disk that holds `folder`.
absl::Status CheckFreeSpace(const std::string& folder, int64_t bytes, int64_t reserve_bytes,
                            absl::string_view what);

// An exclusive lock on a folder, held by a file "lock" in it until destroyed.
class FolderLock {
 public:
  // FAILED_PRECONDITION: another holder has it. PERMISSION_DENIED: not writable.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Acquire(const std::string& folder);
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_POSIX_FILE_H_
