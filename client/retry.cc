#include "client/retry.h"

#include <algorithm>
#include <random>

namespace chakrad::client {

bool Backoff::Wait() {
  if (attempts_ >= policy_.attempts_max) return false;
  std::chrono::milliseconds delay = policy_.first_delay;
  for (int i = 1; i < attempts_ && delay < policy_.delay_max; ++i) delay *= 2;
  delay = std::min(delay, policy_.delay_max);
  ++attempts_;
  static thread_local std::minstd_rand generator{std::random_device{}()};
  std::uniform_int_distribution<int64_t> jittered_ms(delay.count() / 2, delay.count());
  sleep_(std::chrono::milliseconds(jittered_ms(generator)));
  return true;
}

}  // namespace chakrad::client
