#include <string>

#include "absl/strings/str_cat.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

constexpr auto kRight = Table::Align::kRight;

std::string ParallelismText(const v1::TimelineAnalysis& answer) {
  Table table({{"parallelism", "(guessed)"},
               {"groups", "", kRight},
               {"operations", "", kRight},
               {"bytes", "", kRight},
               {"communication", "", kRight},
               {"exposed", "", kRight}});
  for (const v1::ParallelismTime& row : answer.parallelism()) {
    table.AddRow({row.parallelism(), CountText(row.groups_count()), CountText(row.count()),
                  BytesText(row.bytes()), DurationText(row.comm_ps()),
                  DurationText(row.exposed_ps())});
  }
  return table.Text();
}

}  // namespace

std::string GroupsText(const v1::TimelineAnalysis& answer) {
  if (answer.groups().empty()) return "";
  Table table({{"group", ""},
               {"shape", ""},
               {"operations", "", kRight},
               {"bytes", "", kRight},
               {"communication", "", kRight},
               {"exposed", "", kRight},
               {"guess", ""},
               {"because", ""}});
  for (const v1::GroupStats& row : answer.groups()) {
    table.AddRow({row.group(), row.shape(), CountText(row.count()), BytesText(row.bytes()),
                  DurationText(row.comm_ps()), DurationText(row.exposed_ps()), row.parallelism(),
                  row.reason()});
  }
  std::string text = table.Text();
  if (answer.groups_count() > answer.groups_size()) {
    absl::StrAppend(&text, "... of ", CountText(answer.groups_count()), " groups\n");
  }
  return absl::StrCat(text, "\n", ParallelismText(answer));
}

}  // namespace chakrad::client
