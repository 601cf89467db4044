// The part of Workload that runs collectives: who joins what, and what becomes of it.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "common/check.h"
#include "common/saturating.h"
#include "sim/compute/node_costs.h"
#include "sim/engine/event_kind.h"
#include "sim/engine/semantics.h"
#include "sim/workload/workload.h"
#include "trace/model/comm_bytes.h"

namespace chakrad {
namespace {

uint32_t GroupNamedBy(const RankTrace& trace, uint32_t node) {
  const uint32_t group = trace.CommOf(node)->group;
  return group == kNone ? kWorldGroup : group;
}

}  // namespace

void Workload::IssueCollective(uint32_t cohort, uint16_t slot, uint32_t node) {
  Cohort& state = cohorts_[cohort];
  const CommOp& op = *state.trace->CommOf(node);
  const int64_t ranks_count = static_cast<int64_t>(state.ranks.size());
  if (!HasCostModel(system_->semantics, op.collective)) {
    counts_.unmodelled[static_cast<int>(op.collective)] += ranks_count;
    counts_.charged_any_time = counts_.charged_any_time || state.trace->work_ns[node] > 0;
    const int64_t until_ps =
        queue_->now_ps() + RecordedCommPs(system_->semantics, *state.trace, node);
    return PushSlotEnd(cohort, slot, until_ps);
  }
  const CollectiveCall call = CallOf(state, node);
  if (system_->semantics == Semantics::kAstra && call.type != CollectiveType::kAllReduce &&
      ImplementationOf(*system_, call.type).per_dim[0].kind == AlgorithmKind::kDoubleBinaryTree) {
    counts_.tree_substitutes += ranks_count;
  }
  if (call.bytes == 0 && call.type != CollectiveType::kBarrier) counts_.zero_bytes += ranks_count;
  JoinMeetings(cohort, slot, call);
}

CollectiveCall Workload::CallOf(const Cohort& cohort, uint32_t node) const {
  const CommOp& op = *cohort.trace->CommOf(node);
  CollectiveCall call;
  call.rank = cohort.ranks[0];
  call.node = node;
  call.group = GroupNamedBy(*cohort.trace, node);
  call.type = op.collective == CollectiveType::kReduceScatterBlock ? CollectiveType::kReduceScatter
                                                                   : op.collective;
  call.bytes = op.bytes;
  call.involved_dims = op.involved_dims;
  call.root = kNoRank;
  if (HasRoot(call.type) && op.root != kNoRank) {
    // In a copy, groups of its own have moved with it; see RankCopy.
    const bool moved = parts_.cast->GroupFor(call.rank, call.group) != call.group;
    call.root = op.root + (moved ? parts_.cast->ShiftOf(call.rank) : 0);
  }
  call.script = ScriptOf(*system_, op.collective, cohort.trace->id[node]);
  if (!all_to_all_bytes_.empty()) {
    const auto it = all_to_all_bytes_.find(uint64_t(uint32_t(call.rank)) << 32 | node);
    if (it != all_to_all_bytes_.end()) call.bytes = it->second;
  }
  return call;
}

// call.group: as the cohort's trace says it.
void Workload::JoinMeetings(uint32_t cohort, uint16_t slot, const CollectiveCall& call) {
  Cohort& state = cohorts_[cohort];
  GroupUse& use = state.UseOf(call.group);
  const uint32_t number = use.next_number++;
  if (!use.parts_known) FillParts(state, &use);
  std::vector<Meeting*> complete;
  bool nothing_to_do = false;
  for (const GroupPart& part : use.parts) {
    CollectiveCall joined = call;
    joined.group = part.group;
    const GroupIndex& index = rendezvous_.IndexOf(part.group);
    joined.rank = index.RankAt(part.positions.empty() ? 0 : part.positions[0]);
    const absl::StatusOr<Meeting*> meeting =
        rendezvous_.Join(joined, number, part.positions, queue_->now_ps());
    if (!meeting.ok()) {
      status_ = meeting.status();
      return;
    }
    if (engine_ != nullptr) return JoinEngine(cohort, slot, joined, number);
    nothing_to_do = batch_->NothingToDo(joined, index);
    if (!(*meeting)->complete()) continue;
    if (nothing_to_do) {
      rendezvous_.Close(*meeting);
    } else {
      complete.push_back(*meeting);
    }
  }
  if (nothing_to_do) {
    counts_.without_work += static_cast<int64_t>(state.ranks.size());
    state.slots[slot].node = kNone;
    state.account.End(queue_->now_ps(), IntervalKind::kComm);
    return End(cohort, call.node, queue_->now_ps());
  }
  if (!complete.empty()) complete_.push_back(std::move(complete));
}

// Event-driven: the cohort is one rank.
void Workload::JoinEngine(uint32_t cohort, uint16_t slot, CollectiveCall call, uint32_t number) {
  Cohort& state = cohorts_[cohort];
  state.slots[slot].number = number;
  state.slots[slot].group = call.group;
  bool done = false;
  status_ = engine_->Join(call, &done);
  if (!status_.ok() || !done) return;
  ++counts_.without_work;
  Meeting* meeting = rendezvous_.Find(call.group, number);
  if (++meeting->done_count == meeting->members_count) rendezvous_.Close(meeting);
  state.slots[slot].node = kNone;
  state.account.End(queue_->now_ps(), IntervalKind::kComm);
  End(cohort, call.node, queue_->now_ps());
}

void Workload::OnCollectiveDone(int32_t rank, uint32_t node) {
  const uint32_t cohort = cohort_of_[rank];
  Cohort& state = cohorts_[cohort];
  const uint16_t slot = state.plan->slot[node];
  Meeting* meeting = rendezvous_.Find(state.slots[slot].group, state.slots[slot].number);
  CHECK(meeting != nullptr) << Describe(rank, node);
  const GroupIndex& index = rendezvous_.IndexOf(state.slots[slot].group);
  const int64_t join_ps = meeting->JoinPs(index.PositionOf(rank));
  if (meeting->complete() && meeting->all_joined_ps > join_ps) {
    const int64_t wait_ps = meeting->all_joined_ps - join_ps;
    const uint32_t group = GroupNamedBy(*state.trace, node);
    state.AddWait(group, meeting->last_position, wait_ps);
    if (parts_.options->critical_path) {
      state.crossings.push_back({node, group, meeting->last_position,
                                 meeting->NodeOf(meeting->last_position), meeting->all_joined_ps});
    }
  }
  meeting->end_ps = queue_->now_ps();
  if (++meeting->done_count == meeting->members_count) {
    LogMeeting(*meeting, engine_->IsFlat(meeting->first_call));
    rendezvous_.Close(meeting);
  }
  EndSlot(cohort, slot);
}

void Workload::FillParts(const Cohort& cohort, GroupUse* use) {
  use->parts.clear();
  use->parts_known = true;
  std::map<uint32_t, std::vector<int32_t>> ranks_in;
  for (const int32_t rank : cohort.ranks) {
    ranks_in[parts_.cast->GroupFor(rank, use->group)].push_back(rank);
  }
  for (auto& [group, ranks] : ranks_in) {
    GroupPart part{group, {}};
    const GroupIndex& index = rendezvous_.IndexOf(group);
    // With one rank a cohort, joins say who: everybody is late in their own way.
    if (static_cast<int32_t>(ranks.size()) < index.members_count() || ranks.size() == 1) {
      for (int32_t& rank : ranks) rank = index.PositionOf(rank);
      part.positions = std::move(ranks);
    }
    use->parts.push_back(std::move(part));
  }
}

// ---- Whole collectives: from meetings that are complete to ends.

void Workload::ApplyOutcomes() {
  std::vector<Outcome> outcomes;
  cohorts_before_outcomes_ = cohorts_.size();
  while (!complete_.empty() && status_.ok()) {
    const std::vector<Meeting*> meetings = std::move(complete_.front());
    complete_.pop_front();
    outcomes.clear();
    CollectOutcomes(meetings, &outcomes);
    if (!status_.ok()) return;
    std::sort(outcomes.begin(), outcomes.end(), [](const Outcome& a, const Outcome& b) {
      return std::tie(a.cohort, a.end_ps, a.bytes, a.wait_ps, a.last_position, a.last_node,
                      a.rank) <
             std::tie(b.cohort, b.end_ps, b.bytes, b.wait_ps, b.last_position, b.last_node, b.rank);
    });
    for (auto begin = outcomes.begin(); begin != outcomes.end();) {
      auto end = begin;
      while (end != outcomes.end() && end->cohort == begin->cohort) ++end;
      ApplyTo(begin, end);
      begin = end;
    }
  }
}

void Workload::CollectOutcomes(const std::vector<Meeting*>& meetings,
                               std::vector<Outcome>* outcomes) {
  BatchAnswer answer;
  for (Meeting* meeting : meetings) {
    const GroupIndex& index = rendezvous_.IndexOf(meeting->first_call.group);
    const absl::Span<const int64_t> join_ps = meeting->together()
                                                  ? absl::MakeConstSpan(&meeting->start_ps, 1)
                                                  : absl::MakeConstSpan(meeting->join_ps);
    status_ = batch_->Evaluate(meeting->first_call, index, join_ps, &answer);
    if (!status_.ok()) {
      status_ = Annotate(status_, Describe(meeting->first_call.rank, meeting->first_call.node));
      return;
    }
    Outcome outcome;
    // An earlier outcome of the same moment may have split the cohort that joined as one.
    const bool alike = meeting->together() && answer.alike() &&
                       (cohorts_.size() == cohorts_before_outcomes_ || InOneCohort(index));
    for (int32_t position = 0; position < (alike ? 1 : meeting->members_count); ++position) {
      outcome.rank = index.RankAt(position);
      outcome.cohort = cohort_of_[outcome.rank];
      outcome.end_ps = std::min(answer.EndPs(position), kHorizonPs);
      outcome.bytes = answer.Bytes(position);
      outcome.node = meeting->NodeOf(position);
      outcome.wait_ps = meeting->all_joined_ps - meeting->JoinPs(position);
      const bool waited = outcome.wait_ps > 0;
      outcome.last_position = waited ? meeting->last_position : 0;
      // Groups of one cohort may have waited for different nodes; only the path asks which.
      outcome.last_node =
          waited && parts_.options->critical_path ? meeting->NodeOf(meeting->last_position) : 0;
      if (alike) outcome.group = meeting->first_call.group;
      if (alike) outcome.ranks_count = meeting->members_count;
      meeting->end_ps = std::max(meeting->end_ps, outcome.end_ps);
      outcomes->push_back(outcome);
    }
    LogMeeting(*meeting, answer.flat);
    AddTraffic(batch_->Traffic(meeting->first_call, index));
    rendezvous_.Close(meeting);
  }
}

bool Workload::InOneCohort(const GroupIndex& group) const {
  const uint32_t cohort = cohort_of_[group.RankAt(0)];
  for (int32_t position = 1; position < group.members_count(); ++position) {
    if (cohort_of_[group.RankAt(position)] != cohort) return false;
  }
  return true;
}

void Workload::AddTraffic(const std::vector<DimTraffic>& traffic) {
  for (size_t dim = 0; dim < traffic.size(); ++dim) {
    traffic_[dim].messages_count =
        SaturatingAdd(traffic_[dim].messages_count, traffic[dim].messages_count);
    traffic_[dim].bytes += traffic[dim].bytes;
  }
}

// All outcomes of one cohort from one join, equal ones together.
void Workload::ApplyTo(std::vector<Outcome>::iterator begin, std::vector<Outcome>::iterator end) {
  const uint32_t parent = begin->cohort;
  int64_t ranks_count = 0;
  for (auto it = begin; it != end; ++it) ranks_count += it->ranks_count;
  const bool all = ranks_count == static_cast<int64_t>(cohorts_[parent].ranks.size());
  if (all && begin->LikeAs(*std::prev(end))) return Conclude(parent, *begin);
  std::vector<std::vector<int32_t>> parts;
  std::vector<Outcome> of_part;
  for (auto it = begin; it != end; ++it) {
    if (of_part.empty() || !of_part.back().LikeAs(*it)) {
      parts.emplace_back();
      of_part.push_back(*it);
    }
    if (it->group == kNone) {
      parts.back().push_back(it->rank);
      continue;
    }
    const GroupIndex& index = rendezvous_.IndexOf(it->group);
    for (int32_t i = 0; i < index.members_count(); ++i) parts.back().push_back(index.RankAt(i));
  }
  for (std::vector<int32_t>& ranks : parts) std::sort(ranks.begin(), ranks.end());
  const std::vector<uint32_t> cohorts = Split(parent, std::move(parts));
  for (size_t i = 0; i < cohorts.size() && status_.ok(); ++i) Conclude(cohorts[i], of_part[i]);
}

// `outcome` is that of all ranks of the cohort.
void Workload::Conclude(uint32_t cohort, const Outcome& outcome) {
  Cohort& state = cohorts_[cohort];
  const uint16_t slot = state.plan->slot[outcome.node];
  CHECK(state.slots[slot].node == outcome.node) << Describe(outcome.rank, outcome.node);
  PushSlotEnd(cohort, slot, outcome.end_ps);
  AddBytes(&state, outcome.bytes);
  if (outcome.wait_ps == 0) return;
  const uint32_t group = GroupNamedBy(*state.trace, outcome.node);
  state.AddWait(group, outcome.last_position, outcome.wait_ps);
  if (parts_.options->critical_path) {
    state.crossings.push_back({outcome.node, group, outcome.last_position, outcome.last_node,
                               state.slots[slot].since_ps + outcome.wait_ps});
  }
}

void Workload::LogMeeting(const Meeting& meeting, bool flat) {
  const CollectiveCall& call = meeting.first_call;
  CollectiveResult result;
  result.group = call.group;
  result.number = meeting.number;
  result.type = call.type;
  result.ranks_count = meeting.members_count;
  result.bytes = call.bytes;
  result.start_ps = meeting.start_ps;
  result.all_joined_ps = meeting.all_joined_ps;
  result.end_ps = meeting.end_ps;
  result.last_rank = rendezvous_.IndexOf(call.group).RankAt(meeting.last_position);
  result.flat = flat;
  const int64_t dur_ps = meeting.end_ps - meeting.all_joined_ps;
  if (dur_ps > 0) {
    const double dur_ns = static_cast<double>(dur_ps) / static_cast<double>(kPsPerNs);
    result.algorithm_bandwidth =
        AlgorithmBytes(call.type, call.bytes, meeting.members_count) / dur_ns;
    result.bus_bandwidth = BusBytes(call.type, call.bytes, meeting.members_count) / dur_ns;
  }
  log_.Add(result);
}

}  // namespace chakrad
