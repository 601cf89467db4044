#include "trace/model/trace.h"

#include <algorithm>

namespace chakrad {

uint32_t RankCopy::GroupInstead(uint32_t group) const {
  const auto it =
      std::lower_bound(groups.begin(), groups.end(), std::pair<uint32_t, uint32_t>(group, 0));
  return it == groups.end() || it->first != group ? group : it->second;
}

const RankTrace* Trace::FindRank(int32_t rank) const {
  const auto it = std::lower_bound(ranks.begin(), ranks.end(), rank,
                                   [](const RankTrace& a, int32_t b) { return a.rank < b; });
  return it != ranks.end() && it->rank == rank ? &*it : nullptr;
}

const RankCopy* Trace::FindCopy(int32_t rank) const {
  const auto it = std::lower_bound(copies.begin(), copies.end(), rank,
                                   [](const RankCopy& a, int32_t b) { return a.rank < b; });
  return it != copies.end() && it->rank == rank ? &*it : nullptr;
}

const RankTrace* Trace::FindRankOrStandIn(int32_t rank) const {
  if (ranks.empty()) return nullptr;
  if (const RankCopy* copy = FindCopy(rank); copy != nullptr) return FindRank(copy->of);
  const auto above = std::upper_bound(ranks.begin(), ranks.end(), rank,
                                      [](int32_t a, const RankTrace& b) { return a < b.rank; });
  return above == ranks.begin() ? &*above : &*(above - 1);
}

std::vector<int32_t> Trace::MissingRanks() const {
  std::vector<int32_t> missing;
  for (int32_t rank = 0; rank < world_size; ++rank) {
    if (FindRank(rank) == nullptr && FindCopy(rank) == nullptr) missing.push_back(rank);
  }
  return missing;
}

}  // namespace chakrad
