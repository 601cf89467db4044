#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "common/saturating.h"
#include "trace/check/check_across.h"
#include "trace/check/check_rank.h"

namespace chakrad {
namespace {

// No member can end before each has started.
bool IsSynchronising(CollectiveType type) {
  return type == CollectiveType::kAllReduce || type == CollectiveType::kAllGather ||
         type == CollectiveType::kAllToAll || type == CollectiveType::kReduceScatter ||
         type == CollectiveType::kReduceScatterBlock || type == CollectiveType::kBarrier;
}

// How far one rank is behind another at worst.
struct Skew {
  int64_t ns = 0;
  int64_t count = 0;
  uint32_t node = 0;
  int32_t other = kNoRank;
};

}  // namespace

void CheckClocks(const std::vector<RankView>& views, const CommMatches& matches,
                 FindingList* findings) {
  for (const RankView& view : views) {
    if (view.rank->base_unix_ns == 0) return;
  }
  std::map<uint32_t, Skew> by_view;
  for (const CollectiveInstance& instance : matches.collectives) {
    if (!matches.group_agrees[instance.group]) continue;
    int64_t first_end_ns = INT64_MAX, last_start_ns = INT64_MIN;
    CommPlace first, last;
    bool timed = true;
    for (const CommPlace& place : instance.members) {
      const RankTrace& rank = *views[place.view].rank;
      timed = timed && rank.start_ns[place.node] >= 0 && rank.dur_ns[place.node] >= 0 &&
              IsSynchronising(rank.CommOf(place.node)->collective);
      const int64_t start_ns = SaturatingAdd(rank.base_unix_ns, rank.start_ns[place.node]);
      const int64_t end_ns = SaturatingAdd(start_ns, rank.dur_ns[place.node]);
      if (end_ns < first_end_ns) first_end_ns = end_ns, first = place;
      if (start_ns > last_start_ns) last_start_ns = start_ns, last = place;
    }
    const int64_t skew_ns = SaturatingSubtract(last_start_ns, first_end_ns);
    if (!timed || skew_ns <= kTimeToleranceNs) continue;
    Skew& skew = by_view[last.view];
    ++skew.count;
    if (skew_ns <= skew.ns) continue;
    skew.ns = skew_ns;
    skew.node = last.node;
    skew.other = views[first.view].rank->rank;
  }
  for (const auto& [view, skew] : by_view) {
    const RankTrace& rank = *views[view].rank;
    const Skew& worst = skew;
    findings->Add("clock_skew", rank, skew.node, [&] {
      return absl::StrCat(
          CountText(worst.count, "collective"), " of rank ", rank.rank,
          worst.count == 1 ? " starts" : " start", " after another rank has ended them; at worst ",
          NodeText(rank, worst.node), ", ", worst.ns, " ns after rank ", worst.other, "'s end");
    });
  }
}

}  // namespace chakrad
