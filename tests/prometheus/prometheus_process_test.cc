#include "tests/prometheus/prometheus_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "common/status_matchers.h"

namespace chakrad {
namespace {

// Nobody listens there, so `up` is 0.
constexpr char kNobody[] = R"(
global: { scrape_interval: 200ms }
rule_files: [rules.yml]
scrape_configs:
  - job_name: nobody
    static_configs: [{ targets: ["127.0.0.1:1"] }]
)";
constexpr char kRules[] = R"(
groups:
  - name: one
    interval: 200ms
    rules:
      - { record: answer, expr: vector(42) }
)";

std::vector<PrometheusSeries> WaitFor(const PrometheusProcess& prometheus,
                                      const std::string& promql) {
  for (int i = 0; i < 300; ++i) {
    auto answer = prometheus.Query(promql);
    if (answer.ok() && !answer->empty()) return *answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ADD_FAILURE() << promql << " stays empty: " << prometheus.Log();
  return {};
}

TEST(PrometheusProcessTest, AnswersQueries) {
  PrometheusProcess prometheus;
  const auto scalar = prometheus.Query("1 + 1");
  ASSERT_THAT(scalar, IsOk());
  ASSERT_EQ(scalar->size(), 1u);
  EXPECT_EQ((*scalar)[0].value(), 2);
  const auto range = prometheus.QueryRange("vector(7)", 1'000'000, 1'003'000, 1000);
  ASSERT_THAT(range, IsOk());
  ASSERT_EQ(range->size(), 1u);
  ASSERT_EQ((*range)[0].samples.size(), 4u);
  EXPECT_EQ((*range)[0].samples[3].time_unix_ms, 1'003'000);
  EXPECT_EQ((*range)[0].value(), 7);
  const auto nothing = prometheus.Query("absent_metric");
  ASSERT_THAT(nothing, IsOk());
  EXPECT_TRUE(nothing->empty());
}

TEST(PrometheusProcessTest, ABadQueryIsToldAndADeadServerToo) {
  PrometheusProcess prometheus;
  EXPECT_THAT(prometheus.Query("sum("),
              StatusIs(absl::StatusCode::kInvalidArgument, "parse error"));
  prometheus.Stop();
  EXPECT_THAT(prometheus.Query("1"), StatusIs(absl::StatusCode::kUnavailable, "GET http://"));
}

TEST(PrometheusProcessTest, KeepsPortAndDataOverRestarts) {
  PrometheusOptions options;
  options.config = kNobody;
  options.files["rules.yml"] = kRules;
  PrometheusProcess prometheus(options);
  const std::string address = prometheus.address();
  const auto before = WaitFor(prometheus, "answer");
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].value(), 42);
  const auto up = WaitFor(prometheus, "up");
  EXPECT_EQ(up[0].value(), 0);
  EXPECT_EQ(up[0].label("job"), "nobody");
  prometheus.Kill();
  EXPECT_FALSE(prometheus.running());
  prometheus.Start();
  EXPECT_EQ(prometheus.address(), address);
  const auto after = prometheus.Query("answer", before[0].samples[0].time_unix_ms);
  ASSERT_THAT(after, IsOk());
  EXPECT_EQ(after->size(), 1u);
  const auto series = prometheus.Series("{job=\"nobody\"}");
  ASSERT_THAT(series, IsOk());
  EXPECT_FALSE(series->empty());
  const auto values = prometheus.LabelValues("instance", "up");
  ASSERT_THAT(values, IsOk());
  EXPECT_EQ(*values, std::vector<std::string>{"127.0.0.1:1"});
  prometheus.Stop();
}

TEST(PrometheusProcessTest, ProgramRunsInAFolder) {
  PrometheusOptions options;
  options.files["rules.yml"] = kRules;
  const PrometheusProcess prometheus(options);
  const ProgramRun good = RunPromtool({"check", "rules", "rules.yml"}, prometheus.folder());
  EXPECT_EQ(good.exit_code, 0) << good.output;
  EXPECT_NE(good.output.find("1 rules found"), std::string::npos) << good.output;
  EXPECT_NE(RunPromtool({"check", "rules", "none.yml"}, prometheus.folder()).exit_code, 0);
}

}  // namespace
}  // namespace chakrad
