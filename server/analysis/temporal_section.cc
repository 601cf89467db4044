#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/breakdown/time_breakdown.h"
#include "chakrad/v1/analysis.pb.h"
#include "server/analysis/list_budget.h"
#include "server/analysis/notices.h"
#include "server/analysis/sections.h"
#include "server/analysis/shares_to_proto.h"

namespace chakrad {
namespace {

void ToProto(const TimeBreakdown& rank, v1::RankTime* proto) {
  proto->set_rank(rank.rank);
  proto->set_start_ps(rank.start_ps);
  proto->set_span_ps(rank.span_ps);
  proto->set_compute_ps(rank.compute_ps);
  proto->set_comm_ps(rank.comm_ps);
  proto->set_exposed_comm_ps(rank.exposed_comm_ps);
  proto->set_memory_ps(rank.memory_ps);
  proto->set_exposed_memory_ps(rank.exposed_memory_ps);
  proto->set_idle_ps(rank.idle_ps);
  proto->set_idle_host_bound_ps(rank.idle_host_bound_ps);
  proto->set_idle_kernel_wait_ps(rank.idle_kernel_wait_ps);
  proto->set_idle_sync_ps(rank.idle_sync_ps);
  proto->set_idle_other_ps(rank.idle_other_ps);
  proto->set_overlap_ratio(rank.overlap_ratio());
  proto->set_overlapped_intervals_count(rank.overlapped_intervals_count);
}

}  // namespace

void FillTemporal(const SectionInput& input, v1::TimelineAnalysis* answer) {
  const std::vector<TimeBreakdown> ranks = BreakDownTime(*input.job);
  ListBudget budget;
  for (const TimeBreakdown& rank : ranks) {
    ToProto(rank, answer->add_rank_times());
    if (!budget.KeepLast(answer->mutable_rank_times())) break;
  }
  if (static_cast<size_t>(answer->rank_times_size()) < ranks.size()) {
    AddNotices({absl::StrCat("temporal: the first ", answer->rank_times_size(), " of ",
                             ranks.size(), " ranks are listed; means are over all")},
               answer);
  }
  ToProto(MeanShares(ranks), answer->mutable_mean_shares());
}

}  // namespace chakrad
