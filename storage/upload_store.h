// Uploads in progress: their records, and the bytes that arrived so far. A
// committed byte survives a crash of the process.
#ifndef CHAKRAD_STORAGE_UPLOAD_STORE_H_
#define CHAKRAD_STORAGE_UPLOAD_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/import_settings.h"

namespace chakrad {

struct UploadRecord {
  enum class State : uint8_t { kOpen = 1, kSealed = 2 };
  std::string id;
  std::string request_id;
  State state = State::kOpen;
  int64_t create_unix_ns = 0;
  std::map<std::string, std::string> labels;
  ImportSettings settings;
  std::map<std::string, int64_t> committed_bytes;  // By file name.
  std::string trace_id;                            // Once sealed.
};

// Thread-safe across uploads; calls about one upload are made one at a time.
class UploadStore {
 public:
  virtual ~UploadStore() = default;

  // Stores `record` durably under record.id. When an upload with its request_id
  // exists, changes nothing and returns that one.
  virtual absl::StatusOr<UploadRecord> Create(const UploadRecord& record) = 0;
  virtual absl::StatusOr<UploadRecord> Get(absl::string_view id) = 0;
  // The upload of an earlier Create with this request id, else NOT_FOUND.
  virtual absl::StatusOr<UploadRecord> FindByRequestId(absl::string_view request_id) = 0;
  virtual absl::StatusOr<std::vector<UploadRecord>> List() = 0;
  // Appends to a file, creating it first. `offset` must be the file's appended
  // size: else OUT_OF_RANGE. FAILED_PRECONDITION when the upload is sealed.
  virtual absl::Status Append(absl::string_view id, absl::string_view file, int64_t offset,
                              absl::string_view data) = 0;
  // Makes everything appended so far durable and records it as committed.
  virtual absl::StatusOr<UploadRecord> Commit(absl::string_view id) = 0;
  // Where the committed bytes of `file` lie, for a reader to open. Valid until
  // MarkSealed or Delete.
  virtual absl::StatusOr<std::string> PathOf(absl::string_view id, absl::string_view file) = 0;
  // Durable. The bytes are removed; the record stays, so that a repeated
  // request finds its trace.
  virtual absl::Status MarkSealed(absl::string_view id, absl::string_view trace_id) = 0;
  virtual absl::Status Delete(absl::string_view id) = 0;
  // After a crash: bytes beyond what is recorded as committed are cut off, files
  // of no upload are removed. Run at start-up.
  virtual absl::Status Recover() = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_UPLOAD_STORE_H_
