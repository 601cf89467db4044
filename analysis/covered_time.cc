#include "analysis/covered_time.h"

#include <algorithm>
#include <utility>

namespace chakrad {

CoveredTime::CoveredTime(const std::vector<TimelineInterval>& intervals, IntervalKind kind) {
  std::vector<Interval> chosen;
  for (const TimelineInterval& interval : intervals) {
    if (interval.kind == kind) chosen.push_back({interval.start_ps, interval.end_ps});
  }
  disjoint_ = UnionOf(std::move(chosen));
  before_ps_.reserve(disjoint_.size());
  int64_t sum_ps = 0;
  for (const Interval& interval : disjoint_) {
    before_ps_.push_back(sum_ps);
    sum_ps += interval.end - interval.start;
  }
}

int64_t CoveredTime::Before(int64_t at_ps) const {
  const auto it = std::partition_point(disjoint_.begin(), disjoint_.end(),
                                       [&](const Interval& one) { return one.start < at_ps; });
  if (it == disjoint_.begin()) return 0;
  const size_t i = static_cast<size_t>(it - disjoint_.begin()) - 1;
  return before_ps_[i] + std::min(at_ps, disjoint_[i].end) - disjoint_[i].start;
}

int64_t CoveredTime::CoveredPs(int64_t start_ps, int64_t end_ps) const {
  return end_ps <= start_ps ? 0 : Before(end_ps) - Before(start_ps);
}

}  // namespace chakrad
