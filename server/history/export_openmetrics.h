// All stored series as OpenMetrics text with their own times, in bounded memory.
//
// The order that Prometheus asks for (families together, in them series, in them time) is not
// that of the store (time). So the store is read several times: once to count the samples of
// each family, then once for each part that fits in memory, a few families or a share of
// a large one's series. 216,000 records with 30 samples each are 6.5 million samples: four parts.
#ifndef CHAKRAD_SERVER_HISTORY_EXPORT_OPENMETRICS_H_
#define CHAKRAD_SERVER_HISTORY_EXPORT_OPENMETRICS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/limits.h"
#include "storage/series_store.h"

namespace chakrad {

struct ExportQuery {
  int64_t from_unix_ms = std::numeric_limits<int64_t>::min();
  int64_t to_unix_ms = std::numeric_limits<int64_t>::max();  // Not included.
  std::string cluster;                                       // Empty: all; likewise below.
  std::string job;
};

// A part of the series: families [first_family, end_family), of them those whose hash falls
// into share `share` of `shares_count`. Only one family where there are several shares.
struct ExportPart {
  int first_family = 0;
  int end_family = 0;
  uint64_t share = 0;
  uint64_t shares_count = 1;
  friend bool operator==(const ExportPart&, const ExportPart&) = default;
};

// Parts of about `samples_at_once` samples at most, in the order of families; empty families are
// in none, or inside one.
std::vector<ExportPart> PlanExport(const std::vector<int64_t>& samples_by_family,
                                   int64_t samples_at_once);

struct ExportOptions {
  int64_t samples_at_once = kExportSamplesAtOnce;
  size_t piece_bytes = kPieceBytes;
};

struct ExportCounts {
  int64_t samples = 0;
  int64_t damaged_records = 0;  // Left out: the store cannot read them.
};

// Calls `write` with pieces of at most options.piece_bytes (a line is never that long), the last
// of which ends in "# EOF", until it returns false. Records that come while it runs are not in
// it; ones that are pruned meanwhile may be missing. No lock of the store is held during
// `write`. CANCELLED: `write` or `go_on` returned false. A series has a time once.
absl::StatusOr<ExportCounts> ExportOpenMetrics(
    SeriesStore* store, const ExportQuery& query, const ExportOptions& options,
    const std::function<bool()>& go_on,
    const std::function<bool(absl::string_view piece, int64_t samples_so_far)>& write);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_HISTORY_EXPORT_OPENMETRICS_H_
