#include "server/rpc/serve.h"

#include <chrono>
#include <exception>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/utf8.h"
#include "server/log.h"

namespace chakrad {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  // Percent-encoding on the wire can triple a byte.
  constexpr size_t kMaxMessageBytes = 2'000;
  std::string message = ValidUtf8(status.message(), kMaxMessageBytes);
  if (status.message().size() > kMaxMessageBytes) message += " ... (cut)";
  // The numbers of absl::StatusCode are gRPC's.
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()), message);
}

grpc::Status Serve(Metrics* metrics, absl::string_view method,
                   const std::function<absl::Status()>& handler) {
  const auto started = std::chrono::steady_clock::now();
  absl::Status status;
  try {
    status = handler();
  } catch (const std::exception& error) {
    status = absl::InternalError(absl::StrCat(method, ": ", error.what()));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  const std::string code = absl::StatusCodeToString(status.code());
  metrics->ObserveRpc(method, code, seconds.count());
  const bool our_fault =
      absl::IsInternal(status) || absl::IsUnknown(status) || absl::IsDataLoss(status);
  const LogLevel level = our_fault     ? LogLevel::kError
                         : status.ok() ? LogLevel::kDebug
                                       : LogLevel::kInfo;
  Log(level, "rpc",
      {{"method", std::string(method)},
       {"code", code},
       {"seconds", absl::StrCat(seconds.count())},
       {"message", status.ok() ? "-" : std::string(status.message())}});
  return ToGrpcStatus(status);
}

}  // namespace chakrad
