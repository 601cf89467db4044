#include "server/remote_write/fake_receiver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <snappy.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/check.h"
#include "prometheus/remote_write.pb.h"
#include "server/remote_write/remote_writer.h"

namespace chakrad {
namespace {

// False: the other side, or the receiver, ended first.
bool WaitToRead(int connection, int wake) {
  pollfd fds[2] = {{connection, POLLIN, 0}, {wake, POLLIN, 0}};
  return poll(fds, 2, -1) > 0 && fds[1].revents == 0;
}

void ParseBody(const std::string& body, FakeRequest* request) {
  std::string bytes;
  CHECK(snappy::Uncompress(body.data(), body.size(), &bytes));
  prometheus::WriteRequest message;
  CHECK(message.ParseFromString(bytes));
  for (const prometheus::TimeSeries& series : message.timeseries()) {
    std::string text = "{";
    for (const prometheus::Label& label : series.labels()) {
      absl::StrAppend(&text, text.size() > 1 ? "," : "", label.name(), "=\"", label.value(), "\"");
    }
    text += "}";
    for (const prometheus::Sample& sample : series.samples()) {
      request->samples.push_back({text, sample.timestamp(), sample.value()});
    }
  }
  request->heartbeat = request->samples.size() == 1 &&
                       absl::StartsWith(request->samples[0].series,
                                        absl::StrCat("{__name__=\"", kHeartbeatMetric, "\""));
}

}  // namespace

std::string HttpText(int status, const std::string& body, const std::string& headers) {
  return absl::StrCat("HTTP/1.1 ", status, " X\r\nContent-Length: ", body.size(),
                      "\r\nConnection: close\r\n", headers, "\r\n", body);
}

FakeReceiver::FakeReceiver(FakeAnswer answer) : answer_(std::move(answer)) {
  listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  CHECK(bind(listening_, reinterpret_cast<sockaddr*>(&address), size) == 0);
  CHECK(listen(listening_, 8) == 0);
  CHECK(getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  CHECK(pipe(wake_) == 0);
  thread_ = std::thread([this] { Loop(); });
}

FakeReceiver::~FakeReceiver() {
  CHECK(write(wake_[1], "x", 1) == 1);
  thread_.join();
  for (const int fd : {listening_, wake_[0], wake_[1]}) close(fd);
}

std::string FakeReceiver::url() const {
  return absl::StrCat("http://127.0.0.1:", port_, "/api/v1/write");
}

std::map<std::pair<std::string, int64_t>, double> FakeReceiver::Taken() const {
  MutexLock lock(&mutex_);
  return taken_;
}

std::vector<FakeRequest> FakeReceiver::Requests() const {
  MutexLock lock(&mutex_);
  return requests_;
}

void FakeReceiver::TellTime(int64_t ahead_ms) { ahead_ms_ = ahead_ms; }

std::string FakeReceiver::WithDate(std::string answer) const {
  const size_t line_end = answer.find("\r\n");
  if (ahead_ms_ == kNoTime || line_end == std::string::npos) return answer;
  const time_t seconds = time(nullptr) + static_cast<time_t>(ahead_ms_ / 1'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  CHECK(std::strftime(text, sizeof(text), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts) > 0);
  return answer.insert(line_end + 2, text);
}

void FakeReceiver::Loop() {
  while (WaitToRead(listening_, wake_[0])) {
    const int connection = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    Serve(connection);
    close(connection);
  }
}

void FakeReceiver::Serve(int connection) {
  std::string bytes;
  FakeRequest request;
  size_t body_at = std::string::npos;
  size_t body_size = 0;
  while (body_at == std::string::npos || bytes.size() < body_at + body_size) {
    char buffer[65'536];
    if (!WaitToRead(connection, wake_[0])) return;
    const ssize_t count = read(connection, buffer, sizeof(buffer));
    if (count <= 0) return;
    bytes.append(buffer, static_cast<size_t>(count));
    const size_t end = bytes.find("\r\n\r\n");
    if (body_at != std::string::npos || end == std::string::npos) continue;
    body_at = end + 4;
    request.asks_time = absl::StartsWith(bytes, "HEAD ");
    for (const absl::string_view line : absl::StrSplit(bytes.substr(0, end), "\r\n")) {
      const std::pair<std::string, std::string> field =
          absl::StrSplit(line, absl::MaxSplits(": ", 1));
      request.headers[absl::AsciiStrToLower(field.first)] = field.second;
    }
    CHECK(request.asks_time || absl::SimpleAtoi(request.headers["content-length"], &body_size));
  }
  std::string answer;
  if (request.asks_time) {
    ++times_asked_;
    answer = WithDate(HttpText(405, ""));
  } else {
    ParseBody(bytes.substr(body_at), &request);
    answer = WithDate(answer_(request));
  }
  if (!request.asks_time) {
    MutexLock lock(&mutex_);
    requests_.push_back(request);
    const bool taken = answer.rfind("HTTP/1.1 2", 0) == 0;
    for (const FakeRequest::Sample& sample : request.samples) {
      if (taken && !request.heartbeat) taken_[{sample.series, sample.time_unix_ms}] = sample.value;
    }
  }
  if (answer == kHang) {
    WaitToRead(connection, wake_[0]);
    return;
  }
  size_t sent = 0;
  while (sent < answer.size()) {
    const ssize_t count =
        send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<size_t>(count);
  }
}

}  // namespace chakrad
