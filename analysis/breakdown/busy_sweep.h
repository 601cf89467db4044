// One pass over a rank's intervals in order of time: how long which kinds of work ran together.
#ifndef CHAKRAD_ANALYSIS_BREAKDOWN_BUSY_SWEEP_H_
#define CHAKRAD_ANALYSIS_BREAKDOWN_BUSY_SWEEP_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "trace/model/timeline.h"

namespace chakrad {

// Sets of kinds are bits.
inline constexpr uint32_t KindBit(IntervalKind kind) { return 1u << static_cast<uint32_t>(kind); }
inline constexpr uint32_t kKindSetsCount = 1u << kIntervalKindsCount;
// What makes a rank busy; host work of a rank with a device does not.
inline constexpr uint32_t kBusyKinds =
    KindBit(IntervalKind::kCompute) | KindBit(IntervalKind::kComm) | KindBit(IntervalKind::kMemory);

// Of each kind only the furthest end so far matters, so that nothing is allocated, merged or
// sorted again. O(1) an interval. Not thread-safe.
class BusySweep {
 public:
  explicit BusySweep(int64_t start_ps) : now_ps_(start_ps), gap_start_ps_(start_ps) {
    until_ps_.fill(start_ps);
  }

  // Accounts for the time up to `to_ps`.
  void Advance(int64_t to_ps) {
    while (now_ps_ < to_ps) {
      uint32_t kinds = 0;
      int64_t next_ps = to_ps;
      for (uint32_t kind = 0; kind < kIntervalKindsCount; ++kind) {
        if (until_ps_[kind] <= now_ps_) continue;
        kinds |= 1u << kind;
        next_ps = std::min(next_ps, until_ps_[kind]);
      }
      length_ps_[kinds] += next_ps - now_ps_;
      if ((kinds & kBusyKinds) != 0) {
        gap_start_ps_ = next_ps;
        host_in_gap_ps_ = 0;
      } else if (kinds != 0) {
        host_in_gap_ps_ += next_ps - now_ps_;
      }
      now_ps_ = next_ps;
    }
  }
  // An interval that starts now.
  void Start(IntervalKind kind, int64_t end_ps) {
    int64_t& until_ps = until_ps_[static_cast<uint32_t>(kind)];
    until_ps = std::max(until_ps, end_ps);
  }

  // The gap that reaches up to now: empty while something runs.
  int64_t gap_start_ps() const { return gap_start_ps_; }
  int64_t gap_ps() const { return now_ps_ - gap_start_ps_; }
  int64_t host_in_gap_ps() const { return host_in_gap_ps_; }  // The part with host work.

  // Takes the gap as dealt with: another one may begin at once.
  void CloseGap() {
    gap_start_ps_ = now_ps_;
    host_in_gap_ps_ = 0;
  }

  // How long some kind of `any` ran, and none of `none`.
  int64_t LengthOf(uint32_t any, uint32_t none = 0) const {
    int64_t length_ps = 0;
    for (uint32_t kinds = 0; kinds < kKindSetsCount; ++kinds) {
      if ((kinds & any) != 0 && (kinds & none) == 0) length_ps += length_ps_[kinds];
    }
    return length_ps;
  }
  int64_t IdlePs() const { return length_ps_[0] + length_ps_[KindBit(IntervalKind::kHost)]; }

 private:
  int64_t now_ps_;
  int64_t gap_start_ps_;
  int64_t host_in_gap_ps_ = 0;
  std::array<int64_t, kIntervalKindsCount> until_ps_;
  std::array<int64_t, kKindSetsCount> length_ps_{};
};

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_BREAKDOWN_BUSY_SWEEP_H_
