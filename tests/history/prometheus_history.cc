#include "tests/history/prometheus_history.h"

#include "absl/strings/str_cat.h"
#include "analysis/metrics/metric_families.h"
#include "common/check.h"

namespace chakrad {

PrometheusOptions ReceiverOptions(const std::string& window) {
  PrometheusOptions options;
  options.config = absl::StrCat("storage:\n  tsdb:\n    out_of_order_time_window: ", window, "\n");
  options.flags = {"--web.enable-remote-write-receiver", "--storage.tsdb.retention.time=200d"};
  return options;
}

std::string WriteUrl(const PrometheusProcess& prometheus) {
  return absl::StrCat("http://", prometheus.address(), "/api/v1/write");
}

HistorySamples StoredSamples(const PrometheusProcess& prometheus, int days) {
  HistorySamples all;
  for (const MetricFamily& family : MetricFamilies()) {
    // Up to a little ahead: a test's newest sample may be of this very second.
    const auto found =
        prometheus.Query(absl::StrCat(family.name, "[", days, "d]"), NowUnixMs() + 60'000);
    CHECK(found.ok()) << found.status().ToString();
    for (const PrometheusSeries& series : *found) {
      std::string text(family.name);
      char before = '{';
      for (const auto& [name, value] : series.labels) {
        if (name == "__name__") continue;
        text += before;
        absl::StrAppend(&text, name, "=", value);
        before = ',';
      }
      text += '}';
      for (const PrometheusSample& sample : series.samples) {
        all[text][sample.time_unix_ms] = sample.value;
      }
    }
  }
  return all;
}

std::string DifferenceOf(const HistorySamples& wanted, const HistorySamples& stored) {
  std::string text;
  int differences = 0;
  const auto note = [&](const std::string& series, int64_t unix_ms, const char* what) {
    if (++differences <= 10) absl::StrAppend(&text, series, " at ", unix_ms, ": ", what, "\n");
  };
  for (const auto& [series, samples] : wanted) {
    const auto found = stored.find(series);
    for (const auto& [unix_ms, value] : samples) {
      if (found == stored.end() || found->second.count(unix_ms) == 0) {
        note(series, unix_ms, "missing");
      } else if (found->second.at(unix_ms) != value) {
        note(series, unix_ms, "another value");
      }
    }
  }
  for (const auto& [series, samples] : stored) {
    const auto found = wanted.find(series);
    for (const auto& [unix_ms, value] : samples) {
      if (found == wanted.end() || found->second.count(unix_ms) == 0) {
        note(series, unix_ms, "not asked for");
      }
    }
  }
  if (differences > 0) absl::StrAppend(&text, differences, " differences in all");
  return text;
}

}  // namespace chakrad
