// Pushes a trace that was converted here: sends what the server lacks of it, and
// goes on after a broken connection.
#ifndef CHAKRAD_CLIENT_PUSH_H_
#define CHAKRAD_CLIENT_PUSH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "chakrad/v1/trace.pb.h"
#include "client/encoded_trace.h"
#include "client/retry.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace chakrad::client {

struct PushProgress {
  int64_t sent_bytes = 0;   // Of chunks, by all attempts.
  int64_t known_bytes = 0;  // Of chunks that need not be sent.
  int64_t bytes = 0;        // Of all chunks.
  bool checking = false;    // All is there; the server checks and stores.
};

struct PushOptions {
  SleepFn sleep;
  RetryPolicy retry = kResumePolicy;
  // Called by the pushing thread.
  std::function<void(const PushProgress&)> progress = [](const PushProgress&) {};
};

struct PushResult {
  v1::Trace trace;
  int64_t sent_bytes = 0;  // Of chunks; a retry's included.
  bool known = false;      // The trace was there already.
};

// Equal request ids are one push: see PushTraceRequest.Begin. Errors: the server's; gives
// up after `retry.attempts_max` attempts in a row without one new chunk taken.
// Memory: a few messages beside `trace`.
absl::StatusOr<PushResult> PushTrace(const std::shared_ptr<grpc::Channel>& channel,
                                     const EncodedTrace& trace, const std::string& request_id,
                                     const PushOptions& options);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_PUSH_H_
