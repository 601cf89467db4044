#include "storage/retention_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/saturating.h"
#include "storage/quantity_text.h"

namespace chakrad {
namespace {

constexpr int64_t kDayNs = int64_t{24} * 3600 * 1'000'000'000;

// The day (UTC) of a time, counted from 1970.
int64_t DayOf(int64_t unix_ns) {
  return unix_ns >= 0 ? unix_ns / kDayNs : (unix_ns + 1) / kDayNs - 1;
}

// Cards of one policy with equal values of the labels it groups by.
struct Group {
  std::vector<uint32_t> members;  // Indices of cards, newest first; no damaged ones.
  std::string of;                 // " of job=llama"; "" when there is one group only.
};

std::vector<Group> GroupsOf(const RetentionPolicy& policy, const TraceCards& cards) {
  std::map<std::vector<absl::string_view>, Group> groups;
  for (uint32_t i = 0; i < cards.size(); ++i) {
    const TraceCard& card = *cards[i];
    if (card.damaged || !policy.filter.Matches(card)) continue;
    std::vector<absl::string_view> values;
    for (const std::string& label : policy.group_by) {
      const auto it = card.labels.find(label);
      values.push_back(it == card.labels.end() ? absl::string_view() : it->second);
    }
    groups[std::move(values)].members.push_back(i);
  }
  std::vector<Group> all;
  for (auto& [values, group] : groups) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < values.size(); ++i) {
      parts.push_back(absl::StrCat(policy.group_by[i], "=", values[i]));
    }
    if (!parts.empty()) group.of = absl::StrCat(" of ", absl::StrJoin(parts, ", "));
    all.push_back(std::move(group));
  }
  return all;
}

// What a policy's rules say of one trace of a group.
struct Verdict {
  std::string kept_because;  // Empty: no rule keeps it.
  bool held = false;         // Only its age, by a trusted time, keeps it.
  bool over_bytes = false;   // Kept by a rule, and dropped by max_bytes.
};

class Planner {
 public:
  Planner(const TraceCards& cards, const RetentionTime& time, const ChooseRepresentativesFn& choose)
      : cards_(cards), choose_(choose), states_(cards.size()) {
    plan_.now_unix_ns = time.clock_unix_ns;
    absl::string_view newest;
    for (const auto& card : cards) {
      if (card->create_unix_ns <= plan_.now_unix_ns) continue;
      plan_.now_unix_ns = card->create_unix_ns;
      newest = card->id;
    }
    trusted_now_ns_ = plan_.now_unix_ns;
    if (time.trusted_unix_ns.has_value() &&
        *time.trusted_unix_ns < SaturatingSubtract(plan_.now_unix_ns, kMaxRetentionStepNs)) {
      trusted_now_ns_ = *time.trusted_unix_ns;
      plan_.held_because = absl::StrCat(
          newest.empty() ? std::string("the clock")
                         : absl::StrCat("the creation time of trace ", newest),
          " says ", TimeText(plan_.now_unix_ns), ", the last time that is trusted is ",
          TimeText(trusted_now_ns_), ", more than ", DurationText(kMaxRetentionStepNs), " before");
    }
  }

  void Apply(const RetentionPolicy& policy) {
    for (const Group& group : GroupsOf(policy, cards_)) {
      std::vector<Verdict> verdicts = Judge(policy, group);
      BoundBytes(policy, group, &verdicts);
      for (size_t i = 0; i < group.members.size(); ++i) {
        Note(policy, group, verdicts[i], &states_[group.members[i]]);
      }
    }
  }

  // After all policies with keep rules, in the order of the quotas.
  void ApplyQuota(const RetentionPolicy& policy) {
    for (const Group& group : GroupsOf(policy, cards_)) {
      std::vector<Verdict> verdicts(group.members.size());
      for (size_t i = 0; i < group.members.size(); ++i) {
        if (Stays(group.members[i])) verdicts[i].kept_because = "it is within";
      }
      BoundBytes(policy, group, &verdicts);
      for (size_t i = 0; i < group.members.size(); ++i) {
        State& state = states_[group.members[i]];
        const std::string quota = absl::StrCat(SizeText(policy.max_bytes), group.of);
        if (verdicts[i].over_bytes) {
          state.dropped_because = absl::StrCat("policy ", policy.name, ": over ", quota);
        } else if (!state.covered) {
          state.kept_because = absl::StrCat("policy ", policy.name, ": within ", quota);
        }
      }
    }
  }

