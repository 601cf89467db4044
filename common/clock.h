// Wall-clock time as something to hand in, so that tests own it.
#ifndef CHAKRAD_COMMON_CLOCK_H_
#define CHAKRAD_COMMON_CLOCK_H_

#include <cstdint>

#include "common/mutex.h"

namespace chakrad {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since 1970-01-01T00:00:00Z. May step backwards.
  virtual int64_t NowUnixNs() = 0;
  // Nanoseconds since some moment of this process's life; never step. For how long something
  // has taken or waited.
  virtual int64_t SteadyNs() = 0;
};

// The system's clock. Never destroyed.
Clock* RealClock();

// Stands still until told otherwise.
class FakeClock : public Clock {
 public:
  explicit FakeClock(int64_t now_unix_ns = 1'700'000'000'000'000'000) : now_ns_(now_unix_ns) {}
  int64_t NowUnixNs() override {
    MutexLock lock(&mutex_);
    return now_ns_;
  }
  int64_t SteadyNs() override {
    MutexLock lock(&mutex_);
    return steady_ns_;
  }
  // Time passes.
  void AdvanceNs(int64_t delta_ns) {
    MutexLock lock(&mutex_);
    now_ns_ += delta_ns;
    steady_ns_ += delta_ns;
  }
  // Somebody sets the clock: no time passes.
  void StepNs(int64_t delta_ns) {
    MutexLock lock(&mutex_);
    now_ns_ += delta_ns;
  }

 private:
  Mutex mutex_;
  int64_t now_ns_ ABSL_GUARDED_BY(mutex_);
  int64_t steady_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_COMMON_CLOCK_H_
