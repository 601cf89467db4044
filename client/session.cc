#include "client/session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/connection.h"

namespace chakrad::client {
namespace {

constexpr absl::string_view kUsagePayload = "chakra/usage";

// What gRPC says itself when a connection fails; anything else was written by
// the server for people.
bool IsTransportText(absl::string_view message) {
  for (const char* part :
       {"failed to connect", "Socket closed", "onnection re", "GOAWAY", "recvmsg", "sendmsg",
        "DNS resolution", "Endpoint", "ransport", "keepalive", "Broken pipe", "empty address list",
        "Stream removed", "Deadline Exceeded", "errors resolving", "Cancelling all calls"}) {
    if (absl::StrContains(message, part)) return true;
  }
  return message.empty();
}

std::string Explain(const absl::Status& status, const std::string& server) {
  const absl::string_view message = status.message();
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      if (!IsTransportText(message)) return absl::StrCat("the server at ", server, ": ", message);
      return absl::StrCat("no server answers at ", server,
                          ": is chakrad running there? (--server or CHAKRAD_SERVER names another)");
    case absl::StatusCode::kDeadlineExceeded:
      return absl::StrCat("the server at ", server, " did not answer in time");
    case absl::StatusCode::kUnimplemented:
      return absl::StrCat("the server at ", server,
                          " does not know this request: is it chakrad, and as new as this client?");
    default:
      if (!message.empty()) return std::string(message);
      return absl::StrCat("the server refused: ", absl::StatusCodeToString(status.code()));
  }
}

}  // namespace

std::string Printable(absl::string_view text) {
  std::string printable(text);
  for (size_t i = 0; i < printable.size(); ++i) {
    const auto byte = static_cast<unsigned char>(printable[i]);
    const bool c0 = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    const bool c1 = byte == 0xc2 && i + 1 < printable.size() &&
                    static_cast<unsigned char>(printable[i + 1]) < 0xa0;
    if (c0) printable[i] = '?';
    if (c1) printable.replace(i, 2, "?");
  }
  return printable;
}

absl::Status UsageError(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) {
  return status.GetPayload(kUsagePayload).has_value();
}

absl::StatusOr<std::string> FullName(absl::string_view collection, absl::string_view name) {
  const std::string prefix = absl::StrCat(collection, "/");
  const absl::string_view id = absl::StartsWith(name, prefix) ? name.substr(prefix.size()) : name;
  if (id.empty() || absl::StrContains(id, "/")) {
    return UsageError(absl::StrCat("\"", name, "\" does not name one of ", prefix));
  }
  return absl::StrCat(prefix, id);
}

const std::shared_ptr<grpc::Channel>& Session::channel() {
  if (channel_ == nullptr) channel_ = OpenChannel(server);
  return channel_;
}

int Session::Report(const absl::Status& status) {
  if (status.ok()) {
    out().flush();
    if (out()) return exit_code_;
    err() << "chakra: standard output could not be written\n";
    return kExitFailed;
  }
  const std::string text =
      IsUsageError(status) ? std::string(status.message()) : Explain(status, server);
  err() << "chakra: " << Printable(absl::StrReplaceAll(text, {{"\n", " "}, {"\r", " "}})) << "\n";
  if (IsUsageError(status)) return kExitUsage;
  const bool unreachable = status.code() == absl::StatusCode::kUnavailable ||
                           status.code() == absl::StatusCode::kDeadlineExceeded;
  return unreachable ? kExitUnreachable : kExitFailed;
}

}  // namespace chakrad::client
