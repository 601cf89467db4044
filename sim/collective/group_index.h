// The members of a process group by position, and back.
#ifndef CHAKRAD_SIM_COLLECTIVE_GROUP_INDEX_H_
#define CHAKRAD_SIM_COLLECTIVE_GROUP_INDEX_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/collective/group_shape.h"
#include "sim/system/system_description.h"

namespace chakrad {

// Immutable. Thread-safe.
class GroupIndex {
 public:
  // `list`: the group's ranks in order. A group of all NPUs is the system, in NPU order.
  GroupIndex(const std::vector<int32_t>& list, const SystemDescription& system)
      : members_count_(static_cast<int32_t>(list.size())), shape_(ShapeOf(system, list)) {
    if (members_count_ == NpusCount(system)) return;
    ranks_ = list;
    by_rank_.reserve(list.size());
    for (int32_t i = 0; i < members_count_; ++i) by_rank_.emplace_back(list[i], i);
    std::sort(by_rank_.begin(), by_rank_.end());
  }

  int32_t members_count() const { return members_count_; }
  const GroupShape& shape() const { return shape_; }
  bool is_system() const { return ranks_.empty(); }
  int32_t RankAt(int32_t position) const { return ranks_.empty() ? position : ranks_[position]; }
  // -1: not a member. O(log members).
  int32_t PositionOf(int32_t rank) const {
    if (ranks_.empty()) return rank < members_count_ ? rank : -1;
    const auto it =
        std::lower_bound(by_rank_.begin(), by_rank_.end(), std::pair<int32_t, int32_t>(rank, 0));
    return it != by_rank_.end() && it->first == rank ? it->second : -1;
  }

 private:
  int32_t members_count_;
  GroupShape shape_;
  std::vector<int32_t> ranks_;  // Empty for a group of all NPUs.
  std::vector<std::pair<int32_t, int32_t>> by_rank_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_GROUP_INDEX_H_
