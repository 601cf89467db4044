// What deploy/grafana/dashboards asks of Prometheus, as Grafana would send it.
#ifndef CHAKRAD_TESTS_PROMETHEUS_DASHBOARDS_H_
#define CHAKRAD_TESTS_PROMETHEUS_DASHBOARDS_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

struct Dashboard {
  std::string name;  // Of its file, without .json.
  nlohmann::json json;
};
// In order of name. Ends the test where a file is no JSON.
std::vector<Dashboard> LoadDashboards();

struct DashboardQuery {
  std::string where;  // "fleet / Jobs A", "fleet / variable cluster", "fleet / annotation Alerts"
  std::string expr;   // As the file has it.
  bool range = false;
};
// Of panels and annotations.
std::vector<DashboardQuery> QueriesOf(const Dashboard& dashboard);

// label_values(selector, label)
struct VariableQuery {
  std::string where;
  std::string selector;
  std::string label;
};
std::vector<VariableQuery> VariablesOf(const Dashboard& dashboard);

// `$name`, `${name}` and `${name:format}` replaced. Ends the test for a name that has no value,
// as it would reach Prometheus unreplaced.
std::string Interpolated(absl::string_view text, const std::map<std::string, std::string>& values);

// Names in a query that are series: chakrad_..., ALERTS, up and recorded ones.
std::vector<std::string> SeriesNamesIn(const std::string& expr);

// Rows of docs/metrics.md: name to labels.
std::map<std::string, std::string> DocumentedFamilies();

std::string ReadFileOfTest(const std::string& path);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_PROMETHEUS_DASHBOARDS_H_
