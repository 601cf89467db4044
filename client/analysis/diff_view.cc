#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"
#include "common/utf8.h"

namespace chakrad::client {
namespace {

using Align = Table::Align;
using Changes = google::protobuf::RepeatedPtrField<v1::OperatorChange>;

constexpr size_t kShownNameBytes = 60;

std::string Short(const std::string& name) {
  if (name.size() <= kShownNameBytes) return name;
  return absl::StrCat(ValidUtf8(name, kShownNameBytes - 3), "...");
}

std::string Ms(double ps) { return absl::StrFormat("%.3f", ps / 1e9); }
std::string SignedMs(double ps) { return absl::StrFormat("%+.3f", ps / 1e9); }
std::string Count(double count) {
  return count == std::floor(count) ? absl::StrFormat("%.0f", count)
                                    : absl::StrFormat("%.1f", count);
}
// Relative to before; "-" without any before.
std::string Change(double before, double after) {
  return before == 0 ? "-" : absl::StrFormat("%+.1f", 100 * (after - before) / before);
}

std::string ChangesText(const char* heading, const Changes& changes, int64_t count) {
  if (count == 0) return "";
  Table table({{heading, "", Align::kLeft},
               {"kind", "", Align::kLeft},
               {"before", "ms", Align::kRight},
               {"after", "ms", Align::kRight},
               {"change", "ms", Align::kRight},
               {"change", "%", Align::kRight},
               {"count", "before", Align::kRight},
               {"count", "after", Align::kRight}});
  for (const v1::OperatorChange& change : changes) {
    table.AddRow({Short(change.name()), change.kind(), Ms(change.before_total_ps()),
                  Ms(change.after_total_ps()),
                  SignedMs(change.after_total_ps() - change.before_total_ps()),
                  Change(change.before_total_ps(), change.after_total_ps()),
                  Count(change.before_count()), Count(change.after_count())});
  }
  std::string text = absl::StrCat("\n", table.Text());
  if (count > changes.size()) {
    absl::StrAppend(&text, "and ", CountText(count - changes.size()), " more\n");
  }
  return text;
}

std::string SharesText(const v1::TimelineDiff& diff) {
  const auto& before = diff.before_shares();
  const auto& after = diff.after_shares();
  Table table({{"of the span", "", Align::kLeft},
               {"before", "%", Align::kRight},
               {"after", "%", Align::kRight}});
  const auto add = [&](const char* name, double was, double is) {
    table.AddRow({name, absl::StrFormat("%.1f", 100 * was), absl::StrFormat("%.1f", 100 * is)});
  };
  add("compute", before.compute_ratio(), after.compute_ratio());
  add("communication", before.comm_ratio(), after.comm_ratio());
  add("exposed communication", before.exposed_comm_ratio(), after.exposed_comm_ratio());
  add("exposed memory copies", before.exposed_memory_ratio(), after.exposed_memory_ratio());
  add("idle", before.idle_ratio(), after.idle_ratio());
  return absl::StrCat("\n", table.Text());
}

std::string CollectivesText(const v1::TimelineDiff& diff) {
  if (diff.collectives().empty()) return "";
  Table table({{"collective", "", Align::kLeft},
               {"size", "", Align::kLeft},
               {"count", "before", Align::kRight},
               {"count", "after", Align::kRight},
               {"MiB", "before", Align::kRight},
               {"MiB", "after", Align::kRight},
               {"bus GB/s", "before", Align::kRight},
               {"bus GB/s", "after", Align::kRight}});
  for (const v1::CollectiveChange& change : diff.collectives()) {
    table.AddRow({change.type(), change.size_bucket(), Count(change.before_count()),
                  Count(change.after_count()),
                  absl::StrFormat("%.3f", change.before_bytes() / (1 << 20)),
                  absl::StrFormat("%.3f", change.after_bytes() / (1 << 20)),
                  absl::StrFormat("%.2f", change.before_bus_bandwidth_bytes_per_second() / 1e9),
                  absl::StrFormat("%.2f", change.after_bus_bandwidth_bytes_per_second() / 1e9)});
  }
  return absl::StrCat("\n", table.Text());
}

}  // namespace

std::string DiffText(const v1::TimelineDiff& diff) {
  std::string text =
      absl::StrCat(diff.before(), " -> ", diff.after(), ": ",
                   DurationText(static_cast<int64_t>(diff.before_span_ps())), " -> ",
                   DurationText(static_cast<int64_t>(diff.after_span_ps())), " (",
                   Change(diff.before_span_ps(), diff.after_span_ps()), "%), mean of ranks\n");
  for (const std::string& notice : diff.notices()) absl::StrAppend(&text, "note: ", notice, "\n");
  if (diff.has_before_shares()) absl::StrAppend(&text, SharesText(diff));
  absl::StrAppend(&text, "\noperators: ", CountText(diff.changed_count()), " changed, ",
                  CountText(diff.added_count()), " added, ", CountText(diff.removed_count()),
                  " removed, ", CountText(diff.unchanged_count()), " as before; times a rank\n");
  absl::StrAppend(&text, ChangesText("changed", diff.changed(), diff.changed_count()),
                  ChangesText("added", diff.added(), diff.added_count()),
                  ChangesText("removed", diff.removed(), diff.removed_count()),
                  CollectivesText(diff));
  return text;
}

}  // namespace chakrad::client
