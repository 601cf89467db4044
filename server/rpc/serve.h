// The one place where a call is timed, counted, logged, and its Status becomes
// gRPC's.
#ifndef CHAKRAD_SERVER_RPC_SERVE_H_
#define CHAKRAD_SERVER_RPC_SERVE_H_

#include <grpcpp/support/status.h>

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/metrics.h"

namespace chakrad {

// Same code, same message; the message is cut where gRPC's metadata limit (8 KiB)
// would make the whole answer fail.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Runs `handler`. An exception of a library below becomes INTERNAL.
grpc::Status Serve(Metrics* metrics, absl::string_view method,
                   const std::function<absl::Status()>& handler);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_SERVE_H_
