#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/analysis/views.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

// "le_64KiB" as "<= 64 KiB"; another one as it is.
std::string BucketText(const std::string& bucket) {
  absl::string_view rest = bucket;
  std::string relation;
  if (absl::ConsumePrefix(&rest, "le_")) {
    relation = "<= ";
  } else if (absl::ConsumePrefix(&rest, "gt_")) {
    relation = "> ";
  } else {
    return bucket;
  }
  const size_t unit = rest.find_first_not_of("0123456789");
  if (unit == absl::string_view::npos || unit == 0) return bucket;
  return absl::StrCat(relation, rest.substr(0, unit), " ", rest.substr(unit));
}

// Bytes a second, in the GB/s of nccl-tests; "-" where none could be told.
std::string BandwidthText(double bytes_per_second) {
  return bytes_per_second > 0 ? absl::StrFormat("%.3f", bytes_per_second / 1e9) : "-";
}

}  // namespace

std::string CollectivesText(const v1::TimelineAnalysis& answer) {
  if (answer.collectives().empty()) return "";
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"communication", ""},
               {"size", ""},
               {"count", "", kRight},
               {"instances", "", kRight},
               {"bytes", "", kRight},
               {"total", "", kRight},
               {"exposed", "%", kRight},
               {"min", "", kRight},
               {"median", "", kRight},
               {"max", "", kRight},
               {"algorithm", "GB/s", kRight},
               {"bus", "GB/s", kRight}});
  for (const v1::CollectiveStats& row : answer.collectives()) {
    table.AddRow({row.type(), BucketText(row.size_bucket()), CountText(row.count()),
                  CountText(row.instances_count()), BytesText(row.bytes()),
                  DurationText(row.total_ps()), PercentText(row.exposed_ps(), row.total_ps()),
                  DurationText(row.min_ps()), DurationText(row.median_ps()),
                  DurationText(row.max_ps()),
                  BandwidthText(row.algorithm_bandwidth_bytes_per_second()),
                  BandwidthText(row.bus_bandwidth_bytes_per_second())});
  }
  return table.Text();
}

}  // namespace chakrad::client
