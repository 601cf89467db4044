#include "trace/check/group_table.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"

namespace chakrad {

GroupTable::GroupTable(const Trace* trace) : trace_(trace), members_(trace->groups.size()) {
  for (size_t i = 0; i < members_.size(); ++i) {
    std::vector<int32_t>& members = members_[i];
    members = trace->groups[i].ranks;
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
  }
}

bool GroupTable::Known(uint32_t group) const {
  group = IndexOf(group);
  return group < members_.size() && !members_[group].empty();
}

bool GroupTable::Holds(uint32_t group, int32_t rank) const {
  return Known(group) && std::binary_search(MembersOf(group).begin(), MembersOf(group).end(), rank);
}

void CheckGroups(const GroupTable& groups, FindingList* findings) {
  const Trace& trace = groups.trace();
  std::map<std::vector<int32_t>, uint32_t> first_with;
  for (uint32_t group = 0; group < trace.groups.size(); ++group) {
    const std::vector<int32_t>& members = groups.MembersOf(group);
    if (members.empty()) continue;
    std::vector<int32_t> outside;
    for (const int32_t member : members) {
      if (member < 0 || member >= trace.world_size) outside.push_back(member);
    }
    if (!outside.empty()) {
      findings->AddOfTrace("group_member_out_of_world", [&] {
        return absl::StrCat(GroupText(trace, group), " holds rank ", RangesText(outside),
                            "; the world has ", CountText(trace.world_size, "rank"));
      });
    }
    if (members.size() < trace.groups[group].ranks.size()) {
      findings->AddOfTrace("group_member_twice", [&] {
        return absl::StrCat(GroupText(trace, group), " lists ", trace.groups[group].ranks.size(),
                            " ranks, of which ", members.size(), " are different");
      });
    }
    // The world stands in every trace, whether or not the recording had such a group.
    if (group == kWorldGroup) continue;
    if (members.size() == 1) {
      findings->AddOfTrace("one_rank_group", [&] {
        return absl::StrCat(GroupText(trace, group), " holds rank ", members[0], " alone");
      });
    }
    const auto [it, added] = first_with.emplace(members, group);
    if (!added) {
      findings->AddOfTrace("duplicate_group", [&] {
        return absl::StrCat(GroupText(trace, group), " has the members of ",
                            GroupText(trace, it->second), ": ", RangesText(members));
      });
    }
  }
}

}  // namespace chakrad
