#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

constexpr auto kRight = Table::Align::kRight;

std::string MeanText(double ps) { return DurationText(std::llround(ps)); }

std::string RanksText(const v1::SkewStats& skew) {
  Table table({{"rank", "", kRight},
               {"last", "times", kRight},
               {"others waited for it", "", kRight},
               {"waited", "", kRight}});
  for (const v1::RankSkew& row : skew.ranks()) {
    table.AddRow({absl::StrCat(row.rank()), CountText(row.last_count()),
                  DurationText(row.caused_wait_ps()), DurationText(row.wait_ps())});
  }
  return table.Text();
}

std::string WorstText(const v1::SkewStats& skew) {
  Table table({{"skew", "", kRight},
               {"last rank", "", kRight},
               {"first rank", "", kRight},
               {"group", ""},
               {"number", "", kRight},
               {"collective", ""},
               {"bytes", "", kRight},
               {"name", ""}});
  for (const v1::CollectiveSkew& row : skew.worst()) {
    table.AddRow({DurationText(row.skew_ps()), absl::StrCat(row.last_rank()),
                  absl::StrCat(row.first_rank()), row.group(), CountText(row.number()), row.type(),
                  BytesText(row.bytes()), row.name()});
  }
  return table.Text();
}

std::string ClocksText(const v1::SkewStats& skew) {
  Table table({{"rank", "", kRight},
               {"clock", skew.clocks_aligned() ? "added" : "not added", kRight},
               {"spread", "", kRight},
               {"matched", "", kRight}});
  for (const v1::ClockOffset& row : skew.clocks()) {
    table.AddRow({absl::StrCat(row.rank()), DurationText(row.offset_ps()),
                  DurationText(row.spread_ps()), CountText(row.matched_count())});
  }
  return table.Text();
}

}  // namespace

std::string SkewText(const v1::TimelineAnalysis& answer) {
  const v1::SkewStats& skew = answer.skew();
  const std::string clocks = skew.clocks().empty() ? "" : ClocksText(skew);
  if (skew.instances_count() == 0) return clocks;  // Messages may have told them.
  std::string text = absl::StrCat(
      CountText(skew.instances_count()), " collectives of two ranks or more: waiting for the last ",
      DurationText(skew.wait_ps()), " (", MeanText(skew.mean_wait_ps()),
      " a rank), from first to last ", MeanText(skew.mean_skew_ps()), " (at most ",
      DurationText(skew.max_skew_ps()), ")\n\n", RanksText(skew), "\n", WorstText(skew));
  if (!clocks.empty()) absl::StrAppend(&text, "\n", clocks);
  return text;
}

}  // namespace chakrad::client
