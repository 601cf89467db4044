#include "sim/collective/collective_engine.h"

#include <algorithm>
#include <bit>
#include <deque>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "sim/collective/collective_state.h"
#include "sim/collective/rooted_scripts.h"
#include "sim/engine/event_kind.h"
#include "sim/engine/semantics.h"
#include "sim/limits.h"

namespace chakrad {

absl::Status CheckAgree(const CollectiveCall& first, const CollectiveCall& call, uint32_t number,
                        absl::string_view group_name,
                        const std::function<std::string(int32_t, uint32_t)>& describe) {
  const bool same_bytes = call.bytes == first.bytes || call.type == CollectiveType::kBarrier;
  if (call.type == first.type && same_bytes && call.involved_dims == first.involved_dims &&
      call.root == first.root && call.script == first.script) {
    return absl::OkStatus();
  }
  const auto what = [](const CollectiveCall& c) {
    return absl::StrCat(CollectiveTypeName(c.type), " of ", c.bytes, " bytes",
                        c.involved_dims == UINT32_MAX
                            ? ""
                            : absl::StrCat(" on dimensions of mask ", c.involved_dims),
                        c.root == kNoRank ? "" : absl::StrCat(" with root ", c.root),
                        c.script < 0 ? "" : absl::StrCat(" by custom algorithm ", c.script));
  };
  return absl::FailedPreconditionError(
      absl::StrCat("collective ", number, " of group ", group_name,
                   ": its members disagree: ", describe(first.rank, first.node), " is ",
                   what(first), ", and ", describe(call.rank, call.node), " is ", what(call)));
}

CollectiveEngine::CollectiveEngine(const SystemDescription* system,
                                   const std::vector<ProcessGroup>* groups, EventQueue* queue,
                                   Network* network, CollectiveHost* host)
    : system_(system),
      groups_config_(groups),
      queue_(queue),
      network_(network),
      host_(host),
      npus_count_(static_cast<int32_t>(NpusCount(*system))),
      groups_(groups->size()),
      network_bytes_(npus_count_, 0) {}

CollectiveEngine::~CollectiveEngine() = default;

CollectiveEngine::Group& CollectiveEngine::GroupOf(uint32_t index) {
  if (groups_[index] == nullptr) {
    groups_[index] = std::make_unique<Group>((*groups_config_)[index].ranks, *system_, npus_count_);
  }
  return *groups_[index];
}

absl::Status CollectiveEngine::Join(const CollectiveCall& call, bool* done) {
  Group& group = GroupOf(call.group);
  const int32_t member = group.MemberOf(call.rank);
  CHECK(member >= 0) << "rank " << call.rank << " is not in group " << call.group;
  const uint32_t number = group.next_number[member]++;
  CHECK(number >= group.first_open) << number;
  uint32_t slot = 0;
  if (number - group.first_open < group.open.size()) {
    slot = group.open[number - group.first_open];
    RETURN_IF_ERROR(
        CheckAgree(collectives_[slot]->first_call, call, number, (*groups_config_)[call.group].name,
                   [this](int32_t rank, uint32_t node) { return host_->Describe(rank, node); }));
  } else {
    RETURN_IF_ERROR(Open(call, group, number, &slot));
    group.open.push_back(slot);
  }
  Collective& collective = *collectives_[slot];
  collective.nodes[member] = call.node;
  *done = collective.plan.phases.empty();
  if (*done) {
    if (++collective.members_done == collective.members_count) Close(slot);
    return absl::OkStatus();
  }
  const CollectivePlan& plan = collective.plan;
  for (int32_t lane = 0; lane < plan.lanes_count; ++lane) StartWaiting(&collective, member, lane);
  return absl::OkStatus();
}

bool CollectiveEngine::IsFlat(const CollectiveCall& call) {
  const Group& group = GroupOf(call.group);
  CollectivePlan plan;
  return Plan(call, group, &plan).ok() && plan.flat;
}

absl::Status CollectiveEngine::Plan(const CollectiveCall& call, const Group& group,
                                    CollectivePlan* plan) {
  CollectiveSpec spec{call.type, call.bytes, call.involved_dims};
  spec.script = call.script;
  if (HasRoot(call.type) && call.root != kNoRank) {
    spec.root = group.MemberOf(call.root);
    if (spec.root < 0) {
      return absl::FailedPreconditionError(absl::StrCat(host_->Describe(call.rank, call.node),
                                                        ": root: ", call.root, " is not in group ",
                                                        (*groups_config_)[call.group].name));
    }
  }
  PlanCollective(*system_, spec, group.shape, plan);
  for (CollectivePhase& phase : plan->phases) {
    if (phase.algorithm == AlgorithmKind::kScript && phase.script == nullptr) {
      phase.script = RootedScript(phase);
    }
  }
  return absl::OkStatus();
}

const CollectiveScript* CollectiveEngine::RootedScript(const CollectivePhase& phase) {
  std::unique_ptr<CollectiveScript>& script =
      scripts_[{phase.op, phase.script_shape, phase.places_count}];
  if (script == nullptr) {
    script = std::make_unique<CollectiveScript>(
        MakeRootedScript(phase.op, phase.script_shape, phase.places_count));
  }
  return script.get();
}

absl::Status CollectiveEngine::Open(const CollectiveCall& call, const Group& group, uint32_t number,
                                    uint32_t* slot) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<uint32_t>(collectives_.size()));
    collectives_.push_back(std::make_unique<Collective>());
  }
  *slot = free_slots_.back();
  Collective& collective = *collectives_[*slot];
  collective.first_call = call;
  collective.number = number;
  collective.group = &group;
  collective.members_count = group.members_count;
  collective.members_done = 0;
  RETURN_IF_ERROR(Plan(call, group, &collective.plan));
  RETURN_IF_ERROR(TakeFlows(*slot));
  free_slots_.pop_back();
  const CollectivePlan& plan = collective.plan;
  const size_t members_count = group.members_count;
  const size_t items_count = size_t{plan.phases.size()} * plan.chunks_count;
  collective.nodes.assign(members_count, kNone);
  collective.chunks_done.assign(members_count, 0);
  collective.left_ps.assign(members_count, 0);
  collective.lanes.assign(members_count * plan.lanes_count, Lane{});
  collective.order.assign(items_count * plan.lanes_count, 0);
  collective.order_count.assign(plan.lanes_count, 0);
  collective.phases_listed.assign(plan.chunks_count, 0);
  if (!plan.phases.empty()) {
    for (int32_t chunk = 0; chunk < plan.chunks_count; ++chunk) List(&collective, 0, chunk);
  }
  collective.phase_of.assign(members_count * plan.chunks_count, 0);
  return absl::OkStatus();
}

