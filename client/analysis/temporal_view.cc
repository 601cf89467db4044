#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

using Align = Table::Align;

std::string RatioText(double ratio) { return absl::StrFormat("%.1f %%", 100 * ratio); }

}  // namespace

std::string TemporalText(const v1::TimelineAnalysis& answer) {
  if (answer.rank_times().empty()) return "";
  Table table({{"rank", "", Align::kRight},
               {"span", "", Align::kRight},
               {"compute", "%", Align::kRight},
               {"comm", "%", Align::kRight},
               {"exposed", "%", Align::kRight},
               {"memory*", "%", Align::kRight},
               {"idle", "%", Align::kRight},
               {"host", "%", Align::kRight},
               {"queue", "%", Align::kRight},
               {"sync", "%", Align::kRight},
               {"other", "%", Align::kRight},
               {"overlap", "% of comm", Align::kRight}});
  int64_t overlaps_count = 0;
  for (const v1::RankTime& rank : answer.rank_times()) {
    const auto share = [&rank](int64_t part_ps) { return PercentText(part_ps, rank.span_ps()); };
    table.AddRow({absl::StrCat(rank.rank()), DurationText(rank.span_ps()), share(rank.compute_ps()),
                  share(rank.comm_ps()), share(rank.exposed_comm_ps()),
                  share(rank.exposed_memory_ps()), share(rank.idle_ps()),
                  share(rank.idle_host_bound_ps()), share(rank.idle_kernel_wait_ps()),
                  share(rank.idle_sync_ps()), share(rank.idle_other_ps()),
                  PercentText(rank.comm_ps() - rank.exposed_comm_ps(), rank.comm_ps())});
    overlaps_count += rank.overlapped_intervals_count();
  }
  const v1::TimeShares& mean = answer.mean_shares();
  std::string text = absl::StrCat(
      "Where the time went (host, queue, sync, other: causes of idle; memory*: not hidden)\n",
      table.Text(), "mean: compute ", RatioText(mean.compute_ratio()), ", exposed communication ",
      RatioText(mean.exposed_comm_ratio()), " of ", RatioText(mean.comm_ratio()), ", idle ",
      RatioText(mean.idle_ratio()), "; worst exposed communication: rank ", mean.worst_rank(),
      " with ", RatioText(mean.worst_exposed_comm_ratio()), "\n");
  if (overlaps_count > 0) {
    absl::StrAppend(&text, CountText(overlaps_count),
                    " intervals overlap on one device queue: each moment counts once\n");
  }
  return text;
}

}  // namespace chakrad::client
