#include "absl/strings/str_cat.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {

std::string MemoryText(const v1::TimelineAnalysis& answer) {
  if (answer.memory().empty()) return "";
  using Align = Table::Align;
  Table table({{"rank", "", Align::kRight},
               {"device", "", Align::kLeft},
               {"resident", "", Align::kRight},
               {"peak", "", Align::kRight},
               {"peak at", "ms", Align::kRight},
               {"at end", "", Align::kRight},
               {"changes", "listed", Align::kRight}});
  for (const v1::MemoryTimeline& use : answer.memory()) {
    const int64_t last_bytes =
        use.bytes_size() > 0 ? use.bytes(use.bytes_size() - 1) : use.resident_bytes();
    table.AddRow({absl::StrCat(use.rank()), use.device(), BytesText(use.resident_bytes()),
                  BytesText(use.peak_bytes()), PsAsMs(use.peak_at_ps(), 3), BytesText(last_bytes),
                  CountText(use.at_ps_size())});
  }
  return absl::StrCat("Memory of tensors (--output json has it over time)\n", table.Text());
}

}  // namespace chakrad::client
