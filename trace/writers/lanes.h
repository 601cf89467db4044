// Spreads the intervals of one queue over lanes on which none cross.
#ifndef CHAKRAD_TRACE_WRITERS_LANES_H_
#define CHAKRAD_TRACE_WRITERS_LANES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace chakrad {

// Not thread-safe.
class Lanes {
 public:
  // The lane, from 0, of the next interval [start_ns, end_ns). They must come by
  // ascending start, of equal ones the longer first. On one lane any two are apart
  // or one lies within the other. The first lane where it fits; among many, one
  // that is free. O(kNestingLanes + log lanes), amortised.
  size_t Place(int64_t start_ns, int64_t end_ns) {
    for (size_t lane = 0; lane < open_.size(); ++lane) {
      std::vector<int64_t>& open = open_[lane];
      while (!open.empty() && open.back() <= start_ns) open.pop_back();
      if (!open.empty() && open.back() < end_ns) continue;
      open.push_back(end_ns);
      return lane;
    }
    if (open_.size() < kNestingLanes) {
      open_.push_back({end_ns});
      return open_.size() - 1;
    }
    const auto after = more_.upper_bound(start_ns);
    if (after == more_.begin()) {
      const size_t lane = kNestingLanes + more_.size();
      more_.emplace(end_ns, lane);
      return lane;
    }
    auto free = more_.extract(std::prev(after));
    free.key() = end_ns;
    return more_.insert(std::move(free))->second;
  }
  size_t count() const { return open_.size() + more_.size(); }

 private:
  // Looked through one by one; traces have one to three.
  static constexpr size_t kNestingLanes = 32;
  std::vector<std::vector<int64_t>>
      open_;                             // Of each lane the ends of what is open, outermost first.
  std::multimap<int64_t, size_t> more_;  // Further lanes by the end of their last interval.
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_LANES_H_
