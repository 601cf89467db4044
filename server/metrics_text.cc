#include "server/metrics_text.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "absl/strings/str_split.h"

namespace chakrad {
namespace {

std::string Serialize(prometheus::MetricFamily family) {
  family.type = prometheus::MetricType::Gauge;
  return prometheus::TextSerializer().Serialize({std::move(family)});
}

}  // namespace

std::vector<std::string> GaugeLines(const std::vector<GaugeSample>& samples) {
  prometheus::MetricFamily family;
  family.name.assign(1, 'm');
  for (const GaugeSample& sample : samples) {
    prometheus::ClientMetric metric;
    for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
    metric.gauge.value = sample.value;
    family.metric.push_back(std::move(metric));
  }
  std::vector<std::string> lines;
  const std::string text = Serialize(std::move(family));
  // Line ends in values are escaped: a line is a sample.
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    lines.emplace_back(line.substr(1));
    lines.back() += '\n';
  }
  return lines;
}

std::string GaugeHeader(absl::string_view name, absl::string_view help) {
  prometheus::MetricFamily family;
  family.name.assign(name.data(), name.size());
  family.help.assign(help.data(), help.size());
  return Serialize(std::move(family));
}

}  // namespace chakrad
