#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {

std::string LaunchesText(const v1::TimelineAnalysis& answer) {
  if (answer.launches().empty()) return "";
  using Align = Table::Align;
  Table table({{"rank", "", Align::kRight},
               {"launches", "", Align::kRight},
               {"without", "", Align::kRight},
               {"median", "delay", Align::kRight},
               {"mean", "delay", Align::kRight},
               {"p99", "delay", Align::kRight},
               {"max", "delay", Align::kRight},
               {"below 0", "", Align::kRight},
               {"queue", "longest on average", Align::kLeft},
               {"mean", "length", Align::kRight},
               {"max", "length", Align::kRight}});
  for (const v1::LaunchStats& rank : answer.launches()) {
    const bool any = rank.launches_count() > 0, queued = rank.queues_size() > 0;
    const auto delay = [any](int64_t ps) { return any ? DurationText(ps) : std::string("-"); };
    table.AddRow({absl::StrCat(rank.rank()), CountText(rank.launches_count()),
                  CountText(rank.without_launch_count()), delay(rank.median_delay_ps()),
                  delay(std::llround(rank.mean_delay_ps())), delay(rank.p99_delay_ps()),
                  delay(rank.max_delay_ps()), CountText(rank.negative_delays_count()),
                  queued ? rank.queues(0).queue() : "-",
                  queued ? absl::StrFormat("%.1f", rank.queues(0).mean_length()) : "-",
                  queued ? CountText(rank.queues(0).max_length()) : "-"});
  }
  return absl::StrCat("From launch to start, and device queues\n", table.Text());
}

}  // namespace chakrad::client
