// Sets of half-open intervals [start, end), of any one unit.
#ifndef CHAKRAD_ANALYSIS_INTERVALS_H_
#define CHAKRAD_ANALYSIS_INTERVALS_H_

#include <cstdint>
#include <vector>

namespace chakrad {

struct Interval {
  int64_t start = 0;
  int64_t end = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sorts, joins what overlaps or touches, drops what is empty. O(k log k).
std::vector<Interval> UnionOf(std::vector<Interval> intervals);

// The three below take what UnionOf returns. O(k).
int64_t LengthOf(const std::vector<Interval>& disjoint);
int64_t OverlapOf(const std::vector<Interval>& a, const std::vector<Interval>& b);
// The length of a without b: LengthOf(a) - OverlapOf(a, b).
int64_t LengthOutside(const std::vector<Interval>& a, const std::vector<Interval>& b);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_INTERVALS_H_
