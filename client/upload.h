// Uploads rank files as one trace; goes on after a broken connection where the
// server's committed bytes end.
#ifndef CHAKRAD_CLIENT_UPLOAD_H_
#define CHAKRAD_CLIENT_UPLOAD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "chakrad/v1/ingest.pb.h"
#include "chakrad/v1/trace.pb.h"
#include "client/retry.h"
#include "trace/import/import_settings.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace chakrad::client {

struct UploadFile {
  std::string file;  // Its name on the server; unique in an upload.
  std::string path;  // Where it is here.
  int64_t bytes = 0;
  std::string sha256;  // 32 raw bytes; empty: not computed (HashFiles does).
};

// Of an upload whose files come from several hosts, each with files of its own.
struct JoinPlan {
  int32_t expected_files = 0;      // Of all hosts; 0: only by call or time.
  int64_t seal_after_seconds = 0;  // 0: the daemon's default.
  bool wait = false;               // Until the trace is there, or the upload was refused.
};

struct UploadPlan {
  std::string request_id;  // See CreateUploadRequest.
  std::map<std::string, std::string> labels;
  ImportSettings settings;
  std::vector<UploadFile> files;
  bool keep_files = false;
  std::optional<JoinPlan> join;
};

struct UploadProgress {
  int64_t committed_bytes = 0;  // Durable on the server.
  int64_t bytes = 0;            // Of all files.
  bool sealing = false;         // All is there; the server converts and checks.
  // Of a joint upload that is waited for: files of all hosts.
  int64_t complete_files = 0;
  int64_t expected_files = 0;
};

struct Uploaded {
  v1::Upload upload;               // As last seen.
  std::optional<v1::Trace> trace;  // None: a joint upload that is not sealed yet.
  bool already_stored = false;     // The trace was there; nothing was sent.
};

struct UploadOptions {
  SleepFn sleep;
  RetryPolicy first_call = kCallPolicy;
  RetryPolicy resume = kResumePolicy;
  // Called from another thread than UploadTrace's, one call at a time.
  std::function<void(const UploadProgress&)> progress = [](const UploadProgress&) {};
};

// Creates the upload (or finds it again by its request id), sends what the
// server lacks in pieces of at most 1 MiB, seals, and returns the trace. Where every file
// has its SHA-256 and the server has a trace of just these, nothing is sent. When a
// stream breaks, asks for the committed offsets and goes on; gives up with the
// last error after `resume.attempts_max` attempts in a row without one new
// committed byte. A joint upload is not sealed here: it is waited for, or not. Errors:
// the server's; FAILED_PRECONDITION when a file changed meanwhile, or a joint upload
// went on without this host's files. Memory: a few pieces, whatever the files' size.
absl::StatusOr<Uploaded> UploadTrace(const std::shared_ptr<grpc::Channel>& channel,
                                     const UploadPlan& plan, const UploadOptions& options);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_UPLOAD_H_
