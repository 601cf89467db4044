// Prometheus's text format for what is rendered once and served many times: escaping and
// numbers are prometheus-cpp's.
#ifndef CHAKRAD_SERVER_METRICS_TEXT_H_
#define CHAKRAD_SERVER_METRICS_TEXT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

struct GaugeSample {
  std::vector<std::pair<std::string, std::string>> labels;  // Name, value; at least one.
  double value = 0;
};

// Of each sample what follows its family's name: `{a="b",c="d"} 1.5` and a line end.
std::vector<std::string> GaugeLines(const std::vector<GaugeSample>& samples);

// "# HELP name help" and "# TYPE name gauge".
std::string GaugeHeader(absl::string_view name, absl::string_view help);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_METRICS_TEXT_H_
