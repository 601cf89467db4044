#include "analysis/critical_path/replay.h"

#include <algorithm>
#include <cmath>

#include "common/saturating.h"

namespace chakrad {

int64_t ScaledPs(int64_t ps, double factor) {
  if (factor == 1 || ps == 0) return ps;
  // 64 bits of mantissa on x86: every int64_t is exact.
  const long double scaled = static_cast<long double>(ps) * static_cast<long double>(factor);
  if (scaled >= 9.2e18L) return std::numeric_limits<int64_t>::max();
  if (scaled <= -9.2e18L) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(std::llround(scaled));
}

CausalReplay::CausalReplay(const CausalGraph& graph, const TimeFactors& factors)
    : graph_(graph), factors_(factors), met_ps_(graph.meetings.size(), kNoTimePs) {
  for (const RankCauses& rank : graph.ranks) {
    start_ps_.emplace_back(rank.start_ps.size(), kNoTimePs);
  }
  for (const RankMeeting& meeting : graph.meetings) {
    joins_left_.push_back(static_cast<uint32_t>(meeting.joins.size()));
  }
  Run();
  FindLast();
}

int64_t CausalReplay::AnchorPs(uint32_t rank, uint32_t node) const {
  const MeetingLink* link = graph_.ranks[rank].LinkOf(node);
  if (link == nullptr || link->waits == kNone) return start_ps_[rank][node];
  return std::max(start_ps_[rank][node], met_ps_[link->waits]);
}

int64_t CausalReplay::EndPs(uint32_t rank, uint32_t node) const {
  const RankCauses& causes = graph_.ranks[rank];
  const int64_t own_ps = SaturatingSubtract(causes.end_ps[node], causes.AnchorPs(node));
  return SaturatingAdd(AnchorPs(rank, node), ScaledPs(own_ps, factors_.Of(rank, node)));
}

int64_t CausalReplay::ArrivalPs(uint32_t rank, uint32_t cause, uint32_t node) const {
  const RankCauses& causes = graph_.ranks[rank];
  const int64_t point_ps = causes.PointPs(cause, node);
  const int64_t anchor_ps = causes.AnchorPs(cause);
  // While it waits for others it does nothing that a factor could change.
  if (point_ps <= anchor_ps) {
    return SaturatingAdd(start_ps_[rank][cause],
                         SaturatingSubtract(point_ps, causes.start_ps[cause]));
  }
  const int64_t own_ps = SaturatingSubtract(point_ps, anchor_ps);
  return SaturatingAdd(AnchorPs(rank, cause), ScaledPs(own_ps, factors_.Of(rank, cause)));
}

int64_t CausalReplay::end_ps() const {
  const int64_t tail_ps = SaturatingSubtract(graph_.end_ps, graph_.last_end_ps);
  return SaturatingAdd(last_end_ps_, ScaledPs(tail_ps, factors_.gaps));
}

uint32_t CausalReplay::Start(uint32_t rank, uint32_t node) {
  const RankCauses& causes = graph_.ranks[rank];
  int64_t ready_ps = kNoTimePs;
  uint32_t open = kNone;
  causes.ForEachCause(node, [&](uint32_t cause, PathEdge) {
    const MeetingLink* link = causes.LinkOf(cause);
    if (link != nullptr && link->waits != kNone && joins_left_[link->waits] > 0 &&
        causes.PointPs(cause, node) > link->anchor_ps) {
      open = link->waits;
      return;
    }
    ready_ps = std::max(ready_ps, ArrivalPs(rank, cause, node));
  });
  if (open != kNone) return open;
  if (causes.cause[node] == kNone) ready_ps = graph_.start_ps;
  start_ps_[rank][node] = SaturatingAdd(ready_ps, ScaledPs(causes.lag_ps[node], factors_.gaps));
  return kNone;
}

// A rank runs until it needs to know the end of a meeting that somebody has not joined yet; whoever
// joins last wakes it. In recorded time every join comes before that need, so that all get through.
void CausalReplay::Run() {
  std::vector<std::vector<uint32_t>> asleep(graph_.meetings.size());  // Ranks, by meeting.
  std::vector<uint32_t> place(graph_.ranks.size(), 0);
  std::vector<uint32_t> awake;
  for (uint32_t rank = 0; rank < graph_.ranks.size(); ++rank) awake.push_back(rank);
  while (!awake.empty()) {
    const uint32_t rank = awake.back();
    awake.pop_back();
    const RankCauses& causes = graph_.ranks[rank];
    for (uint32_t& at = place[rank]; at < causes.order.size(); ++at) {
      const uint32_t node = causes.order[at];
      const uint32_t open = Start(rank, node);
      if (open != kNone) {
        asleep[open].push_back(rank);
        break;
      }
      const MeetingLink* link = causes.LinkOf(node);
      if (link == nullptr || link->joins == kNone) continue;
      int64_t& met_ps = met_ps_[link->joins];
      met_ps = std::max(met_ps, start_ps_[rank][node]);
      if (--joins_left_[link->joins] > 0) continue;
      awake.insert(awake.end(), asleep[link->joins].begin(), asleep[link->joins].end());
      asleep[link->joins].clear();
    }
  }
}

void CausalReplay::FindLast() {
  last_end_ps_ = graph_.start_ps;
  for (uint32_t rank = 0; rank < graph_.ranks.size(); ++rank) {
    const RankCauses& causes = graph_.ranks[rank];
    for (uint32_t node = 0; node < causes.place.size(); ++node) {
      if (causes.place[node] == kNone) continue;
      const int64_t end_ps = EndPs(rank, node);
      if (last_.rank != kNone && end_ps <= last_end_ps_) continue;
      last_ = {rank, node};
      last_end_ps_ = end_ps;
    }
  }
}

}  // namespace chakrad
