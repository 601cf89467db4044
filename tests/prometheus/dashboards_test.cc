// Every query of every dashboard and rule, asked of a real Prometheus that scrapes a real daemon
// with the configuration of deploy/prometheus; and what the job's dashboard shows is what
// `chakra analyze` says.
#include "tests/prometheus/dashboards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <regex>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_matchers.h"
#include "tests/prometheus/dashboard_values.h"
#include "tests/prometheus/example_jobs.h"
#include "tests/prometheus/prometheus_process.h"
#include "tests/prometheus/query_runner.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

// Rightly empty of a daemon that is well, has no receivers, and was scraped for some seconds.
bool MayBeEmpty(const std::string& expr) {
  static const auto* const allowed = new std::map<std::string, const char*>{
      {"ALERTS", "nothing fires; rules_test sees each alert fire"},
      {"median7d", "one value a full hour; history_dashboards_test has them"},
      {"chakrad_metric_samples_dropped_total", "no trace has more than 64 samples of a family"},
      {"chakrad_store_engine_cache_reads_total", "a young store is read from memory"},
      {"chakrad_remote_write_", "history_dashboards_test has a receiver"},
      // In rules; only of a daemon that is broken.
      {"code=~\"INTERNAL|DATA_LOSS|UNKNOWN\"", "rules_test sees the alert fire"},
      {"chakrad_retention_runs_total{outcome=\"failed\"}", "rules_test sees the alert fire"},
  };
  for (const auto& [part, why] : *allowed) {
    if (absl::StrContains(expr, part)) return true;
  }
  return false;
}

struct World {
  TestServer server;
  ExampleJobs jobs = UploadExampleJobs(&server, NowUnixMs());
  std::string target = absl::StrCat("127.0.0.1:", server.http_port());
  PrometheusProcess prometheus{DeployedPrometheus("prometheus.yml", target)};
};

class DashboardsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = new World; }
  static void TearDownTestSuite() {
    delete world_;
    world_ = nullptr;
  }

  static QueryRunner Runner() {
    QueryRunner runner;
    runner.prometheus = &world_->prometheus;
    runner.values = GrafanaValues("5s", "30s", "10m");
    // Something goes on in the daemon, so that rates are not those of nothing.
    runner.between_tries = [] { MakeTraffic(&world_->server, world_->jobs); };
    runner.may_be_empty = MayBeEmpty;
    return runner;
  }

  static World* world_;
};

World* DashboardsTest::world_ = nullptr;

TEST_F(DashboardsTest, NoQueryOfAPanelIsEmptyOrRefused) {
  std::vector<DashboardQuery> queries;
  for (const Dashboard& dashboard : LoadDashboards()) {
    for (DashboardQuery& query : QueriesOf(dashboard)) queries.push_back(std::move(query));
  }
  EXPECT_GT(queries.size(), 100u);
  EXPECT_EQ(Runner().AskUntilAnswered(queries), "");
}

TEST_F(DashboardsTest, EveryVariableHasChoices) {
  for (const Dashboard& dashboard : LoadDashboards()) {
    for (const VariableQuery& query : VariablesOf(dashboard)) {
      const auto values = world_->prometheus.LabelValues(
          query.label, Interpolated(query.selector, Runner().values));
      ASSERT_THAT(values, IsOk()) << query.where;
      EXPECT_FALSE(values->empty()) << query.where;
    }
  }
  const auto jobs = world_->prometheus.LabelValues("job", "chakrad_trace_span_seconds");
  ASSERT_THAT(jobs, IsOk());
  EXPECT_THAT(*jobs, ::testing::UnorderedElementsAre("pretrain", "recommend"));
}

TEST_F(DashboardsTest, RulesAreHealthyAndWhatTheyLookAtExists) {
  std::vector<DashboardQuery> queries;
  const std::regex selector(R"((\w+:)?chakrad_\w+(:\w+)?(\{[^}]*\})?|up\{[^}]*\})");
  for (const char* file : {"recording", "alerts"}) {
    const std::string path = absl::StrCat("deploy/prometheus/rules/", file, ".yml");
    for (const auto& group : YAML::LoadFile(path)["groups"]) {
      for (const auto& rule : group["rules"]) {
        const std::string name =
            (rule["record"] ? rule["record"] : rule["alert"]).as<std::string>();
        const std::string expr = rule["expr"].as<std::string>();
        // A recording rule has results; an alert has none while all is well, so its selectors have.
        if (rule["record"]) {
          queries.push_back({name, absl::StrCat("last_over_time(", name, "[10m])"), false});
        }
        for (std::sregex_iterator it(expr.begin(), expr.end(), selector), end; it != end; ++it) {
          queries.push_back({name, absl::StrCat("last_over_time(", it->str(), "[10m])"), false});
        }
      }
    }
  }
  EXPECT_GT(queries.size(), 40u);
  EXPECT_EQ(Runner().AskUntilAnswered(queries), "");
  const auto body = world_->prometheus.Get("/api/v1/rules");
  ASSERT_THAT(body, IsOk());
  const Json answer = Json::parse(*body);
  int rules_count = 0;
  for (const Json& group : answer.at("data").at("groups")) {
    for (const Json& rule : group.at("rules")) {
      EXPECT_EQ(rule.at("health"), "ok") << rule.dump();
      // Nothing is wrong here but what the traffic does on purpose: uploads that are refused.
      if (rule.at("name") != "ChakradSealsRefused") {
        EXPECT_NE(rule.value("state", ""), "firing") << rule.dump();
      }
      ++rules_count;
    }
  }
  EXPECT_GT(rules_count, 25);
}

