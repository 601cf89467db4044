// What panels have to show of a trace, from the sections of `chakra analyze --output json`: sums
// and means done again here, not the section of metrics, which the daemon exports from.
#ifndef CHAKRAD_TESTS_PROMETHEUS_DASHBOARD_VALUES_H_
#define CHAKRAD_TESTS_PROMETHEUS_DASHBOARD_VALUES_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/prometheus/prometheus_process.h"

namespace chakrad {

struct LineValues {
  std::vector<std::string> labels;      // That tell the lines of a query apart.
  std::map<std::string, double> lines;  // By the values of these, joined with a blank.
};

// By DashboardQuery::where.
std::map<std::string, LineValues> ValuesOfAnalysis(const nlohmann::json& analysis);

// The same lines, no more and no fewer, each within a billionth.
void ExpectSameValues(const std::string& where, const std::vector<PrometheusSeries>& shown,
                      const LineValues& wanted);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_PROMETHEUS_DASHBOARD_VALUES_H_
