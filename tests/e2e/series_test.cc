// Traces and simulations become series: on /metrics, in `chakra analyze`, on the page of a point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "server/series/parse_metrics_text.h"
#include "tests/e2e/run_chakra.h"
#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

using ::testing::HasSubstr;

std::string Get(const TestServer& server, const std::string& path,
                const std::string& version = "1.0") {
  return HttpGet(absl::StrCat("127.0.0.1:", server.http_port()), path, version);
}

// The body of an answer in chunks.
std::string Unchunked(const std::string& answer) {
  const size_t head_end = answer.find("\r\n\r\n") + 4;
  if (!absl::StrContains(answer.substr(0, head_end), "chunked")) return answer.substr(head_end);
  std::string body;
  for (size_t at = head_end; at < answer.size();) {
    const size_t line_end = answer.find("\r\n", at);
    const size_t size = std::stoul(answer.substr(at, line_end - at), nullptr, 16);
    if (size == 0) return body;
    body += answer.substr(line_end + 2, size);
    at = line_end + 2 + size + 2;
  }
  ADD_FAILURE() << "the last chunk is missing";
  return body;
}

ParsedMetrics Scrape(const TestServer& server) {
  const auto metrics = ParseMetricsText(Unchunked(Get(server, "/metrics", "1.1")));
  EXPECT_THAT(metrics, IsOk());
  return metrics.value_or(ParsedMetrics());
}

int CountOf(const ParsedMetrics& metrics, const std::string& name) {
  int count = 0;
  for (const auto& [key, value] : metrics) count += key.first == name;
  return count;
}

