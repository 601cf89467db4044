// Who is a member of which process group.
#ifndef CHAKRAD_TRACE_CHECK_GROUP_TABLE_H_
#define CHAKRAD_TRACE_CHECK_GROUP_TABLE_H_

#include <cstdint>
#include <vector>

#include "trace/check/finding_list.h"
#include "trace/model/trace.h"

namespace chakrad {

// Immutable once built; reading is thread-safe. `trace` must outlive it.
class GroupTable {
 public:
  // O(m log m) for m members of all groups together.
  explicit GroupTable(const Trace* trace);

  // `group` as in CommOp::group; kNone is the world. Whether its members are known.
  bool Known(uint32_t group) const;
  // Whether `rank` is a member. False for a group without known members.
  bool Holds(uint32_t group, int32_t rank) const;
  // Known members, ascending, each once.
  const std::vector<int32_t>& MembersOf(uint32_t group) const { return members_[IndexOf(group)]; }
  static uint32_t IndexOf(uint32_t group) { return group == kNone ? kWorldGroup : group; }
  const Trace& trace() const { return *trace_; }

 private:
  const Trace* trace_;
  std::vector<std::vector<int32_t>> members_;
};

// The rules about the table itself: group_member_out_of_world, group_member_twice,
// duplicate_group, one_rank_group.
void CheckGroups(const GroupTable& groups, FindingList* findings);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_GROUP_TABLE_H_
