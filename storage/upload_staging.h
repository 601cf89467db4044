// The files that one upload has received so far, and how much of each is durable.
// What is committed is recorded by the caller; here are the bytes and their syncs.
#ifndef CHAKRAD_STORAGE_UPLOAD_STAGING_H_
#define CHAKRAD_STORAGE_UPLOAD_STAGING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "storage/upload_store.h"

namespace chakrad {

// A file as its record has it. On disk it is called by its number.
struct NumberedFile {
  std::string name;
  int32_t number = 0;
  UploadedFile file;
};

// How messages name a file: any bytes may be in it.
std::string QuotedFile(absl::string_view file);

// Thread-safe; one Append a file at a time.
class UploadStaging {
 public:
  // `staging_dir`/`id` holds the files; made with the first. `recorded`: what is committed.
  UploadStaging(std::string staging_dir, absl::string_view id, int64_t reserve_bytes,
                const std::vector<NumberedFile>& recorded);

  // These four: as in UploadStore.
  absl::Status Append(absl::string_view file, int64_t offset, absl::string_view data);
  absl::Status Finish(absl::string_view file);
  absl::StatusOr<bool> Matches(absl::string_view file, int64_t offset, absl::string_view data);
  absl::StatusOr<std::string> PathOf(absl::string_view file);

  // Makes the files durable (none named: all), then calls `record` with those that have
  // news, unless there are none; what it stored is committed when it returns OK. A file
  // is in one commit at a time: a second one waits for it. Returns the named ones.
  absl::StatusOr<std::map<std::string, UploadedFile>> Commit(
      const std::optional<std::set<std::string>>& files,
      const std::function<absl::Status(const std::vector<NumberedFile>&)>& record);

  // No bytes from now on: Append and Finish are FAILED_PRECONDITION.
  void Close();

 private:
  struct Staged {
    int32_t number = 0;
    UploadedFile committed;
    int64_t appended_bytes = 0;
    bool recorded = false;    // Has a record: it was committed once.
    bool finished = false;    // Ends at appended_bytes.
    bool dirty = false;       // Has something that no commit has made durable.
    bool appending = false;   // An Append writes to it now.
    bool committing = false;  // A Commit syncs it now.
  };
  // What one Commit makes durable of a file.
  struct Pending {
    NumberedFile file;
    bool is_new = false;
  };

  std::string PathOf(int32_t number) const;
  absl::Status CheckOpen() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Staged*> FindOrAdd(absl::string_view file, int64_t offset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The names of `files` that a commit has to do with; false while another commit has one.
  bool ChooseDirty(const std::optional<std::set<std::string>>& files,
                   std::vector<std::string>* dirty) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Pending> BeginCommit(const std::optional<std::set<std::string>>& files)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Sync(std::vector<Pending>* pending);
  void TakeBack(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string staging_dir_;
  const std::string folder_;
  const int64_t reserve_bytes_;
  Mutex mutex_;
  CondVar changed_;  // appending or committing of some file went off.
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool folder_exists_ ABSL_GUARDED_BY(mutex_) = false;
  int32_t next_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Staged> files_ ABSL_GUARDED_BY(mutex_);  // Entries stay where they are.
};

// SHA-256 of the first `size_bytes` of a file, 32 raw bytes. DATA_LOSS: it is shorter.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path, int64_t size_bytes);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_UPLOAD_STAGING_H_
