#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {

std::string QualityText(const v1::TimelineAnalysis& answer) {
  if (!answer.has_quality()) return "";
  const v1::QualityStats& quality = answer.quality();
  std::string text =
      absl::StrFormat("quality %.3f: %s errors, %s warnings\n", quality.quality_score(),
                      CountText(quality.errors_count()), CountText(quality.warnings_count()));
  Table table({{"part", "", Table::Align::kLeft}, {"share", "", Table::Align::kRight}});
  std::vector<std::pair<std::string, double>> parts(quality.quality_parts().begin(),
                                                    quality.quality_parts().end());
  std::sort(parts.begin(), parts.end());
  for (const auto& [name, share] : parts) table.AddRow({name, absl::StrFormat("%.3f", share)});
  table.AddRow({"periodicity of steps", absl::StrFormat("%.3f", quality.periodicity())});
  return absl::StrCat(text, table.Text());
}

}  // namespace chakrad::client