// `job` and `instance` mean the training job and nothing in series of traces, and the scrape's
// in the daemon's own.
TEST_F(DashboardsTest, LabelsOfAScrapeAndOursDoNotMix) {
  const auto traces =
      world_->prometheus.Query("last_over_time({__name__=~\"chakrad_(trace|simulation)_.+\"}[1m])");
  ASSERT_THAT(traces, IsOk());
  std::set<std::string> jobs;
  for (const PrometheusSeries& series : *traces) {
    jobs.insert(series.label("job"));
    for (const char* label : {"instance", "exported_job", "exported_instance"}) {
      EXPECT_EQ(series.labels.count(label), 0u) << series.label("__name__") << " has " << label;
    }
  }
  // The one without a label has none, and not the scrape's.
  EXPECT_EQ(jobs, (std::set<std::string>{"", "pretrain", "recommend"}));
  const auto own = world_->prometheus.Query(
      "{__name__=~\"chakrad_.+\", __name__!~\"chakrad_(trace|simulation)_.+\"}");
  ASSERT_THAT(own, IsOk());
  EXPECT_FALSE(own->empty());
  for (const PrometheusSeries& series : *own) {
    EXPECT_EQ(series.label("job"), "chakrad") << series.label("__name__");
    EXPECT_EQ(series.label("instance"), world_->target) << series.label("__name__");
  }
}

// What is documented is there, and what is there is documented.
TEST_F(DashboardsTest, TheManualListsTheFamiliesOfAScrape) {
  MakeTraffic(&world_->server, world_->jobs);
  const std::map<std::string, std::string> documented = DocumentedFamilies();
  std::set<std::string> scraped;
  const std::string text = world_->server.HttpGet("/metrics");
  const std::regex type(R"(# TYPE (chakrad_\w+) (\w+))");
  for (std::sregex_iterator it(text.begin(), text.end(), type), end; it != end; ++it) {
    scraped.insert((*it)[1]);
  }
  for (const std::string& name : scraped) EXPECT_EQ(documented.count(name), 1u) << name;
  for (const auto& [name, labels] : documented) {
    // None was; and there is no receiver.
    if (name == "chakrad_metric_samples_dropped_total") continue;
    if (absl::StartsWith(name, "chakrad_remote_write_")) continue;
    EXPECT_EQ(scraped.count(name), 1u) << name << " is documented, and not on /metrics";
  }
}

// Every query of the job's dashboard, with one job chosen, and every column of the table of
// collectives.
TEST_F(DashboardsTest, ValuesAreThoseOfAnalyze) {
  for (const ExampleJob* job : {&world_->jobs.pretrain, &world_->jobs.recommend}) {
    const Json analysis = Analysis(world_->server, job->traces.back());
    std::map<std::string, std::string> values = Runner().values;
    for (const auto& [label, value] : job->labels) values[label] = value;
    std::set<std::string> unseen;
    for (const auto& [where, expected] : ValuesOfAnalysis(analysis)) unseen.insert(where);
    for (const Dashboard& dashboard : LoadDashboards()) {
      for (const DashboardQuery& query : QueriesOf(dashboard)) {
        const std::map<std::string, LineValues> all = ValuesOfAnalysis(analysis);
        const auto wanted = all.find(query.where);
        const bool exempt = absl::StrContains(query.expr, "median7d") ||
                            absl::StrContains(query.expr, "ALERTS") ||
                            absl::StrContains(query.where, "Newest trace");
        EXPECT_TRUE(dashboard.name != "job" || exempt || wanted != all.end())
            << query.where << " is compared with nothing";
        if (wanted == all.end()) continue;
        unseen.erase(query.where);
        const auto shown = world_->prometheus.Query(Interpolated(query.expr, values));
        ASSERT_THAT(shown, IsOk()) << query.where;
        ExpectSameValues(query.where, *shown, wanted->second);
      }
    }
    EXPECT_TRUE(unseen.empty()) << absl::StrJoin(unseen, ", ") << " is no panel any more";
  }
}

// As the browser does it from a point: the labels of its line, and its time.
TEST_F(DashboardsTest, APointLeadsToItsTrace) {
  const std::string page = world_->server.HttpGet(absl::StrCat(
      "/trace?cluster=a&job=pretrain&model=transformer&rank_group=all&time=", NowUnixMs()));
  EXPECT_THAT(page, HasSubstr(world_->jobs.pretrain.traces.back()));
  const std::string simulation = world_->server.HttpGet(
      absl::StrCat("/trace?cluster=b&job=recommend&model=dlrm&rank_group=all&time=", NowUnixMs(),
                   "&variant=fully_connected"));
  EXPECT_THAT(simulation, HasSubstr("jobs/"));
}

}  // namespace
}  // namespace chakrad
