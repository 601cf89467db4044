#include "analysis/intervals.h"

#include <algorithm>

namespace chakrad {

std::vector<Interval> UnionOf(std::vector<Interval> intervals) {
  const auto before = [](const Interval& a, const Interval& b) { return a.start < b.start; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), before)) {
    std::sort(intervals.begin(), intervals.end(), before);
  }
  size_t kept = 0;
  for (const Interval& interval : intervals) {
    if (interval.end <= interval.start) continue;
    if (kept > 0 && interval.start <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, interval.end);
    } else {
      intervals[kept++] = interval;
    }
  }
  intervals.resize(kept);
  return intervals;
}

int64_t LengthOf(const std::vector<Interval>& disjoint) {
  int64_t length = 0;
  for (const Interval& interval : disjoint) length += interval.end - interval.start;
  return length;
}

int64_t OverlapOf(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  int64_t overlap = 0;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    overlap +=
        std::max<int64_t>(0, std::min(a[i].end, b[j].end) - std::max(a[i].start, b[j].start));
    ++(a[i].end < b[j].end ? i : j);
  }
  return overlap;
}

int64_t LengthOutside(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  return LengthOf(a) - OverlapOf(a, b);
}

}  // namespace chakrad
