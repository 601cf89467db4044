// One request, one answer, with a deadline and retries.
#ifndef CHAKRAD_CLIENT_UNARY_CALL_H_
#define CHAKRAD_CLIENT_UNARY_CALL_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>

#include "absl/status/statusor.h"
#include "client/connection.h"
#include "client/retry.h"

namespace chakrad::client {

struct CallOptions {
  SleepFn sleep;
  RetryPolicy retry = kCallPolicy;
  // Of one attempt; without: as long as the server lives.
  std::optional<std::chrono::seconds> deadline = std::chrono::seconds(60);
};

// Calls `method` of `stub`, again while it is UNAVAILABLE and attempts are left:
// only for calls that may be repeated.
//
//   UnaryCall(stub, &v1::TraceService::Stub::GetTrace, request, options)
template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> UnaryCall(Stub* stub,
                                   grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                const Request&, Response*),
                                   const Request& request, const CallOptions& options) {
  Backoff backoff(options.retry, options.sleep);
  while (true) {
    grpc::ClientContext context;
    if (options.deadline.has_value()) {
      context.set_deadline(std::chrono::system_clock::now() + *options.deadline);
    }
    Response response;
    const grpc::Status status = (stub->*method)(&context, request, &response);
    if (status.ok()) return response;
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE || !backoff.Wait()) {
      return FromGrpc(status);
    }
  }
}

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_UNARY_CALL_H_
