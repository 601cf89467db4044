// The dashboards over sparse series: the daemon sends each trace by remote write with its own
// time, as deploy/prometheus/prometheus.history.yml sets it up; the scrape's copies are dropped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/check.h"
#include "common/status_matchers.h"
#include "tests/prometheus/dashboard_values.h"
#include "tests/prometheus/dashboards.h"
#include "tests/prometheus/example_jobs.h"
#include "tests/prometheus/prometheus_process.h"
#include "tests/prometheus/query_runner.h"

namespace chakrad {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr char kPretrain[] =
    "{cluster=\"a\", job=\"pretrain\", model=\"transformer\", rank_group=\"all\"}";

bool MayBeEmpty(const std::string& expr) {
  return absl::StrContains(expr, "ALERTS") ||  // Nothing fires.
         absl::StrContains(expr, "chakrad_metric_samples_dropped_total") ||
         // A young store is read from memory.
         absl::StrContains(expr, "chakrad_store_engine_cache_reads_total");
}

ServerOptions WithReceiver(const PrometheusProcess& prometheus) {
  ServerOptions options;
  options.remote_write_urls = {absl::StrCat("http://", prometheus.address(), "/api/v1/write")};
  return options;
}

// Each needs the other's port: Prometheus starts without a target first.
struct World {
  World() {
    target = absl::StrCat("127.0.0.1:", server.http_port());
    prometheus.Stop();
    const PrometheusOptions with_target = DeployedPrometheus("prometheus.history.yml", target);
    std::ofstream(prometheus.folder() + "/prometheus.yml") << with_target.config;
    prometheus.Start();
    now_ms = NowUnixMs();
    jobs = UploadExampleJobs(&server, now_ms);
  }
  static PrometheusOptions Receiver() {
    PrometheusOptions options = DeployedPrometheus("prometheus.history.yml", "127.0.0.1:1");
    options.flags = {"--web.enable-remote-write-receiver"};
    return options;
  }

  PrometheusProcess prometheus{Receiver()};
  TestServer server{WithReceiver(prometheus)};
  std::string target;
  int64_t now_ms = 0;
  ExampleJobs jobs;
};

class HistoryDashboardsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = new World; }
  static void TearDownTestSuite() {
    delete world_;
    world_ = nullptr;
  }

  // 6 hours in steps of a minute.
  static QueryRunner Runner() {
    QueryRunner runner;
    runner.prometheus = &world_->prometheus;
    runner.values = GrafanaValues("1m", "4m", "6h");
    runner.range_ms = 6 * kHourMs;
    runner.step_ms = 60'000;
    runner.between_tries = [] { MakeTraffic(&world_->server, world_->jobs); };
    runner.may_be_empty = MayBeEmpty;
    return runner;
  }

  static World* world_;
};

World* HistoryDashboardsTest::world_ = nullptr;

TEST_F(HistoryDashboardsTest, NoQueryOfAPanelIsEmptyOrRefused) {
  std::vector<DashboardQuery> queries;
  for (const Dashboard& dashboard : LoadDashboards()) {
    for (DashboardQuery& query : QueriesOf(dashboard)) queries.push_back(std::move(query));
  }
  EXPECT_GT(queries.size(), 100u);
  EXPECT_EQ(Runner().AskUntilAnswered(queries), "");
}

// Five traces, five samples: a scrape brings none of them a second time.
TEST_F(HistoryDashboardsTest, EachTraceIsOneSampleAtItsOwnTime) {
  const DashboardQuery all{
      "all", absl::StrCat("count_over_time(chakrad_trace_span_seconds", kPretrain, "[1d]) >= 5"),
      false};
  EXPECT_EQ(Runner().AskUntilAnswered({all}), "");
  const auto samples = world_->prometheus.Query(
      absl::StrCat("chakrad_trace_end_timestamp_seconds", kPretrain, "[1d]"));
  ASSERT_THAT(samples, IsOk());
  ASSERT_EQ(samples->size(), 1u);
  ASSERT_EQ((*samples)[0].samples.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    const PrometheusSample& sample = (*samples)[0].samples[i];
    // It is an hour's run that began then, and took less than a minute.
    const int64_t begun_ms = world_->now_ms - static_cast<int64_t>(5 - i) * kHourMs;
    EXPECT_GE(sample.time_unix_ms, begun_ms);
    EXPECT_LT(sample.time_unix_ms, begun_ms + 60'000);
    // The sample's own is of ranks whose clocks were aligned.
    EXPECT_NEAR(sample.value, static_cast<double>(sample.time_unix_ms) / 1000, 0.005);
  }
}

// A point of a line stands at the end of its step: its link must lead to the trace in the step,
// not to the next one.
TEST_F(HistoryDashboardsTest, APointLeadsToTheTraceOfItsStep) {
  const auto points = world_->prometheus.QueryRange(
      absl::StrCat("last_over_time(chakrad_trace_step_seconds", kPretrain, "[50m])"),
      world_->now_ms - 6 * kHourMs, world_->now_ms, 50 * 60'000);
  ASSERT_THAT(points, IsOk());
  ASSERT_EQ(points->size(), 1u);
  size_t found = 0;
  for (const PrometheusSample& point : (*points)[0].samples) {
    const std::string page = world_->server.HttpGet(
        absl::StrCat("/trace?cluster=a&job=pretrain&model=transformer&rank_group=all&time=",
                     point.time_unix_ms));
    // The newest that had begun at the point's time.
    int64_t hours = 5;
    while (hours > 1 && world_->now_ms - (hours - 1) * kHourMs < point.time_unix_ms) --hours;
    const std::string& trace = world_->jobs.pretrain.traces[static_cast<size_t>(5 - hours)];
    EXPECT_TRUE(absl::StrContains(page, trace))
        << point.time_unix_ms << ": " << page.substr(0, 800);
    ++found;
  }
  EXPECT_GE(found, 4u);
}

TEST_F(HistoryDashboardsTest, ValuesAreThoseOfAnalyzeForOlderTracesToo) {
  const std::string& trace = world_->jobs.pretrain.traces[2];
  const int64_t then_ms = world_->now_ms - 3 * kHourMs + 60'000;
  const auto all = ValuesOfAnalysis(Analysis(world_->server, trace));
  std::map<std::string, std::string> values = Runner().values;
  for (const auto& [label, value] : world_->jobs.pretrain.labels) values[label] = value;
  int compared = 0;
  for (const Dashboard& dashboard : LoadDashboards()) {
    for (const DashboardQuery& query : QueriesOf(dashboard)) {
      const auto wanted = all.find(query.where);
      if (wanted == all.end()) continue;
      values["__interval"] = "2m";
      const auto shown = world_->prometheus.Query(Interpolated(query.expr, values), then_ms);
      ASSERT_THAT(shown, IsOk()) << query.where;
      ExpectSameValues(query.where, *shown, wanted->second);
      ++compared;
    }
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace chakrad
