#include "sim/workload/rendezvous.h"

#include <algorithm>

#include "common/check.h"

namespace chakrad {
namespace {

uint64_t KeyOf(uint32_t group, uint32_t number) { return uint64_t{group} << 32 | number; }

}  // namespace

Rendezvous::Rendezvous(const std::vector<ProcessGroup>* groups, const SystemDescription* system,
                       DescribeFn describe)
    : groups_(groups), system_(system), describe_(std::move(describe)), indices_(groups->size()) {}

const GroupIndex& Rendezvous::IndexOf(uint32_t group) {
  if (indices_[group] == nullptr) {
    indices_[group] = std::make_unique<GroupIndex>((*groups_)[group].ranks, *system_);
  }
  return *indices_[group];
}

absl::StatusOr<Meeting*> Rendezvous::Join(const CollectiveCall& call, uint32_t number,
                                          absl::Span<const int32_t> positions, int64_t now_ps) {
  std::unique_ptr<Meeting>& slot = open_[KeyOf(call.group, number)];
  if (slot == nullptr) {
    if (free_.empty()) free_.push_back(std::make_unique<Meeting>());
    slot = std::move(free_.back());
    free_.pop_back();
    slot->first_call = call;
    slot->number = number;
    slot->members_count = IndexOf(call.group).members_count();
    slot->joined_count = slot->done_count = 0;
    slot->start_ps = now_ps;
    slot->end_ps = 0;
    slot->last_position = 0;
    slot->join_ps.clear();
    slot->nodes.clear();
  } else {
    RETURN_IF_ERROR(
        CheckAgree(slot->first_call, call, number, (*groups_)[call.group].name, describe_));
  }
  Meeting& meeting = *slot;
  meeting.all_joined_ps = now_ps;
  if (positions.empty()) {
    CHECK(meeting.joined_count == 0) << "all of group " << call.group << " join twice";
    meeting.joined_count = meeting.members_count;
    return &meeting;
  }
  if (meeting.join_ps.empty()) {
    meeting.join_ps.assign(meeting.members_count, -1);
    meeting.nodes.assign(meeting.members_count, kNone);
  }
  for (const int32_t position : positions) {
    CHECK(meeting.join_ps[position] < 0) << "position " << position << " joins twice";
    meeting.join_ps[position] = now_ps;
    meeting.nodes[position] = call.node;
  }
  meeting.joined_count += static_cast<int32_t>(positions.size());
  if (meeting.complete()) {
    const auto last = std::find(meeting.join_ps.begin(), meeting.join_ps.end(), now_ps);
    meeting.last_position = static_cast<int32_t>(last - meeting.join_ps.begin());
  }
  return &meeting;
}

Meeting* Rendezvous::Find(uint32_t group, uint32_t number) {
  const auto it = open_.find(KeyOf(group, number));
  return it == open_.end() ? nullptr : it->second.get();
}

void Rendezvous::Close(Meeting* meeting) {
  const auto it = open_.find(KeyOf(meeting->first_call.group, meeting->number));
  CHECK(it != open_.end()) << meeting->number;
  free_.push_back(std::move(it->second));
  open_.erase(it);
}

std::vector<CollectiveWait> Rendezvous::Waits() const {
  std::vector<const Meeting*> meetings;
  for (const auto& [key, meeting] : open_) meetings.push_back(meeting.get());
  std::sort(meetings.begin(), meetings.end(), [](const Meeting* a, const Meeting* b) {
    return KeyOf(a->first_call.group, a->number) < KeyOf(b->first_call.group, b->number);
  });
  std::vector<CollectiveWait> waits;
  for (const Meeting* meeting : meetings) {
    CollectiveWait wait{meeting->first_call.group, meeting->number, {}, {}};
    const GroupIndex& index = *indices_[meeting->first_call.group];
    for (int32_t position = 0; position < meeting->members_count; ++position) {
      if (meeting->JoinPs(position) < 0) {
        wait.missing.push_back(index.RankAt(position));
      } else {
        wait.waiting.emplace_back(index.RankAt(position), meeting->NodeOf(position));
      }
    }
    waits.push_back(std::move(wait));
  }
  return waits;
}

}  // namespace chakrad
