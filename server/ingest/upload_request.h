// What a client asks for when it creates an upload: whether that can be, and
// whether it is what an earlier request with the same id asked for.
#ifndef CHAKRAD_SERVER_INGEST_UPLOAD_REQUEST_H_
#define CHAKRAD_SERVER_INGEST_UPLOAD_REQUEST_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/limits.h"
#include "storage/upload_store.h"
#include "trace/import/import_settings.h"

namespace chakrad {

struct UploadRequest {
  std::string request_id;
  std::map<std::string, std::string> labels;
  ImportSettings settings;
  std::map<std::string, FileDigest> claims;  // Of all files; or empty.
  std::optional<UploadJoin> join;            // seal_after_ns 0: the default.
  bool keep_files = false;
};

// 1 to kMaxFileNameBytes, without NUL.
absl::Status CheckFileName(absl::string_view file);

// INVALID_ARGUMENT names field, value and limit. Sets defaults.
absl::Status CheckUploadRequest(const ServerLimits& limits, UploadRequest* request);

// "" when `request` asks for what `first` is, else the first difference, in words.
// Ranks of files that only one of two requests for a joint upload names are no
// difference; neither are claims that only one of them has, unless files that
// are complete already contradict them.
std::string FirstDifference(const UploadRecord& first, const UploadRequest& request);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_INGEST_UPLOAD_REQUEST_H_
