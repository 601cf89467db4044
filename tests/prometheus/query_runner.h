// Asks a Prometheus what dashboards and rules ask, until there are answers.
#ifndef CHAKRAD_TESTS_PROMETHEUS_QUERY_RUNNER_H_
#define CHAKRAD_TESTS_PROMETHEUS_QUERY_RUNNER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/prometheus/dashboards.h"
#include "tests/prometheus/prometheus_process.h"

namespace chakrad {

struct QueryRunner {
  const PrometheusProcess* prometheus = nullptr;
  std::map<std::string, std::string> values;  // Of variables and macros.
  int64_t range_ms = 600'000;                 // Until now.
  int64_t step_ms = 5'000;
  std::function<void()> between_tries = [] {};
  // Queries that are rightly empty.
  std::function<bool(const std::string& expr)> may_be_empty;

  absl::StatusOr<std::vector<PrometheusSeries>> Ask(const DashboardQuery& query) const;
  // Asks them until each has a number in its answer, for at most 40 s; a refused query fails the
  // test. One line each that stays empty, but for those that may.
  std::string AskUntilAnswered(std::vector<DashboardQuery> queries) const;
};

// What Grafana would put in: "All" of every choice, a step and a range of these lengths.
std::map<std::string, std::string> GrafanaValues(const std::string& interval,
                                                 const std::string& rate_interval,
                                                 const std::string& range);

// A file of deploy/prometheus, with the daemon at `target` and everything done each second.
PrometheusOptions DeployedPrometheus(const std::string& config_name, const std::string& target);

// CHECKs that `from` is there.
std::string Replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_PROMETHEUS_QUERY_RUNNER_H_
