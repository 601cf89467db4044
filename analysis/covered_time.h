// How much of any stretch of time some work covers.
#ifndef CHAKRAD_ANALYSIS_COVERED_TIME_H_
#define CHAKRAD_ANALYSIS_COVERED_TIME_H_

#include <cstdint>
#include <vector>

#include "analysis/intervals.h"
#include "trace/model/timeline.h"

namespace chakrad {

// The union of a rank's intervals of one kind, with sums: immutable; reading is thread-safe.
class CoveredTime {
 public:
  // `intervals` in any order. O(k log k), O(k) when they are in order of start.
  CoveredTime(const std::vector<TimelineInterval>& intervals, IntervalKind kind);

  // Of [start_ps, end_ps), the part that is covered, and the part that is not. 0 when
  // empty. O(log k).
  int64_t CoveredPs(int64_t start_ps, int64_t end_ps) const;
  int64_t UncoveredPs(int64_t start_ps, int64_t end_ps) const {
    return end_ps <= start_ps ? 0 : end_ps - start_ps - CoveredPs(start_ps, end_ps);
  }
  const std::vector<Interval>& disjoint() const { return disjoint_; }

 private:
  int64_t Before(int64_t at_ps) const;  // Covered in (-inf, at_ps).

  std::vector<Interval> disjoint_;
  std::vector<int64_t> before_ps_;  // Sum of the lengths of those before disjoint_[i].
};

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_COVERED_TIME_H_
