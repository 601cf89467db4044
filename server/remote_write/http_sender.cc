#include "server/remote_write/http_sender.h"

#include <curl/curl.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/check.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/version.h"

namespace chakrad {
namespace {

// A receiver that answers with more than this is none; the connection is dropped.
constexpr size_t kMaxReadBytes = size_t{1} << 20;
constexpr size_t kMaxSecretBytes = 8'192;

struct Body {
  std::string text;
  size_t read_bytes = 0;
};

size_t TakeBody(char* data, size_t size, size_t count, void* user) {
  auto* const body = static_cast<Body*>(user);
  const size_t bytes = size * count;
  const size_t room = kMaxAnswerBytes - std::min(kMaxAnswerBytes, body->text.size());
  body->text.append(data, std::min(bytes, room));
  body->read_bytes += bytes;
  return body->read_bytes <= kMaxReadBytes ? bytes : 0;
}

int StopWhenAsked(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto* const stop = static_cast<const std::atomic<bool>*>(user);
  return stop != nullptr && stop->load() ? 1 : 0;
}

// 0: the answer has none, or no date.
int64_t DateOf(CURL* curl) {
  curl_header* date = nullptr;
  if (curl_easy_header(curl, "Date", 0, CURLH_HEADER, -1, &date) != CURLHE_OK) return 0;
  const time_t seconds = curl_getdate(date->value, nullptr);
  return seconds <= 0 ? 0 : static_cast<int64_t>(seconds) * 1'000;
}

// The first line of a file.
absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string secret;
  if (!std::getline(file, secret)) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": cannot be read, or is empty"));
  }
  if (absl::EndsWith(secret, "\r")) secret.pop_back();
  const bool fits = !secret.empty() && secret.size() <= kMaxSecretBytes &&
                    std::all_of(secret.begin(), secret.end(),
                                [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
  if (!fits) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": its first line is no secret"));
  }
  return secret;
}

class Headers {
 public:
  ~Headers() { curl_slist_free_all(list_); }
  void Add(const std::string& line) {
    curl_slist* const longer = curl_slist_append(list_, line.c_str());
    CHECK(longer != nullptr) << "out of memory";
    list_ = longer;
  }
  curl_slist* list() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

}  // namespace

absl::Status CheckReceiverUrl(absl::string_view url) {
  // Neither a query nor a user's password belongs in a message.
  const std::string shown = absl::StrContains(url, "@") ? "the address" : ReceiverName(url);
  absl::string_view rest = url;
  if (!absl::ConsumePrefix(&rest, "http://") && !absl::ConsumePrefix(&rest, "https://")) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, " does not begin with http:// or https://"));
  }
  const absl::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  const bool clean =
      std::all_of(rest.begin(), rest.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (host.empty() || !clean) {
    return absl::InvalidArgumentError(absl::StrCat(shown, " is not an address"));
  }
  if (absl::StrContains(host, "@")) {
    return absl::InvalidArgumentError(
        "the address has a user or password in it; give them in a file");
  }
  return absl::OkStatus();
}

std::string ReceiverName(absl::string_view url) {
  return std::string(url.substr(0, url.find_first_of("?#")));
}

struct HttpSender::Curl {
  CURL* handle = nullptr;
};

HttpSender::HttpSender(HttpSenderOptions options)
    : options_(std::move(options)), curl_(std::make_unique<Curl>()) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(initialised == CURLE_OK) << curl_easy_strerror(initialised);
  curl_->handle = curl_easy_init();
  CHECK(curl_->handle != nullptr) << "out of memory";
  CURL* const curl = curl_->handle;
  curl_easy_setopt(curl, CURLOPT_URL, options_.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  // Names are resolved in a thread of libcurl's, which would be waited for, whatever the timeouts.
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout_ms));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout_ms));
  curl_easy_setopt(curl, CURLOPT_USERAGENT, absl::StrCat("chakrad/", kVersion).c_str());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &TakeBody);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &StopWhenAsked);
  if (!options_.ca_file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, options_.ca_file.c_str());
  }
}

HttpSender::~HttpSender() { curl_easy_cleanup(curl_->handle); }

HttpAnswer HttpSender::Post(const std::string& body, const std::atomic<bool>* stop) {
  return Perform(&body, stop);
}

HttpAnswer HttpSender::AskTime(const std::atomic<bool>* stop) { return Perform(nullptr, stop); }

HttpAnswer HttpSender::Perform(const std::string* body, const std::atomic<bool>* stop) {
  CURL* const curl = curl_->handle;
  Headers headers;
  if (body != nullptr) {
    headers.Add("Content-Type: application/x-protobuf");
    headers.Add("Content-Encoding: snappy");
    headers.Add("X-Prometheus-Remote-Write-Version: 0.1.0");
    headers.Add("Expect:");  // No round trip of its own before the body.
  }
  HttpAnswer answer;
  const auto read_secret = [&](const std::string& file) -> absl::StatusOr<std::string> {
    if (file.empty()) return std::string();
    return ReadSecret(file);
  };
  const absl::StatusOr<std::string> token = read_secret(options_.bearer_token_file);
  const absl::StatusOr<std::string> user = read_secret(options_.basic_auth_file);
  for (const absl::Status& status : {token.status(), user.status()}) {
    if (status.ok()) continue;
    answer.text = std::string(status.message());
    return answer;
  }
  if (!token->empty()) headers.Add(absl::StrCat("Authorization: Bearer ", *token));
  if (!user->empty()) {
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(curl, CURLOPT_USERPWD, user->c_str());
  }
  Body received;
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list());
  if (body != nullptr) {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
  } else {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  }
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &received);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, const_cast<std::atomic<bool>*>(stop));
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, nullptr);
  if (code != CURLE_OK) {
    answer.text = curl_easy_strerror(code);
    return answer;
  }
  long status = 0;
  curl_off_t retry_after_s = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after_s);
  answer.status = static_cast<int>(status);
  answer.text = ValidUtf8(absl::StripTrailingAsciiWhitespace(received.text), kMaxAnswerBytes);
  answer.date_unix_ms = DateOf(curl);
  answer.retry_after_ms = std::clamp<int64_t>(retry_after_s, 0, 86'400) * 1'000;
  return answer;
}

}  // namespace chakrad
