// A strict reader of Prometheus's text format, for tests: what it accepts, a scrape accepts.
#ifndef CHAKRAD_SERVER_SERIES_PARSE_METRICS_TEXT_H_
#define CHAKRAD_SERVER_SERIES_PARSE_METRICS_TEXT_H_

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/utf8.h"

namespace chakrad {

using MetricLabels = std::map<std::string, std::string>;
// By name and labels.
using ParsedMetrics = std::map<std::pair<std::string, MetricLabels>, double>;

// `{a="b",c="d"}` at the beginning of *text, which it consumes.
inline absl::Status ParseMetricLabels(absl::string_view* text, MetricLabels* labels) {
  absl::ConsumePrefix(text, "{");
  while (!absl::ConsumePrefix(text, "}")) {
    const size_t equals = text->find("=\"");
    if (equals == absl::string_view::npos) return absl::InvalidArgumentError("no label");
    const std::string name(text->substr(0, equals));
    text->remove_prefix(equals + 2);
    std::string value;
    for (;;) {
      if (text->empty()) return absl::InvalidArgumentError("a value does not end");
      const char c = text->front();
      text->remove_prefix(1);
      if (c == '"') break;
      if (c != '\\') {
        value += c;
        continue;
      }
      if (text->empty()) return absl::InvalidArgumentError("an escape does not end");
      const char escaped = text->front();
      text->remove_prefix(1);
      if (escaped != 'n' && escaped != '\\' && escaped != '"') {
        return absl::InvalidArgumentError(absl::StrCat("escape of ", std::string(1, escaped)));
      }
      value += escaped == 'n' ? '\n' : escaped;
    }
    if (ValidUtf8(value) != value) return absl::InvalidArgumentError("a value is not UTF-8");
    if (!labels->emplace(name, value).second) {
      return absl::InvalidArgumentError(absl::StrCat("label ", name, " stands twice"));
    }
    absl::ConsumePrefix(text, ",");
  }
  return absl::OkStatus();
}

// INVALID_ARGUMENT names the line: a sample before its TYPE or twice, families torn apart.
inline absl::StatusOr<ParsedMetrics> ParseMetricsText(absl::string_view text) {
  ParsedMetrics metrics;
  std::set<std::string> families;
  std::string family;
  if (!text.empty() && text.back() != '\n') return absl::InvalidArgumentError("no last line end");
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const auto fault = [whole = line](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": ", whole));
    };
    if (absl::ConsumePrefix(&line, "# TYPE ")) {
      family = std::string(line.substr(0, line.find(' ')));
      if (!families.insert(family).second) return fault("a family stands twice");
      continue;
    }
    if (line[0] == '#') continue;
    const size_t name_end = line.find_first_of("{ ");
    const std::string name(line.substr(0, name_end));
    if (family.empty() || name.rfind(family, 0) != 0) return fault("not of the family above");
    line.remove_prefix(name.size());
    MetricLabels labels;
    if (!line.empty() && line[0] == '{') {
      const absl::Status parsed = ParseMetricLabels(&line, &labels);
      if (!parsed.ok()) return fault(parsed.message());
    }
    double value = 0;
    if (!absl::ConsumePrefix(&line, " ") || !absl::SimpleAtod(line, &value)) {
      return fault("no number");
    }
    if (!metrics.emplace(std::pair(name, labels), value).second) return fault("stands twice");
  }
  return metrics;
}

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_SERIES_PARSE_METRICS_TEXT_H_
