// Uploads rank files as one trace; goes on after a broken connection where the
// server's committed bytes end.
#ifndef CHAKRAD_CLIENT_UPLOAD_H_
#define CHAKRAD_CLIENT_UPLOAD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
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
};

struct UploadPlan {
  std::string request_id;  // See CreateUploadRequest.
  std::map<std::string, std::string> labels;
  ImportSettings settings;
  std::vector<UploadFile> files;
};

struct UploadProgress {
  int64_t committed_bytes = 0;  // Durable on the server.
  int64_t bytes = 0;            // Of all files.
  bool sealing = false;         // All is there; the server converts and checks.
};

struct UploadOptions {
  SleepFn sleep;
  RetryPolicy first_call = kCallPolicy;
  RetryPolicy resume = kResumePolicy;
  // Called from another thread than UploadTrace's, one call at a time.
  std::function<void(const UploadProgress&)> progress = [](const UploadProgress&) {};
};

// Creates the upload (or finds it again by its request id), sends what the
// server lacks in pieces of at most 1 MiB, seals, and returns the trace. When a
// stream breaks, asks for the committed offsets and goes on; gives up with the
// last error after `resume.attempts_max` attempts in a row without one new
// committed byte. Errors: the server's; FAILED_PRECONDITION when a file changed
// meanwhile. Memory: a few pieces, whatever the files' size.
absl::StatusOr<v1::Trace> UploadTrace(const std::shared_ptr<grpc::Channel>& channel,
                                      const UploadPlan& plan, const UploadOptions& options);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_UPLOAD_H_