  RetentionPlan Finish() {
    plan_.decisions.reserve(cards_.size());
    for (uint32_t i = 0; i < cards_.size(); ++i) plan_.decisions.push_back(Decide(i));
    return std::move(plan_);
  }

 private:
  struct State {
    bool covered = false;         // By a policy with keep rules.
    bool held = false;            // Every policy that keeps it only holds it.
    std::string kept_because;     // By the first policy that keeps it.
    std::string lost_because;     // By the policies that do not.
    std::string dropped_because;  // By a quota, whatever keeps it.
  };

  bool Stays(uint32_t card) const {
    const State& state = states_[card];
    return cards_[card]->pinned ||
           (state.dropped_because.empty() && (!state.covered || !state.kept_because.empty()));
  }

  std::vector<Verdict> Judge(const RetentionPolicy& policy, const Group& group) const {
    std::vector<Verdict> verdicts(group.members.size());
    const auto keep = [&verdicts](size_t member, auto... why) {
      if (verdicts[member].kept_because.empty()) {
        verdicts[member].kept_because = absl::StrCat(why...);
      }
    };
    int64_t last_day = 0;
    for (size_t i = 0; i < group.members.size(); ++i) {
      const TraceCard& card = *cards_[group.members[i]];
      if (static_cast<int64_t>(i) < policy.keep_newest) {
        keep(i, "among the newest ", policy.keep_newest, group.of);
      }
      const int64_t day = DayOf(card.create_unix_ns);
      if (policy.keep_one_a_day && (i == 0 || day != last_day)) {
        keep(i, "the newest of ", TimeText(day * kDayNs).substr(0, 10), group.of);
      }
      last_day = day;
      if (policy.keep_for_ns > 0 && IsYounger(card, policy.keep_for_ns, plan_.now_unix_ns)) {
        keep(i, "younger than ", DurationText(policy.keep_for_ns));
      }
    }
    KeepRepresentatives(policy, group, keep);
    for (size_t i = 0; i < group.members.size(); ++i) {
      Verdict& verdict = verdicts[i];
      if (!verdict.kept_because.empty() || policy.keep_for_ns == 0) continue;
      if (!IsYounger(*cards_[group.members[i]], policy.keep_for_ns, trusted_now_ns_)) continue;
      verdict.held = true;
      verdict.kept_because = absl::StrCat("held: older than ", DurationText(policy.keep_for_ns),
                                          " only by a time that is not trusted");
    }
    return verdicts;
  }

  template <typename Keep>
  void KeepRepresentatives(const RetentionPolicy& policy, const Group& group,
                           const Keep& keep) const {
    if (policy.keep_representative == 0) return;
    std::vector<size_t> with_breakdown;
    std::vector<TraceBreakdown> points;
    for (size_t i = 0; i < group.members.size(); ++i) {
      const TraceCard& card = *cards_[group.members[i]];
      if (!card.breakdown.has_value()) {
        // Stored before breakdowns were: what it would stand for is not known.
        if (card.span_ns > 0) keep(i, "its breakdown is not known");
        continue;
      }
      with_breakdown.push_back(i);
      points.push_back(*card.breakdown);
    }
    for (const size_t chosen : choose_(points, static_cast<size_t>(policy.keep_representative))) {
      keep(with_breakdown[chosen], "one of ", policy.keep_representative, " that represent",
           group.of.empty() ? std::string(" all") : group.of.substr(3));
    }
  }

  static bool IsYounger(const TraceCard& card, int64_t than_ns, int64_t now_ns) {
    return SaturatingSubtract(now_ns, than_ns) < card.create_unix_ns;
  }

