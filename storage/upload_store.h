// Uploads in progress: their records, and the bytes that arrived so far. A
// committed byte survives a crash of the process.
#ifndef CHAKRAD_STORAGE_UPLOAD_STORE_H_
#define CHAKRAD_STORAGE_UPLOAD_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/api/content_hash.h"
#include "trace/import/import_settings.h"

namespace chakrad {

struct UploadedFile {
  int64_t committed_bytes = 0;
  bool complete = false;  // Its last byte is committed, and marked as such.
  std::string sha256;     // 32 raw bytes, of a complete one.
  friend bool operator==(const UploadedFile&, const UploadedFile&) = default;
};

// Of an upload whose files come from several hosts.
struct UploadJoin {
  int32_t expected_files = 0;  // Sealed once so many are complete; 0: only by call or time.
  int64_t seal_after_ns = 0;   // After the creation.
  friend bool operator==(const UploadJoin&, const UploadJoin&) = default;
};

struct UploadRecord {
  // The numbers are a disk format. Sealing: takes no more bytes and will be sealed
  // by the daemon itself. Refused: it was, and its files are no trace.
  enum class State : uint8_t { kOpen = 1, kSealed = 2, kSealing = 3, kRefused = 4 };
  std::string id;
  std::string request_id;
  State state = State::kOpen;
  int64_t create_unix_ns = 0;
  int64_t end_unix_ns = 0;  // When it was sealed or refused; 0: not yet.
  std::map<std::string, std::string> labels;
  ImportSettings settings;
  bool keep_files = false;
  std::optional<UploadJoin> join;
  std::map<std::string, FileDigest> claims;  // What the client said of all files; or empty.
  std::map<std::string, UploadedFile> files;
  std::string trace_id;      // Once sealed.
  std::string content_hash;  // Likewise, where it was computed.
  std::string seal_notice;   // From sealing on: why now, and what is left out.
  std::string error;         // Of a refused one; of one that is sealing, the last attempt's.
};

// Thread-safe. Several threads may append to one upload, each to files of its own;
// commits go on beside them, and beside each other. Calls that change an upload's
// state (Update, MarkSealed, Delete) are made while nobody appends or commits.
class UploadStore {
 public:
  virtual ~UploadStore() = default;

  // Stores `record` durably under record.id: an open one, or one that is sealed
  // already, both without files. When an upload with its request_id exists, changes
  // nothing and returns that one.
  virtual absl::StatusOr<UploadRecord> Create(const UploadRecord& record) = 0;
  virtual absl::StatusOr<UploadRecord> Get(absl::string_view id) = 0;
  // The upload of an earlier Create with this request id, else NOT_FOUND.
  virtual absl::StatusOr<UploadRecord> FindByRequestId(absl::string_view request_id) = 0;
  // All that are not sealed, with files, without claims. Cost: every header is read.
  virtual absl::StatusOr<std::vector<UploadRecord>> ListUnsealed() = 0;
  // All, as headers: without files and claims.
  virtual absl::Status Visit(const std::function<void(const UploadRecord&)>& visit) = 0;

  // Appends to a file, creating it first. `offset` must be the file's appended
  // size: else OUT_OF_RANGE. FAILED_PRECONDITION when the upload takes no more
  // bytes, or the file is finished. One call a file at a time.
  virtual absl::Status Append(absl::string_view id, absl::string_view file, int64_t offset,
                              absl::string_view data) = 0;
  // The file ends where it is now; its next commit makes it complete. NOT_FOUND: nothing
  // was ever appended to it.
  virtual absl::Status Finish(absl::string_view id, absl::string_view file) = 0;
  // Whether the appended bytes from `offset` on begin with `data`.
  virtual absl::StatusOr<bool> Matches(absl::string_view id, absl::string_view file, int64_t offset,
                                       absl::string_view data) = 0;
  // Makes what was appended so far to `files` durable and records it as committed;
  // of a finished file its SHA-256 too, which reads it once. No other file and no
  // append waits for the disk meanwhile. Returns those of `files` that are there. An error
  // of the disk takes a file back to its committed size.
  virtual absl::StatusOr<std::map<std::string, UploadedFile>> CommitFiles(
      absl::string_view id, const std::set<std::string>& files) = 0;
  // The same of all files.
  virtual absl::StatusOr<UploadRecord> Commit(absl::string_view id) = 0;
  // Where the committed bytes of `file` lie, for a reader to open. Valid until
  // the upload is sealed, refused or deleted.
  virtual absl::StatusOr<std::string> PathOf(absl::string_view id, absl::string_view file) = 0;

  // Stores all of `record` but files, claims and request id, durably. One that is sealed
  // or refused loses its bytes; the record stays, so that a repeated request
  // finds what became of it. FAILED_PRECONDITION: it is sealed as another trace.
  virtual absl::Status Update(const UploadRecord& record) = 0;
  absl::Status MarkSealed(absl::string_view id, absl::string_view trace_id);
  virtual absl::Status Delete(absl::string_view id) = 0;
  // After a crash: bytes beyond what is recorded as committed are cut off, files
  // of no upload are removed. Run at start-up. Returns how many damaged records, or places
  // of such, were passed over: their uploads answer DATA_LOSS, and no folder is removed then.
  virtual absl::StatusOr<int64_t> Recover() = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_UPLOAD_STORE_H_
