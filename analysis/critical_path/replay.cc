#include "analysis/critical_path/replay.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

#include "common/saturating.h"

namespace chakrad {

int64_t ScaledPs(int64_t ps, double factor) {
  if (factor == 1) return ps;
  // 64 bits of mantissa on x86: every int64_t is exact.
  const long double scaled = static_cast<long double>(ps) * static_cast<long double>(factor);
  if (scaled >= 9.2e18L) return std::numeric_limits<int64_t>::max();
  if (scaled <= -9.2e18L) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(std::llround(scaled));
}

Replay::Replay(const CausalGraph& graph, const TimeFactors& factors)
    : graph_(graph), factors_(factors), met_ps_(graph.meetings.size(), kNoTimePs) {
  for (const RankCauses& rank : graph.ranks) {
    start_ps_.emplace_back(rank.start_ps.size(), kNoTimePs);
  }
  Run();
  FindLast();
}

int64_t Replay::AnchorPs(uint32_t rank, uint32_t node) const {
  const MeetingLink* link = graph_.ranks[rank].LinkOf(node);
  if (link == nullptr || link->waits == kNone) return start_ps_[rank][node];
  return std::max(start_ps_[rank][node], met_ps_[link->waits]);
}

int64_t Replay::EndPs(uint32_t rank, uint32_t node) const {
  const RankCauses& causes = graph_.ranks[rank];
  const int64_t own_ps = SaturatingSubtract(causes.end_ps[node], causes.AnchorPs(node));
  return SaturatingAdd(AnchorPs(rank, node), ScaledPs(own_ps, factors_.Of(rank, node)));
}

int64_t Replay::ArrivalPs(uint32_t rank, uint32_t cause, uint32_t node) const {
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

int64_t Replay::end_ps() const {
  const int64_t tail_ps = SaturatingSubtract(graph_.end_ps, graph_.last_end_ps);
  return SaturatingAdd(last_end_ps_, ScaledPs(tail_ps, factors_.gaps));
}

void Replay::Start(uint32_t rank, uint32_t node) {
  const RankCauses& causes = graph_.ranks[rank];
  int64_t ready_ps = kNoTimePs;
  causes.ForEachCause(node, [&](uint32_t cause, PathEdge) {
    ready_ps = std::max(ready_ps, ArrivalPs(rank, cause, node));
  });
  if (causes.cause[node] == kNone) ready_ps = graph_.start_ps;
  const int64_t start_ps = SaturatingAdd(ready_ps, ScaledPs(causes.lag_ps[node], factors_.gaps));
  start_ps_[rank][node] = start_ps;
  const MeetingLink* link = causes.LinkOf(node);
  if (link == nullptr || link->joins == kNone) return;
  met_ps_[link->joins] = std::max(met_ps_[link->joins], start_ps);
}

// In order of recorded starts over all ranks: whatever had ended before a node started then, has
// been looked at when it is; so have all who joined what had ended.
void Replay::Run() {
  using Next = std::tuple<int64_t, uint32_t, uint32_t>;  // Recorded start, rank, place.
  std::priority_queue<Next, std::vector<Next>, std::greater<Next>> next;
  for (uint32_t rank = 0; rank < graph_.ranks.size(); ++rank) {
    const RankCauses& causes = graph_.ranks[rank];
    if (!causes.order.empty()) next.emplace(causes.start_ps[causes.order[0]], rank, 0);
  }
  while (!next.empty()) {
    const auto [at_ps, rank, from] = next.top();
    next.pop();
    const RankCauses& causes = graph_.ranks[rank];
    uint32_t place = from;
    for (; place < causes.order.size(); ++place) {
      const uint32_t node = causes.order[place];
      const int64_t start_ps = causes.start_ps[node];
      if (place > from && !next.empty() && start_ps > std::get<0>(next.top())) {
        next.emplace(start_ps, rank, place);
        break;
      }
      Start(rank, node);
    }
  }
}

void Replay::FindLast() {
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