  // Of what is kept, the oldest go until the rest has at most max_bytes. Pinned traces
  // cannot go, so their bytes count first.
  void BoundBytes(const RetentionPolicy& policy, const Group& group,
                  std::vector<Verdict>* verdicts) const {
    if (policy.max_bytes == 0) return;
    int64_t bytes = 0;
    for (const uint32_t member : group.members) {
      if (cards_[member]->pinned) bytes = SumOf(bytes, *cards_[member]);
    }
    bool is_over = false;
    for (size_t i = 0; i < group.members.size(); ++i) {
      const TraceCard& card = *cards_[group.members[i]];
      if (card.pinned || (*verdicts)[i].kept_because.empty()) continue;
      bytes = SumOf(bytes, card);
      is_over = is_over || bytes > policy.max_bytes;
      (*verdicts)[i].over_bytes = is_over;
    }
  }
  static int64_t SumOf(int64_t bytes, const TraceCard& card) {
    return SaturatingAdd(bytes, std::max<int64_t>(card.stored_bytes, 0));
  }

  static void Note(const RetentionPolicy& policy, const Group& group, const Verdict& verdict,
                   State* state) {
    const bool is_kept = !verdict.kept_because.empty() && !verdict.over_bytes;
    if (is_kept) {
      if (state->kept_because.empty() || (state->held && !verdict.held)) {
        state->kept_because = absl::StrCat("policy ", policy.name, ": ", verdict.kept_because);
        state->held = verdict.held;
      }
    } else if (state->kept_because.empty()) {
      absl::StrAppend(&state->lost_because, state->lost_because.empty() ? "" : "; ", "policy ",
                      policy.name, ": ", WhyNot(policy, group, verdict));
    }
    state->covered = true;
  }

  static std::string WhyNot(const RetentionPolicy& policy, const Group& group,
                            const Verdict& verdict) {
    if (verdict.over_bytes) return absl::StrCat("over ", SizeText(policy.max_bytes), group.of);
    std::vector<std::string> why;
    if (policy.keep_newest > 0) {
      why.push_back(absl::StrCat("not among the newest ", policy.keep_newest));
    }
    if (policy.keep_for_ns > 0) {
      why.push_back(absl::StrCat("older than ", DurationText(policy.keep_for_ns)));
    }
    if (policy.keep_one_a_day) why.push_back("not the newest of its day");
    if (policy.keep_representative > 0) {
      why.push_back(
          absl::StrCat("not one of the ", policy.keep_representative, " that represent best"));
    }
    return absl::StrCat(absl::StrJoin(why, ", "), group.of);
  }

  RetentionDecision Decide(uint32_t index) {
    State& state = states_[index];
    RetentionDecision decision;
    decision.card = cards_[index];
    if (decision.card->damaged) {
      decision.reason = "damaged: stays until somebody has looked at it";
    } else if (decision.card->pinned) {
      decision.reason = "pinned";
    } else if (!state.dropped_because.empty()) {
      decision.goes = true;
      decision.reason = std::move(state.dropped_because);
    } else if (!state.kept_because.empty()) {
      decision.held = state.held;
      decision.reason = std::move(state.kept_because);
      if (decision.held) absl::StrAppend(&decision.reason, ": ", plan_.held_because);
    } else if (state.covered) {
      decision.goes = true;
      decision.reason = std::move(state.lost_because);
    } else {
      decision.reason = "no policy's filter holds for it";
    }
    if (decision.held) ++plan_.held_count;
    return decision;
  }

  const TraceCards& cards_;
  const ChooseRepresentativesFn& choose_;
  int64_t trusted_now_ns_ = 0;
  std::vector<State> states_;
  RetentionPlan plan_;
};

}  // namespace

RetentionPlan PlanRetention(const std::vector<RetentionPolicy>& policies, const TraceCards& cards,
                            const RetentionTime& time, const ChooseRepresentativesFn& choose) {
  Planner planner(cards, time, choose);
  for (const RetentionPolicy& policy : policies) {
    if (policy.has_keep_rule()) planner.Apply(policy);
  }
  for (const RetentionPolicy& policy : policies) {
    if (!policy.has_keep_rule() && policy.max_bytes > 0) planner.ApplyQuota(policy);
  }
  return planner.Finish();
}

}  // namespace chakrad
