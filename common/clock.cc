#include "common/clock.h"

#include <chrono>

namespace chakrad {
namespace {

class SystemClock : public Clock {
 public:
  int64_t NowUnixNs() override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  int64_t SteadyNs() override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace

Clock* RealClock() {
  static SystemClock* const clock = new SystemClock;
  return clock;
}

}  // namespace chakrad
