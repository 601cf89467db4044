#include "storage/posix_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

class Fd {
 public:
  Fd(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0640)) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  const int fd_;
};

}  // namespace

absl::Status ErrnoToStatus(int error, absl::string_view context) {
  const std::string message = absl::StrCat(context, ": ", std::strerror(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOTDIR:
    case EEXIST:
      return absl::FailedPreconditionError(message);
    case ENOENT:
      return absl::NotFoundError(message);
    default:
      return absl::InternalError(message);
  }
}

absl::Status MakeFolders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return ErrnoToStatus(error.value(), path);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator it(path, error);
  if (error.value() == ENOENT) return names;
  while (!error && it != std::filesystem::directory_iterator()) {
    names.push_back(it->path().filename().string());
    it.increment(error);
  }
  if (error) return ErrnoToStatus(error.value(), path);
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status RemoveAll(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return ErrnoToStatus(error.value(), path);
  return absl::OkStatus();
}

absl::Status SyncFolder(const std::string& path) {
  const Fd fd(path, O_RDONLY | O_DIRECTORY);
  if (!fd.ok() || fsync(fd.get()) != 0) return ErrnoToStatus(errno, path);
  return absl::OkStatus();
}

absl::Status WriteAt(const std::string& path, int64_t offset, absl::string_view data, bool create) {
  const Fd fd(path, O_WRONLY | (create ? O_CREAT | O_TRUNC : 0));
  if (!fd.ok()) return ErrnoToStatus(errno, path);
  int64_t at = offset;
  while (!data.empty()) {
    const ssize_t written = pwrite(fd.get(), data.data(), data.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      // Gives back what a full disk did take; the caller writes at `offset` again.
      [[maybe_unused]] const int cut = ftruncate(fd.get(), offset);
      return ErrnoToStatus(error, path);
    }
    at += written;
    data.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status SyncFile(const std::string& path) {
  // A descriptor of any age flushes the whole file, and reports writes that
  // failed in the background since the last report.
  const Fd fd(path, O_WRONLY);
  if (!fd.ok() || fdatasync(fd.get()) != 0) return ErrnoToStatus(errno, path);
  return absl::OkStatus();
}

absl::Status TruncateFile(const std::string& path, int64_t size_bytes) {
  if (truncate(path.c_str(), size_bytes) != 0) return ErrnoToStatus(errno, path);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> FileSize(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return ErrnoToStatus(errno, path);
  return static_cast<int64_t>(info.st_size);
}

absl::Status CheckFreeSpace(const std::string& folder, int64_t bytes, int64_t reserve_bytes,
                            absl::string_view what) {
  struct statvfs info;
  if (statvfs(folder.c_str(), &info) != 0) return ErrnoToStatus(errno, folder);
  const auto free_bytes = static_cast<int64_t>(
      std::min<uint64_t>(uint64_t{info.f_bavail} * info.f_frsize, INT64_MAX / 2));
  if (free_bytes - bytes >= reserve_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(what, ": no space for ", bytes, " bytes: ", folder, " has ", free_bytes,
                   " bytes free, and ", reserve_bytes, " are kept in reserve"));
}

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Acquire(const std::string& folder) {
  const std::string path = folder + "/lock";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) return ErrnoToStatus(errno, path);
  auto lock = std::unique_ptr<FolderLock>(new FolderLock(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return ErrnoToStatus(errno, path);
  return absl::FailedPreconditionError(absl::StrCat(folder, " is in use by another process"));
}

FolderLock::~FolderLock() { close(fd_); }

}  // namespace chakrad
