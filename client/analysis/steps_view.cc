#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {

std::string StepsText(const v1::TimelineAnalysis& answer) {
  if (answer.steps().empty()) return "";
  using Align = Table::Align;
  Table table({{"step", "", Align::kRight},
               {"name", "", Align::kLeft},
               {"start", "ms", Align::kRight},
               {"ranks", "", Align::kRight},
               {"mean span", "", Align::kRight},
               {"compute", "%", Align::kRight},
               {"exposed", "%", Align::kRight},
               {"idle", "%", Align::kRight},
               {"overlap", "% of comm", Align::kRight}});
  // Of one step's answer the list stays whole, and others start before it.
  int64_t base_ps = answer.start_ps();
  for (const v1::Step& step : answer.steps()) base_ps = std::min(base_ps, step.start_ps());
  const auto percent = [](double ratio) { return absl::StrFormat("%.1f", 100 * ratio); };
  for (int i = 0; i < answer.steps_size(); ++i) {
    const v1::Step& step = answer.steps(i);
    const v1::TimeShares& shares = step.mean_shares();
    table.AddRow({absl::StrCat(i), step.name(), PsAsMs(step.start_ps() - base_ps, 3),
                  CountText(step.ranks_count()), DurationText(std::llround(step.mean_span_ps())),
                  percent(shares.compute_ratio()), percent(shares.exposed_comm_ratio()),
                  percent(shares.idle_ratio()),
                  shares.comm_ratio() > 0 ? percent(shares.overlap_ratio()) : "-"});
  }
  return absl::StrCat(
      "Steps (",
      answer.steps_source() == "profiler_step" ? "marked by the profiler" : "found by what repeats",
      ")\n", table.Text());
}

}  // namespace chakrad::client