absl::Status CollectiveEngine::TakeFlows(uint32_t slot) {
  Collective& collective = *collectives_[slot];
  const CollectivePlan& plan = collective.plan;
  const int64_t members_count = collective.members_count;
  const int64_t flows_count =
      members_count * plan.chunks_count * static_cast<int64_t>(plan.phases.size());
  collective.early_words_count = 0;
  collective.words_count = 0;
  collective.phase_words.clear();
  for (const CollectivePhase& phase : plan.phases) {
    collective.phase_words.push_back(collective.words_count);
    if (phase.algorithm == AlgorithmKind::kScript) {
      collective.words_count += static_cast<size_t>(members_count / phase.places_count) *
                                plan.chunks_count * phase.script->steps.size();
    }
    if (phase.algorithm != AlgorithmKind::kDirect) continue;
    collective.early_words_count =
        std::max<size_t>(collective.early_words_count, (phase.sends_count + 63) / 64);
  }
  const int64_t early_count = flows_count * static_cast<int64_t>(collective.early_words_count);
  const int64_t words_count = static_cast<int64_t>(collective.words_count);
  if (flows_count > kMaxFlowsPerCollective ||
      static_cast<int64_t>(flows_.size()) + flows_count > kMaxFlows ||
      static_cast<int64_t>(early_.size()) + early_count > kMaxEarlyWords ||
      static_cast<int64_t>(words_.size()) + words_count > kMaxScriptSteps) {
    const CollectiveCall& call = collective.first_call;
    return absl::ResourceExhaustedError(absl::StrCat(
        host_->Describe(call.rank, call.node), ": ", flows_count, " chunks in flight (ranks ",
        members_count, " x chunks ", plan.chunks_count, " x phases ", plan.phases.size(), ") with ",
        early_count, " words for early arrivals and ", words_count,
        " steps are over a limit: ", kMaxFlowsPerCollective, " chunks a collective, ", kMaxFlows,
        " in all, ", kMaxEarlyWords, " words and ", kMaxScriptSteps, " steps in all"));
  }
  collective.flows_count = flows_count;
  if (flows_count == 0) return absl::OkStatus();
  collective.first_flow = flows_.Take(flows_count);
  if (early_count > 0) collective.first_early = early_.Take(early_count);
  if (words_count > 0) collective.first_word = words_.Take(words_count);
  size_t index = collective.first_flow;
  for (size_t phase = 0; phase < plan.phases.size(); ++phase) {
    for (int32_t chunk = 0; chunk < plan.chunks_count; ++chunk) {
      for (int32_t member = 0; member < members_count; ++member, ++index) {
        Flow& flow = flows_[index];
        flow.slot = slot;
        flow.member = member;
        flow.chunk = static_cast<uint16_t>(chunk);
        flow.phase = static_cast<uint8_t>(phase);
      }
    }
  }
  return absl::OkStatus();
}

void CollectiveEngine::Close(uint32_t slot) {
  Collective& collective = *collectives_[slot];
  if (collective.flows_count > 0) {
    flows_.GiveBack(collective.first_flow, collective.flows_count);
    const size_t words_count = collective.flows_count * collective.early_words_count;
    if (words_count > 0) early_.GiveBack(collective.first_early, words_count);
    if (collective.words_count > 0) words_.GiveBack(collective.first_word, collective.words_count);
  }
  // Collectives of a group end in any order; the list is cut at its front.
  collective.group = nullptr;
  Group& group = *groups_[collective.first_call.group];
  group.open[collective.number - group.first_open] = kNone;
  while (!group.open.empty() && group.open.front() == kNone) {
    group.open.pop_front();
    ++group.first_open;
  }
  free_slots_.push_back(slot);
}

std::vector<CollectiveWait> CollectiveEngine::Waits() const {
  std::vector<CollectiveWait> waits;
  for (const std::unique_ptr<Group>& group : groups_) {
    if (group == nullptr) continue;
    for (const uint32_t slot : group->open) {
      if (slot == kNone) continue;
      const Collective& collective = *collectives_[slot];
      CollectiveWait wait{collective.first_call.group, collective.number, {}, {}};
      for (int32_t member = 0; member < collective.members_count; ++member) {
        const int32_t rank = RankOf(collective, member);
        if (collective.nodes[member] == kNone) {
          wait.missing.push_back(rank);
        } else if (!collective.plan.phases.empty() &&
                   collective.chunks_done[member] < collective.plan.chunks_count) {
          wait.waiting.emplace_back(rank, collective.nodes[member]);
        }
      }
      waits.push_back(std::move(wait));
    }
  }
  return waits;
}

}  // namespace chakrad
