// Lines of OpenMetrics text (1.0), as `promtool tsdb create-blocks-from openmetrics` takes it.
#ifndef CHAKRAD_SERVER_HISTORY_OPENMETRICS_TEXT_H_
#define CHAKRAD_SERVER_HISTORY_OPENMETRICS_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "analysis/metrics/metric_families.h"
#include "storage/series_store.h"

namespace chakrad {

// # TYPE, # UNIT where the name ends in one, # HELP.
std::string FamilyHeaderText(const MetricFamily& family);

// `name{label="value",...}`: labels by name, without empty ones; values as valid UTF-8, with
// backslash, quote and line end escaped.
std::string SeriesText(const SeriesKey& key, const MetricSample& sample);

// The shortest text that reads back as the same number, which is finite.
std::string NumberText(double value);

// Seconds: "1700000000" or "1700000000.001". Prometheus (2.42) multiplies what it reads by 1000
// and cuts it off, by which some milliseconds (none from November 2004 to 2038) would move to the
// one before: those get a fourth digit, which rounds to the same millisecond anywhere else.
std::string TimestampText(int64_t unix_ms);

inline constexpr char kOpenMetricsEnd[] = "# EOF\n";

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_HISTORY_OPENMETRICS_TEXT_H_
