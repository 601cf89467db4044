// What every command of `chakra` has in common: where the server is, how output
// looks, and how a failure is told.
#ifndef CHAKRAD_CLIENT_SESSION_H_
#define CHAKRAD_CLIENT_SESSION_H_

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/json.h"
#include "client/retry.h"
#include "client/unary_call.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace chakrad::client {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,       // The server refused, or the answer could not be written.
  kExitUsage = 2,        // The command line is wrong, or names a file that is not there.
  kExitUnreachable = 3,  // No server answers.
  kExitJobFailed = 4,    // The job that was waited for FAILED or was CANCELLED.
};

// The process around a command; tests hand in strings and a clock that jumps.
struct Io {
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool err_is_terminal = false;  // Whether progress is drawn.
  SleepFn sleep;
};

// Names come from files and servers: control characters (C0, DEL, and C1 in UTF-8)
// become '?', line ends and tabs stay.
std::string Printable(absl::string_view text);

// An error of the command line, kExitUsage.
absl::Status UsageError(absl::string_view message);
bool IsUsageError(const absl::Status& status);

// "t-17" and "traces/t-17" are both "traces/t-17", for collection "traces". A
// usage error when it is empty or a name of another collection.
absl::StatusOr<std::string> FullName(absl::string_view collection, absl::string_view name);

// Not thread-safe.
class Session {
 public:
  explicit Session(Io io) : io_(std::move(io)) {}

  // Set by the command line before a command runs.
  std::string server = "127.0.0.1:50051";
  std::string output = "text";  // "text" or "json".

  const Io& io() const { return io_; }
  std::ostream& out() { return *io_.out; }
  std::ostream& err() { return *io_.err; }
  bool json() const { return output == "json"; }
  // For people: what could steer a terminal becomes '?'. Line ends and tabs stay.
  void PrintText(absl::string_view text) { out() << Printable(text); }
  void PrintJson(const Json& json) { out() << JsonText(json, 2) << "\n"; }
  CallOptions call_options() const { return {.sleep = io_.sleep}; }

  // Opened with the first use.
  const std::shared_ptr<grpc::Channel>& channel();

  // Prints why it failed, in one line; returns the exit code. OK prints nothing.
  int Report(const absl::Status& status);

  // The command did its work, but a job that it waited for did not succeed.
  void set_exit_code(ExitCode code) { exit_code_ = code; }

 private:
  Io io_;
  std::shared_ptr<grpc::Channel> channel_;
  ExitCode exit_code_ = kExitOk;
};

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_SESSION_H_
