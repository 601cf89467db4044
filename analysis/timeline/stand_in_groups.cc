#include "analysis/timeline/stand_in_groups.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace chakrad {

void StandInGroups::FindGroupsWith() {
  groups_with_.resize(static_cast<size_t>(std::max(trace_.world_size, 1)));
  std::vector<int32_t> members;
  for (uint32_t group = 0; group < trace_.groups.size(); ++group) {
    members = trace_.groups[group].ranks;
    std::sort(members.begin(), members.end());
    if (members.empty() || members.front() < 0 || members.back() >= trace_.world_size) continue;
    if (std::adjacent_find(members.begin(), members.end()) != members.end()) continue;
    for (const int32_t member : members) {
      groups_with_[static_cast<size_t>(member)].push_back(group);
    }
  }
}

const std::vector<uint32_t>& StandInGroups::UsedBy(const RankTrace& graph) {
  const auto [it, added] = used_by_.try_emplace(&graph);
  if (!added) return it->second;
  std::vector<bool> seen(trace_.groups.size(), false);
  for (uint32_t node = 0; node < graph.size(); ++node) {
    const CommOp* op = graph.CommOf(node);
    if (op != nullptr && op->group < seen.size()) seen[op->group] = true;
  }
  for (uint32_t group = 0; group < seen.size(); ++group) {
    if (seen[group]) it->second.push_back(group);
  }
  return it->second;
}

std::vector<std::pair<uint32_t, uint32_t>> StandInGroups::Of(int32_t rank, const RankTrace& graph) {
  if (groups_with_.empty()) FindGroupsWith();
  const std::vector<uint32_t>& own = groups_with_[static_cast<size_t>(rank)];
  absl::flat_hash_map<size_t, uint32_t> of_size;  // kNone: several.
  for (const uint32_t group : own) {
    const auto [it, added] = of_size.emplace(trace_.groups[group].ranks.size(), group);
    if (!added) it->second = kNone;
  }
  std::vector<std::pair<uint32_t, uint32_t>> instead;
  for (const uint32_t group : UsedBy(graph)) {
    if (std::binary_search(own.begin(), own.end(), group)) continue;
    const auto it = of_size.find(trace_.groups[group].ranks.size());
    instead.emplace_back(group, it == of_size.end() ? kNone : it->second);
  }
  return instead;
}

}  // namespace chakrad
