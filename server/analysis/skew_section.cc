#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "analysis/clocks/clock_offsets.h"
#include "analysis/collectives/match_comm.h"
#include "analysis/skew/skew.h"
#include "chakrad/v1/analysis.pb.h"
#include "common/utf8.h"
#include "server/analysis/list_budget.h"
#include "server/analysis/notices.h"
#include "server/analysis/sections.h"
#include "server/limits.h"

namespace chakrad {
namespace {

constexpr size_t kShownNameBytes = 128;
// Its three lists share what one list may have.
constexpr size_t kSkewListBytes = kMaxAnalysisListBytes / 3;

void ToProto(const CollectiveSkew& skew, const JobTimeline& whole, const MatchedComm& matches,
             v1::CollectiveSkew* row) {
  const CollectiveMatch& match = matches.collectives[skew.match];
  row->set_group(GroupLabel(*whole.trace, match.group));
  row->set_number(match.number);
  row->set_type(std::string(CollectiveTypeName(match.type)));
  for (const uint32_t member : matches.MembersOf(match)) {
    const CommEvent& event = matches.events[member];
    if (matches.ranks[event.rank_index] != skew.last_rank) continue;
    const RankTrace& trace = *whole.ranks[event.rank_index].trace;
    row->set_name(ValidUtf8(trace.NameOf(event.node), kShownNameBytes));
  }
  row->set_bytes(match.bytes);
  row->set_last_rank(skew.last_rank);
  row->set_first_rank(skew.first_rank);
  row->set_skew_ps(skew.skew_ps());
  row->set_first_join_ps(skew.first_join_ps);
  row->set_last_join_ps(skew.last_join_ps);
}

// "skew: 3 of 7 clocks are listed", unless all are.
void NoteCut(absl::string_view what, int listed, size_t count, v1::TimelineAnalysis* answer) {
  if (static_cast<size_t>(listed) == count) return;
  AddNotices({absl::StrCat("skew: the first ", listed, " of ", count, " ", what, " are listed")},
             answer);
}

void AddRanks(const SkewStats& stats, v1::TimelineAnalysis* answer) {
  v1::SkewStats* out = answer->mutable_skew();
  ListBudget budget(kSkewListBytes);
  for (const RankSkew& rank : stats.ranks) {
    v1::RankSkew* row = out->add_ranks();
    row->set_rank(rank.rank);
    row->set_last_count(rank.last_count);
    row->set_caused_wait_ps(rank.caused_wait_ps);
    row->set_wait_ps(rank.wait_ps);
    if (!budget.KeepLast(out->mutable_ranks())) break;
  }
  NoteCut("ranks", out->ranks_size(), stats.ranks.size(), answer);
}

void AddClocks(const ClockEstimate& clocks, v1::TimelineAnalysis* answer) {
  v1::SkewStats* out = answer->mutable_skew();
  ListBudget budget(kSkewListBytes);
  for (const ClockOffset& offset : clocks.offsets) {
    v1::ClockOffset* row = out->add_clocks();
    row->set_rank(offset.rank);
    row->set_offset_ps(offset.offset_ps);
    row->set_spread_ps(offset.spread_ps);
    row->set_matched_count(offset.matched_count);
    if (!budget.KeepLast(out->mutable_clocks())) break;
  }
  NoteCut("clocks", out->clocks_size(), clocks.offsets.size(), answer);
}

}  // namespace

void FillSkew(const SectionInput& input, v1::TimelineAnalysis* answer) {
  const MatchedComm matches = MatchComm(*input.whole);
  AddNotices(matches.notices, answer);
  const SkewStats stats = ComputeSkew(*input.job, matches, input.top);
  v1::SkewStats* out = answer->mutable_skew();
  out->set_instances_count(stats.instances_count);
  out->set_wait_ps(stats.wait_ps);
  out->set_mean_wait_ps(stats.mean_wait_ps);
  out->set_max_skew_ps(stats.max_skew_ps);
  out->set_mean_skew_ps(stats.mean_skew_ps);
  AddRanks(stats, answer);
  ListBudget budget(kSkewListBytes);
  for (const CollectiveSkew& skew : stats.worst) {
    ToProto(skew, *input.whole, matches, out->add_worst());
    if (!budget.KeepLast(out->mutable_worst())) break;
  }
  NoteCut("collectives", out->worst_size(), stats.worst.size(), answer);
  if (input.clocks == nullptr || input.whole->simulated) return;
  out->set_clocks_aligned(input.clocks_aligned);
  AddClocks(*input.clocks, answer);
}

}  // namespace chakrad