// Until the background thread is through.
ParsedMetrics ScrapeWith(const TestServer& server, const std::string& name, int count) {
  ParsedMetrics metrics;
  for (int i = 0; i < 500; ++i) {
    metrics = Scrape(server);
    if (CountOf(metrics, name) >= count) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(CountOf(metrics, name), count) << name;
  return metrics;
}

v1::CreateUploadRequest Labelled(const std::string& job) {
  v1::CreateUploadRequest request;
  (*request.mutable_labels())["job"] = job;
  (*request.mutable_labels())["cluster"] = "c";
  return request;
}

// Every sample that `analyze` tells is on /metrics with the same value.
void ExpectScraped(const ParsedMetrics& scraped, const client::Json& analysis) {
  ASSERT_FALSE(analysis["metrics"].empty());
  for (const auto& metric : analysis["metrics"]) {
    const auto labels = metric["labels"].get<MetricLabels>();
    const auto it = scraped.find({metric["name"].get<std::string>(), labels});
    ASSERT_NE(it, scraped.end()) << metric.dump();
    EXPECT_DOUBLE_EQ(it->second, metric["value"].get<double>()) << metric.dump();
  }
}

TEST(SeriesTest, WhatMetricsShowOfATraceIsWhatAnalyzeSays) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(
      const v1::Trace trace,
      server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2"), Labelled("a \"job\" \\ {x}")));
  const auto metrics = ScrapeWith(server, "chakrad_trace_span_seconds", 1);
  const Ran ran = Chakra(server, {"analyze", trace.name(), "--output", "json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const client::Json analysis = ran.json();
  ExpectScraped(metrics, analysis);
  // And what it says elsewhere in the same answer.
  double exposed_ps = 0;
  for (const auto& rank : analysis["rank_times"]) {
    exposed_ps += rank["exposed_comm_ps"].get<double>();
  }
  exposed_ps /= static_cast<double>(analysis["rank_times"].size());
  for (const auto& [key, value] : metrics) {
    if (key.first == "chakrad_trace_exposed_comm_seconds") {
      EXPECT_NEAR(value, exposed_ps * 1e-12, 1e-15);
    }
    if (key.first == "chakrad_trace_exposed_comm_ratio") {
      EXPECT_DOUBLE_EQ(value, analysis["mean_shares"]["exposed_comm_ratio"].get<double>());
    }
  }
  EXPECT_EQ(metrics.at({"chakrad_metric_keys", {}}), 1);
}

TEST(SeriesTest, ASimulationStandsBesideItsTraceUnderItsVariant) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(
      const v1::Trace trace,
      server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2"), Labelled("train")));
  v1::SimulationSpec spec = SpecOf(trace, "Ring");
  spec.set_keep_timeline(true);
  spec.set_variant("faster net");
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(spec));
  const auto metrics = ScrapeWith(server, "chakrad_simulation_error_ratio", 1);
  const Ran ran = Chakra(server, {"analyze", job.name(), "--output", "json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  ExpectScraped(metrics, ran.json());
  const MetricLabels labels{{"cluster", "c"},
                            {"job", "train"},
                            {"model", ""},
                            {"rank_group", "all"},
                            {"variant", "faster net"}};
  EXPECT_NEAR(metrics.at({"chakrad_simulation_span_seconds", labels}),
              static_cast<double>(job.result().end_ps()) * 1e-12, 1e-15);
  const double measured = metrics.at({"chakrad_simulation_measured_seconds", labels});
  EXPECT_NEAR(metrics.at({"chakrad_simulation_error_ratio", labels}),
              metrics.at({"chakrad_simulation_span_seconds", labels}) / measured - 1, 1e-12);
  spec.set_variant(std::string(65, 'v'));
  EXPECT_THAT(server.CreateJob(spec),
              StatusIs(absl::StatusCode::kInvalidArgument, "variant: 65 bytes"));
}

TEST(SeriesTest, SeriesSurviveARestartAndTheDeletionOfTheirTrace) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(
      const v1::Trace trace,
      server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2"), Labelled("train")));
  ScrapeWith(server, "chakrad_trace_span_seconds", 1);
  ASSERT_EQ(Chakra(server, {"traces", "rm", trace.name()}).exit_code, 0);
  server.Restart();
  EXPECT_EQ(CountOf(Scrape(server), "chakrad_trace_span_seconds"), 1);
  EXPECT_THAT(Get(server, "/trace?cluster=c&job=train&rank_group=all"),
              HasSubstr("no longer stored"));
}

TEST(SeriesTest, ThePageOfAPointNamesTheTrace) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(
      const v1::Trace trace,
      server.Upload(ReadFolder("tests/data/collected/mlp_dp/w2"), Labelled("a&b <c>")));
  ScrapeWith(server, "chakrad_trace_span_seconds", 1);
  const std::string page =
      Get(server, "/trace?cluster=c&job=a%26b+%3Cc%3E&model=&rank_group=all&time=1700000000000");
  EXPECT_THAT(page, HasSubstr("200"));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("chakra analyze ", trace.name())));
  EXPECT_THAT(page, HasSubstr("a&amp;b &lt;c&gt;"));
  EXPECT_THAT(Get(server, "/trace?cluster=c&job=other"), HasSubstr("404"));
  EXPECT_THAT(Get(server, "/trace?job=%zz&time=x%"), HasSubstr("400"));
  EXPECT_THAT(Get(server, absl::StrCat("/trace?job=", std::string(9'000, 'x'))), HasSubstr("414"));
  EXPECT_THAT(Get(server, "/traces"), HasSubstr("404"));
}

TEST(SeriesTest, TheEngineTellsOfItself) {
  TestServer server;
  const auto metrics = Scrape(server);
  EXPECT_GT(metrics.at({"chakrad_store_engine_memory_bytes", {}}), 0);
  EXPECT_EQ(metrics.at({"chakrad_store_engine_writes_stopped", {}}), 0);
  EXPECT_EQ(metrics.count({"chakrad_store_engine_stall_seconds_total", {}}), 1);
  EXPECT_EQ(metrics.count({"chakrad_store_engine_cache_reads_total", {{"outcome", "hit"}}}), 1);
}

}  // namespace
}  // namespace chakrad
