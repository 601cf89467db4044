// One POST at a time to one address, over libcurl.
#ifndef CHAKRAD_SERVER_REMOTE_WRITE_HTTP_SENDER_H_
#define CHAKRAD_SERVER_REMOTE_WRITE_HTTP_SENDER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakrad {

struct HttpSenderOptions {
  std::string url;                // http:// or https://, see CheckReceiverUrl.
  std::string bearer_token_file;  // Read before each request; empty: none.
  std::string basic_auth_file;    // "user:password", likewise.
  std::string ca_file;            // Certificates that are trusted; empty: the system's.
  int64_t connect_timeout_ms = 10'000;
  int64_t timeout_ms = 60'000;  // Of a whole request.
};

struct HttpAnswer {
  int status = 0;              // 0: there was no answer, for the reason in `text`.
  std::string text;            // The body's first kMaxAnswerBytes, as valid UTF-8.
  int64_t retry_after_ms = 0;  // What the answer asks for; 0: nothing.
  int64_t date_unix_ms = 0;    // The answerer's clock, to the second: its Date; 0: not told.
};
inline constexpr size_t kMaxAnswerBytes = 1'024;

// INVALID_ARGUMENT: not an absolute http or https address; or it has a user or a password in
// it, which would end up in logs: they belong in a file. The message has neither those nor a query.
absl::Status CheckReceiverUrl(absl::string_view url);

// The address without its query, which may hold a secret: for logs and labels.
std::string ReceiverName(absl::string_view url);

// Connections are kept and reused. Redirects are not followed (the answer is the 3xx), proxies
// of the environment not used. Not thread-safe.
class HttpSender {
 public:
  explicit HttpSender(HttpSenderOptions options);
  ~HttpSender();

  // Sends `body`, snappy-compressed protobuf, as remote write 1.0 asks. Ends within about a
  // second of `*stop` becoming true.
  HttpAnswer Post(const std::string& body, const std::atomic<bool>* stop);
  // Asks for nothing (HEAD), to hear what time it is there: whatever the status, date_unix_ms.
  HttpAnswer AskTime(const std::atomic<bool>* stop);

 private:
  struct Curl;
  HttpAnswer Perform(const std::string* body, const std::atomic<bool>* stop);
  const HttpSenderOptions options_;
  std::unique_ptr<Curl> curl_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_REMOTE_WRITE_HTTP_SENDER_H_
