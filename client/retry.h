// Bounded retries with a growing, jittered delay between them.
#ifndef CHAKRAD_CLIENT_RETRY_H_
#define CHAKRAD_CLIENT_RETRY_H_

#include <chrono>
#include <functional>

namespace chakrad::client {

// How time passes; tests hand in one that only records.
using SleepFn = std::function<void(std::chrono::milliseconds)>;

struct RetryPolicy {
  int attempts_max = 4;  // The first one counted.
  std::chrono::milliseconds first_delay{100};
  std::chrono::milliseconds delay_max{5000};
};

// Short: a person waits, and a server that is not there should be named soon.
inline constexpr RetryPolicy kCallPolicy = {4, std::chrono::milliseconds(100),
                                            std::chrono::milliseconds(1000)};
// About half a minute without any progress: outlasts a restart of the daemon.
inline constexpr RetryPolicy kResumePolicy = {10, std::chrono::milliseconds(200),
                                              std::chrono::milliseconds(5000)};

// Not thread-safe.
class Backoff {
 public:
  // `sleep` must outlive this.
  Backoff(const RetryPolicy& policy, const SleepFn& sleep) : policy_(policy), sleep_(sleep) {}

  // Sleeps before the next attempt and returns true, or returns false at once
  // when the attempts are used up. The delay doubles each time; half of it is
  // random, so that a fleet of collectors does not come back in one moment.
  bool Wait();
  // Something worked: the count and the delay start again.
  void Reset() { attempts_ = 1; }

 private:
  RetryPolicy policy_;
  const SleepFn& sleep_;
  int attempts_ = 1;
};

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_RETRY_H_
