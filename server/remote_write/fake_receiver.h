// A remote-write receiver that answers as a test wants; for what a real Prometheus cannot be
// made to do.
#ifndef CHAKRAD_SERVER_REMOTE_WRITE_FAKE_RECEIVER_H_
#define CHAKRAD_SERVER_REMOTE_WRITE_FAKE_RECEIVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/mutex.h"

namespace chakrad {

// What one request said: series as {name="value",...} with labels in the order sent.
struct FakeRequest {
  std::map<std::string, std::string> headers;  // Names in lower case.
  struct Sample {
    std::string series;
    int64_t time_unix_ms = 0;
    double value = 0;
    friend bool operator==(const Sample&, const Sample&) = default;
  };
  std::vector<Sample> samples;  // In the order sent.
  bool heartbeat = false;       // Only the heartbeat's series.
  bool asks_time = false;       // HEAD; answered with 405, and not recorded.
};

// The bytes of the answer; "" closes the connection without one, kHang says nothing until the
// receiver ends.
using FakeAnswer = std::function<std::string(const FakeRequest&)>;
inline constexpr char kHang[] = "hang";
// "HTTP/1.1 STATUS ..." with this body and header lines ("Retry-After: 1\r\n").
std::string HttpText(int status, const std::string& body, const std::string& headers = "");

// Listens on a free port of the loopback; one connection a request. Thread-safe.
class FakeReceiver {
 public:
  explicit FakeReceiver(FakeAnswer answer);
  ~FakeReceiver();

  std::string url() const;
  // From now on its answers have a Date: so much ahead of the system's clock.
  void TellTime(int64_t ahead_ms);
  int times_asked() const { return times_asked_; }
  // What was answered with 2xx, heartbeats apart: by series and time.
  std::map<std::pair<std::string, int64_t>, double> Taken() const;
  std::vector<FakeRequest> Requests() const;

 private:
  void Loop();
  void Serve(int connection);

  const FakeAnswer answer_;
  static constexpr int64_t kNoTime = INT64_MIN;
  std::string WithDate(std::string answer) const;

  std::atomic<int64_t> ahead_ms_{kNoTime};
  std::atomic<int> times_asked_{0};
  int listening_ = -1;
  int port_ = 0;
  int wake_[2] = {-1, -1};
  mutable Mutex mutex_;
  std::vector<FakeRequest> requests_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, int64_t>, double> taken_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_REMOTE_WRITE_FAKE_RECEIVER_H_
