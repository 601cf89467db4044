#include "tests/prometheus/query_runner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace chakrad {
namespace {

constexpr auto kGiveUpAfter = std::chrono::seconds(40);

// A sample that is a number, at least.
bool HasNumbers(const std::vector<PrometheusSeries>& answer) {
  for (const PrometheusSeries& series : answer) {
    for (const PrometheusSample& sample : series.samples) {
      if (!std::isnan(sample.value)) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<PrometheusSeries>> QueryRunner::Ask(const DashboardQuery& query) const {
  const std::string expr = Interpolated(query.expr, values);
  if (!query.range) return prometheus->Query(expr);
  const int64_t now_ms = NowUnixMs();
  return prometheus->QueryRange(expr, now_ms - range_ms, now_ms, step_ms);
}

std::string QueryRunner::AskUntilAnswered(std::vector<DashboardQuery> queries) const {
  const auto give_up = std::chrono::steady_clock::now() + kGiveUpAfter;
  for (;;) {
    between_tries();
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    std::vector<DashboardQuery> empty;
    std::string words;
    for (const DashboardQuery& query : queries) {
      const auto answer = Ask(query);
      if (!answer.ok()) {
        ADD_FAILURE() << query.where << ": " << query.expr << ": " << answer.status();
        continue;
      }
      if (HasNumbers(*answer) || may_be_empty(query.expr)) continue;
      absl::StrAppend(&words, query.where, ": ", Interpolated(query.expr, values), "\n");
      empty.push_back(query);
    }
    if (empty.empty() || std::chrono::steady_clock::now() > give_up) return words;
    queries = std::move(empty);
  }
}

std::map<std::string, std::string> GrafanaValues(const std::string& interval,
                                                 const std::string& rate_interval,
                                                 const std::string& range) {
  std::map<std::string, std::string> values{
      {"__interval", interval},
      {"__rate_interval", rate_interval},
      {"__range", range},
      {"lookback", "86400"},
      {"top", "10"},
  };
  for (const char* choice :
       {"cluster", "job", "model", "rank_group", "type", "size", "variant", "instance"}) {
    values[choice] = ".*";
  }
  return values;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size(), ++count) {
    text.replace(at, from.size(), to);
  }
  CHECK(count > 0) << from << " is not in " << text;
  return text;
}

PrometheusOptions DeployedPrometheus(const std::string& config_name, const std::string& target) {
  PrometheusOptions options;
  const std::string folder = "deploy/prometheus/";
  std::string config = Replaced(ReadFileOfTest(folder + config_name), "localhost:9151", target);
  config = Replaced(config, "scrape_interval: 1m", "scrape_interval: 1s");
  config = Replaced(config, "evaluation_interval: 1m", "evaluation_interval: 1s");
  options.config = Replaced(config, "scrape_timeout: 30s", "scrape_timeout: 900ms");
  options.files["rules/recording.yml"] =
      Replaced(ReadFileOfTest(folder + "rules/recording.yml"), "interval: 5m", "interval: 1s");
  options.files["rules/alerts.yml"] = ReadFileOfTest(folder + "rules/alerts.yml");
  return options;
}

}  // namespace chakrad
