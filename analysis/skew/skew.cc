#include "analysis/skew/skew.h"

#include <algorithm>
#include <utility>

#include "common/saturating.h"

namespace chakrad {
namespace {

class Skews {
 public:
  Skews(const JobTimeline& job, const MatchedComm& matches)
      : matches_(matches), place_(matches.ranks.size(), nullptr) {
    stats_.ranks.reserve(job.ranks.size());
    for (const RankTimeline& rank : job.ranks) stats_.ranks.push_back({.rank = rank.rank});
    for (size_t i = 0; i < matches.ranks.size(); ++i) {
      const auto it =
          std::lower_bound(job.ranks.begin(), job.ranks.end(), matches.ranks[i],
                           [](const RankTimeline& one, int32_t rank) { return one.rank < rank; });
      if (it != job.ranks.end() && it->rank == matches.ranks[i]) place_[i] = &*it;
    }
    first_ = job.ranks.data();
  }

  SkewStats Run(size_t top) {
    for (uint32_t i = 0; i < matches_.collectives.size(); ++i) Add(i);
    const auto worse = [](const CollectiveSkew& a, const CollectiveSkew& b) {
      return a.skew_ps() != b.skew_ps() ? a.skew_ps() > b.skew_ps() : a.match < b.match;
    };
    const size_t kept = std::min(top, stats_.worst.size());
    std::partial_sort(stats_.worst.begin(), stats_.worst.begin() + static_cast<ptrdiff_t>(kept),
                      stats_.worst.end(), worse);
    stats_.worst.resize(kept);
    if (stats_.instances_count > 0) {
      stats_.mean_skew_ps = skew_sum_ps_ / static_cast<double>(stats_.instances_count);
    }
    if (!stats_.ranks.empty()) {
      stats_.mean_wait_ps =
          static_cast<double>(stats_.wait_ps) / static_cast<double>(stats_.ranks.size());
    }
    return std::move(stats_);
  }

 private:
  void Add(uint32_t index) {
    const CollectiveMatch& match = matches_.collectives[index];
    if (!IsSynchronising(match.type)) return;
    const CommEvent* first = nullptr;
    const CommEvent* last = nullptr;
    int64_t timed_count = 0;
    for (const uint32_t member : matches_.MembersOf(match)) {
      const CommEvent& event = matches_.events[member];
      if (!event.timed()) continue;
      ++timed_count;
      if (first == nullptr || event.start_ps < first->start_ps) first = &event;
      if (last == nullptr || event.start_ps > last->start_ps) last = &event;
    }
    if (timed_count < 2 || !IsWithin(*last)) return;
    const CollectiveSkew skew{.match = index,
                              .last_node = last->node,
                              .last_rank = matches_.ranks[last->rank_index],
                              .first_rank = matches_.ranks[first->rank_index],
                              .first_join_ps = first->start_ps,
                              .last_join_ps = last->start_ps};
    ++stats_.instances_count;
    skew_sum_ps_ += static_cast<double>(skew.skew_ps());
    stats_.max_skew_ps = std::max(stats_.max_skew_ps, skew.skew_ps());
    stats_.worst.push_back(skew);
    int64_t caused_ps = 0;
    for (const uint32_t member : matches_.MembersOf(match)) {
      const CommEvent& event = matches_.events[member];
      RankSkew* rank = RankOf(event);
      if (!event.timed() || rank == nullptr) continue;
      const int64_t wait_ps = std::min(last->start_ps, event.end_ps) - event.start_ps;
      rank->wait_ps = SaturatingAdd(rank->wait_ps, wait_ps);
      caused_ps = SaturatingAdd(caused_ps, wait_ps);
    }
    RankSkew* cause = RankOf(*last);
    ++cause->last_count;
    cause->caused_wait_ps = SaturatingAdd(cause->caused_wait_ps, caused_ps);
    stats_.wait_ps = SaturatingAdd(stats_.wait_ps, caused_ps);
  }

  bool IsWithin(const CommEvent& event) const {
    const RankTimeline* rank = place_[event.rank_index];
    return rank != nullptr && event.start_ps >= rank->start_ps && event.start_ps < rank->end_ps;
  }

  RankSkew* RankOf(const CommEvent& event) {
    const RankTimeline* rank = place_[event.rank_index];
    return rank == nullptr ? nullptr : &stats_.ranks[static_cast<size_t>(rank - first_)];
  }

  const MatchedComm& matches_;
  std::vector<const RankTimeline*> place_;  // In the job, by rank_index; null: not in it.
  const RankTimeline* first_ = nullptr;
  SkewStats stats_;
  double skew_sum_ps_ = 0;
};

}  // namespace

SkewStats ComputeSkew(const JobTimeline& job, const MatchedComm& matches, size_t top) {
  return Skews(job, matches).Run(top);
}

}  // namespace chakrad
