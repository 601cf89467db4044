#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

// Of a name in a table; JSON has all of it.
constexpr size_t kMaxShownChars = 60;

std::string ShownName(const std::string& name) {
  if (name.size() <= kMaxShownChars) return name;
  size_t cut = kMaxShownChars - 3;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0) == 0x80) --cut;
  return absl::StrCat(name.substr(0, cut), "...");
}

}  // namespace

std::string KernelsText(const v1::TimelineAnalysis& answer) {
  if (answer.kernels().empty()) return "";
  using Align = Table::Align;
  Table table({{"name", "", Align::kLeft},
               {"kind", "", Align::kLeft},
               {"count", "", Align::kRight},
               {"total", "", Align::kRight},
               {"share", "%", Align::kRight},
               {"mean", "", Align::kRight},
               {"stddev", "", Align::kRight},
               {"min", "", Align::kRight},
               {"max", "", Align::kRight}});
  for (const v1::KernelStats& kernel : answer.kernels()) {
    table.AddRow({ShownName(kernel.name()), kernel.kind(), CountText(kernel.count()),
                  DurationText(kernel.total_ps()), absl::StrFormat("%.1f", 100 * kernel.share()),
                  DurationText(std::llround(kernel.mean_ps())),
                  DurationText(std::llround(kernel.stddev_ps())), DurationText(kernel.min_ps()),
                  DurationText(kernel.max_ps())});
  }
  const v1::KernelTotals& totals = answer.kernel_totals();
  return absl::StrCat("Operations by name\n", table.Text(), CountText(totals.count()),
                      " operations of ", CountText(answer.kernels_count()), " names: compute ",
                      DurationText(totals.compute_ps()), ", communication ",
                      DurationText(totals.comm_ps()), ", memory ", DurationText(totals.memory_ps()),
                      "\n");
}

}  // namespace chakrad::client
