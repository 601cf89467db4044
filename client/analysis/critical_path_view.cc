#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"
#include "common/utf8.h"

namespace chakrad::client {
namespace {

using Align = Table::Align;
using Shares = google::protobuf::RepeatedPtrField<v1::PathShare>;

constexpr int kShownNames = 20;
constexpr int kShownRanks = 16;
constexpr size_t kShownNameBytes = 60;

std::string Short(const std::string& name) {
  if (name.size() <= kShownNameBytes) return name;
  return absl::StrCat(ValidUtf8(name, kShownNameBytes - 3), "...");
}

// "" for edges: what stands at the beginning, or after the last operation.
std::string SharesText(const char* heading, const Shares& shares, int shown, int64_t whole_ps) {
  Table table({{heading, "", Align::kLeft},
               {"time", "ms", Align::kRight},
               {"of path", "%", Align::kRight},
               {"steps", "", Align::kRight}});
  int listed = 0;
  for (const v1::PathShare& share : shares) {
    if (++listed > shown) break;
    table.AddRow({share.key().empty() ? "(none)" : Short(share.key()), PsAsMs(share.total_ps(), 3),
                  PercentText(share.total_ps(), whole_ps), CountText(share.count())});
  }
  std::string text = table.Text();
  if (shares.size() > shown) {
    absl::StrAppend(&text, "and ", CountText(shares.size() - shown), " more\n");
  }
  return text;
}

std::string StepsText(const v1::CriticalPath& path) {
  Table table({{"start", "ms", Align::kRight},
               {"time", "ms", Align::kRight},
               {"rank", "", Align::kRight},
               {"class", "", Align::kLeft},
               {"reached by", "", Align::kLeft},
               {"operation", "", Align::kLeft},
               {"node", "", Align::kRight}});
  for (const v1::PathStep& step : path.steps()) {
    const bool gap = step.node_class() == "gap";
    table.AddRow(
        {PsAsMs(step.start_ps() - path.start_ps(), 3), PsAsMs(step.end_ps() - step.start_ps(), 3),
         absl::StrCat(step.rank()), step.node_class(), step.edge().empty() ? "-" : step.edge(),
         absl::StrCat(gap ? "before " : "", Short(step.name())), absl::StrCat(step.node_id())});
  }
  return table.Text();
}

std::string WhatIfText(const v1::CriticalPath& path) {
  const int64_t change_ps = path.what_if_ps() - path.replayed_ps();
  return absl::StrCat(
      "what if: ", DurationText(path.what_if_ps()), " instead of ",
      DurationText(path.replayed_ps()), ", ", change_ps > 0 ? "+" : "",
      PercentText(change_ps, path.replayed_ps()), "%\n\n",
      SharesText("then bound by", path.what_if_by_class(), kShownNames, path.what_if_ps()));
}

}  // namespace

std::string CriticalPathText(const v1::CriticalPath& path) {
  const int64_t whole_ps = path.end_ps() - path.start_ps();
  std::string text = absl::StrCat(path.name(), ": critical path of ", DurationText(whole_ps), ", ",
                                  CountText(path.steps_count()), " steps\n");
  for (const std::string& notice : path.notices()) absl::StrAppend(&text, "note: ", notice, "\n");
  if (path.has_what_if_ps()) absl::StrAppend(&text, "\n", WhatIfText(path));
  absl::StrAppend(&text, "\n", SharesText("bound by", path.by_class(), kShownNames, whole_ps));
  absl::StrAppend(&text, "\n", SharesText("reached by", path.by_edge(), kShownNames, whole_ps));
  absl::StrAppend(&text, "\n", SharesText("operation", path.by_name(), kShownNames, whole_ps));
  if (path.by_rank_size() > 1) {
    absl::StrAppend(&text, "\n", SharesText("rank", path.by_rank(), kShownRanks, whole_ps));
  }
  if (path.steps_size() > 0) absl::StrAppend(&text, "\nSteps:\n", StepsText(path));
  return text;
}

}  // namespace chakrad::client
