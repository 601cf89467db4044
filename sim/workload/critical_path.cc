#include "sim/workload/critical_path.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/limits.h"

namespace chakrad {
namespace {

class Walker {
 public:
  Walker(const std::deque<Cohort>& cohorts, const std::vector<uint32_t>& cohort_of,
         const Cast& cast, Rendezvous* rendezvous)
      : cohorts_(cohorts), cohort_of_(cohort_of), cast_(cast), rendezvous_(rendezvous) {}

  std::vector<CriticalStep> Walk() {
    GoToLast();
    while (node_ != kNone && steps_.size() < kMaxCriticalSteps) {
      const Cohort& cohort = cohorts_[cohort_of_[rank_]];
      const int64_t start_ps = cohort.start_ps[node_];
      const int64_t end_ps = std::min(until_ps_, cohort.node_end_ps[node_]);
      if (const Crossing* crossing = CrossingOf(cohort, node_);
          crossing != nullptr && crossing->at_ps > start_ps && crossing->at_ps <= until_ps_) {
        steps_.push_back({rank_, node_, crossing->at_ps, end_ps});
        until_ps_ = crossing->at_ps;
        // The other's own node began then: go on with what that waited for.
        rank_ = crossing->group == kNone
                    ? crossing->position
                    : rendezvous_->IndexOf(cast_.GroupFor(rank_, crossing->group))
                          .RankAt(crossing->position);
        node_ = crossing->other_node;
        GoToCause(cohorts_[cohort_of_[rank_]]);
        continue;
      }
      if (end_ps > start_ps) steps_.push_back({rank_, node_, start_ps, end_ps});
      until_ps_ = start_ps;
      GoToCause(cohort);
    }
    std::reverse(steps_.begin(), steps_.end());
    return std::move(steps_);
  }

 private:
  void GoToLast() {
    rank_ = kNoRank;
    for (const Cohort& cohort : cohorts_) {
      if (cohort.trace->size() == 0) continue;
      if (rank_ != kNoRank &&
          (cohort.end_ps < until_ps_ || (cohort.end_ps == until_ps_ && cohort.ranks[0] > rank_))) {
        continue;
      }
      rank_ = cohort.ranks[0];
      until_ps_ = cohort.end_ps;
      node_ = static_cast<uint32_t>(
          std::max_element(cohort.node_end_ps.begin(), cohort.node_end_ps.end()) -
          cohort.node_end_ps.begin());
    }
  }

  const Crossing* CrossingOf(const Cohort& cohort, uint32_t node) {
    auto [it, added] = crossing_of_.try_emplace(&cohort);
    if (added) {
      for (const Crossing& crossing : cohort.crossings) it->second[crossing.node] = &crossing;
    }
    const auto found = it->second.find(node);
    return found == it->second.end() ? nullptr : found->second;
  }

  // From node_, which started at start_ps[node_], to what it waited for last.
  void GoToCause(const Cohort& cohort) {
    const uint32_t node = node_;
    node_ = kNone;
    const int64_t start_ps = cohort.start_ps[node];
    int64_t latest_ps = -1;
    for (uint32_t i = cohort.trace->dep_begin[node]; i < cohort.trace->dep_begin[node + 1]; ++i) {
      const uint32_t dep = cohort.trace->dep_node[i];
      if (cohort.node_end_ps[dep] > latest_ps) latest_ps = cohort.node_end_ps[dep], node_ = dep;
    }
    const int64_t gap_ps = cohort.graph->gap_ns.empty() ? 0 : cohort.graph->gap_ns[node] * kPsPerNs;
    if (latest_ps >= 0 && latest_ps + gap_ps >= start_ps) return;
    // It was ready before it started: its slot was taken, or the recorded order held it back.
    const uint32_t before = EndedAt(cohort, node, start_ps);
    if (before != kNone) node_ = before;
  }

  // The node that ended at `at_ps` on the slot of `node`, else kNone.
  uint32_t EndedAt(const Cohort& cohort, uint32_t node, int64_t at_ps) {
    const uint16_t slot = cohort.plan->slot[node];
    if (slot == NodePlan::kNoSlot || at_ps == 0) return kNone;
    auto [it, added] = by_end_.try_emplace(&cohort);
    if (added) {
      for (uint32_t i = 0; i < cohort.trace->size(); ++i) {
        if (cohort.plan->slot[i] == NodePlan::kNoSlot) continue;
        if (cohort.node_end_ps[i] == cohort.start_ps[i]) continue;
        it->second.push_back({cohort.plan->slot[i], cohort.node_end_ps[i], i});
      }
      std::sort(it->second.begin(), it->second.end());
    }
    const Ended key{slot, at_ps, 0};
    const auto found = std::lower_bound(it->second.begin(), it->second.end(), key);
    const bool hit = found != it->second.end() && std::get<0>(*found) == slot &&
                     std::get<1>(*found) == at_ps && std::get<2>(*found) != node;
    return hit ? std::get<2>(*found) : kNone;
  }

  using Ended = std::tuple<uint16_t, int64_t, uint32_t>;  // Slot, end, node.

  const std::deque<Cohort>& cohorts_;
  const std::vector<uint32_t>& cohort_of_;
  const Cast& cast_;
  Rendezvous* rendezvous_;
  std::vector<CriticalStep> steps_;
  std::map<const Cohort*, std::map<uint32_t, const Crossing*>> crossing_of_;
  std::map<const Cohort*, std::vector<Ended>> by_end_;
  int32_t rank_ = kNoRank;
  uint32_t node_ = kNone;
  int64_t until_ps_ = 0;
};

}  // namespace

std::vector<CriticalStep> FindCriticalPath(const std::deque<Cohort>& cohorts,
                                           const std::vector<uint32_t>& cohort_of, const Cast& cast,
                                           Rendezvous* rendezvous) {
  return Walker(cohorts, cohort_of, cast, rendezvous).Walk();
}

}  // namespace chakrad
