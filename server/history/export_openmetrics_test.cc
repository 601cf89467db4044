#include "server/history/export_openmetrics.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_matchers.h"
#include "server/history/openmetrics_text.h"
#include "server/series/sample_codec.h"
#include "storage/mem_kv.h"

namespace chakrad {
namespace {

using Part = ExportPart;

TEST(OpenMetricsTextTest, HeadersNameTypeUnitAndHelp) {
  EXPECT_EQ(FamilyHeaderText(FamilyOf(MetricId::kSteps)),
            "# TYPE chakrad_trace_steps gauge\n"
            "# HELP chakrad_trace_steps Training steps found in the trace.\n");
  EXPECT_EQ(FamilyHeaderText(FamilyOf(MetricId::kCollectiveBusBandwidth)),
            "# TYPE chakrad_trace_collective_bus_bandwidth_bytes_per_second gauge\n"
            "# UNIT chakrad_trace_collective_bus_bandwidth_bytes_per_second bytes_per_second\n"
            "# HELP chakrad_trace_collective_bus_bandwidth_bytes_per_second Bus bandwidth of these "
            "operations: all bytes over all time.\n");
}

TEST(OpenMetricsTextTest, LabelsAreSortedEscapedAndNeverEmpty) {
  EXPECT_EQ(SeriesText({.cluster = "a\\b\"c\nd", .job = "", .model = "m", .rank_group = "\xff"},
                       {MetricId::kIdleSeconds, {"sync"}, 1}),
            "chakrad_trace_idle_seconds{cause=\"sync\",cluster=\"a\\\\b\\\"c\\nd\",model=\"m\","
            "rank_group=\"?\"}");
  EXPECT_EQ(SeriesText({}, {MetricId::kSteps, {}, 1}), "chakrad_trace_steps");
}

TEST(OpenMetricsTextTest, NumbersReadBackAsTheyWere) {
  EXPECT_EQ(NumberText(0.1), "0.1");
  EXPECT_EQ(NumberText(3), "3");
  for (const double value : {1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789012345680.0}) {
    double read = 0;
    ASSERT_TRUE(absl::SimpleAtod(NumberText(value), &read));
    EXPECT_EQ(read, value);
  }
}

// As Prometheus reads it: a double, times 1000, cut off.
TEST(OpenMetricsTextTest, TimesKeepTheirMillisecond) {
  EXPECT_EQ(TimestampText(1'700'000'000'000), "1700000000");
  EXPECT_EQ(TimestampText(1'700'000'000'001), "1700000000.001");
  EXPECT_EQ(TimestampText(-1'500), "-1.500");
  std::mt19937_64 random(6);
  int cut_off = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto unix_ms = static_cast<int64_t>(random() % 4'000'000'000'000);
    const std::string text = TimestampText(unix_ms);
    double seconds = 0;
    ASSERT_TRUE(absl::SimpleAtod(text, &seconds));
    ASSERT_EQ(static_cast<int64_t>(seconds * 1'000), unix_ms) << text;
    cut_off += text.size() - text.find('.') == 5 ? 1 : 0;
  }
  EXPECT_GT(cut_off, 0);  // The case is met.
}

TEST(PlanExportTest, SmallFamiliesShareAPartAndLargeOnesAreShared) {
  EXPECT_EQ(PlanExport({}, 10), std::vector<Part>{});
  EXPECT_EQ(PlanExport({0, 0}, 10), std::vector<Part>{});
  EXPECT_EQ(
      PlanExport({4, 0, 6, 1, 25, 2}, 10),
      (std::vector<Part>{
          {0, 3, 0, 1}, {3, 4, 0, 1}, {4, 5, 0, 3}, {4, 5, 1, 3}, {4, 5, 2, 3}, {5, 6, 0, 1}}));
}

class ExportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = NewSeriesStore(std::shared_ptr<Kv>(NewMemKv()));
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  void Append(int64_t time_unix_ms, const std::string& job, std::vector<MetricSample> samples,
              const std::string& cluster = "c") {
    SeriesRecord record;
    record.source = absl::StrCat("traces/t-", ++number_);
    record.time_unix_ms = time_unix_ms;
    record.key.cluster = cluster;
    record.key.job = job;
    record.samples = EncodeSamples(samples);
    ASSERT_THAT(store_->Append({record}, "reader", absl::StrCat(number_)), IsOk());
  }

  std::string Export(const ExportQuery& query, const ExportOptions& options = {}) {
    std::string text;
    counts_ = ExportOpenMetrics(
        store_.get(), query, options, [] { return true; },
        [&](absl::string_view piece, int64_t) {
          EXPECT_LE(piece.size(), options.piece_bytes);
          absl::StrAppend(&text, piece);
          return true;
        });
    EXPECT_THAT(counts_, IsOk());
    return text;
  }

  std::unique_ptr<SeriesStore> store_;
  absl::StatusOr<ExportCounts> counts_;
  int number_ = 0;
};

TEST_F(ExportTest, FamiliesAndSeriesAreTogetherAndTimesAscend) {
  Append(3'000, "b", {{MetricId::kSteps, {}, 3}, {MetricId::kSpanSeconds, {}, 0.5}});
  Append(1'000, "a", {{MetricId::kSteps, {}, 1}, {MetricId::kIdleSeconds, {"sync"}, 2}});
  Append(2'500, "b", {{MetricId::kSteps, {}, 2}});
  EXPECT_EQ(Export({}),
            "# TYPE chakrad_trace_span_seconds gauge\n"
            "# UNIT chakrad_trace_span_seconds seconds\n"
            "# HELP chakrad_trace_span_seconds Recorded time of a rank, mean over ranks.\n"
            "chakrad_trace_span_seconds{cluster=\"c\",job=\"b\"} 0.5 3\n"
            "# TYPE chakrad_trace_steps gauge\n"
            "# HELP chakrad_trace_steps Training steps found in the trace.\n"
            "chakrad_trace_steps{cluster=\"c\",job=\"a\"} 1 1\n"
            "chakrad_trace_steps{cluster=\"c\",job=\"b\"} 2 2.500\n"
            "chakrad_trace_steps{cluster=\"c\",job=\"b\"} 3 3\n"
            "# TYPE chakrad_trace_idle_seconds gauge\n"
            "# UNIT chakrad_trace_idle_seconds seconds\n"
            "# HELP chakrad_trace_idle_seconds Time in which a rank does none of these, by cause, "
            "mean over ranks.\n"
            "chakrad_trace_idle_seconds{cause=\"sync\",cluster=\"c\",job=\"a\"} 2 1\n"
            "# EOF\n");
  EXPECT_EQ(counts_->samples, 5);
}

TEST_F(ExportTest, NothingStoredIsAnEmptyDocument) { EXPECT_EQ(Export({}), "# EOF\n"); }

TEST_F(ExportTest, AQueryTakesAnIntervalAClusterAndAJob) {
  for (int i = 0; i < 4; ++i) Append(1'000 * i, "a", {{MetricId::kSteps, {}, 1.0 * i}});
  Append(1'000, "b", {{MetricId::kSteps, {}, 10}});
  Append(1'000, "a", {{MetricId::kSteps, {}, 20}}, "other");
  const std::string text =
      Export({.from_unix_ms = 1'000, .to_unix_ms = 3'000, .cluster = "c", .job = "a"});
  EXPECT_EQ(counts_->samples, 2);
  EXPECT_NE(text.find("} 1 1\n"), std::string::npos);
  EXPECT_NE(text.find("} 2 2\n"), std::string::npos);
}

TEST_F(ExportTest, DamagedRecordsAreLeftOutAndCounted) {
  Append(1'000, "a", {{MetricId::kSteps, {}, 1}});
  SeriesRecord damaged;
  damaged.source = "traces/damaged";
  damaged.samples = "rubbish";
  ASSERT_THAT(store_->Append({damaged}, "reader", "2"), IsOk());
  Export({});
  EXPECT_EQ(counts_->samples, 1);
  EXPECT_EQ(counts_->damaged_records, 1);
}

TEST_F(ExportTest, ACallerWhoGoesAwayEndsIt) {
  for (int i = 0; i < 2'000; ++i) Append(i, "a", {{MetricId::kSteps, {}, 1}});
  const auto keep = [](absl::string_view, int64_t) { return true; };
  EXPECT_THAT(ExportOpenMetrics(
                  store_.get(), {}, {}, [] { return false; }, keep),
              StatusIs(absl::StatusCode::kCancelled, "went away"));
  int pieces = 0;
  EXPECT_THAT(ExportOpenMetrics(
                  store_.get(), {}, {.piece_bytes = 100}, [] { return true; },
                  [&](absl::string_view, int64_t) { return ++pieces < 3; }),
              StatusIs(absl::StatusCode::kCancelled, "went away"));
  EXPECT_EQ(pieces, 3);
}

// However many parts: the same series with the same samples, each series in one place.
TEST_F(ExportTest, PartsChangeNothingButTheOrderOfSeries) {
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    std::vector<MetricSample> samples{{MetricId::kSpanSeconds, {}, 1.0 * i}};
    for (int j = 0; j < 3; ++j) {
      samples.push_back(
          {MetricId::kCollectiveBytes, {absl::StrCat("type-", j), "le_1MiB"}, 1.0 * i + j});
    }
    Append(random() % 1'000'000, absl::StrCat("job-", random() % 40), samples);
  }
  const std::string whole = Export({});
  const std::string parts = Export({}, {.samples_at_once = 100, .piece_bytes = 512});
  const auto sorted = [](const std::string& text) {
    const std::vector<std::string> lines = absl::StrSplit(text, '\n');
    return std::multiset<std::string>(lines.begin(), lines.end());
  };
  EXPECT_EQ(sorted(whole), sorted(parts));
  EXPECT_EQ(counts_->samples, 2'000);
  std::set<std::string> ended;
  std::string series;
  double last_seconds = 0;
  for (const absl::string_view line : absl::StrSplit(parts, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    ASSERT_EQ(words.size(), 3u);
    double seconds = 0;
    ASSERT_TRUE(absl::SimpleAtod(words[2], &seconds));
    if (words[0] != series) {
      EXPECT_TRUE(ended.insert(words[0]).second) << line;
      series = words[0];
    } else {
      EXPECT_GT(seconds, last_seconds) << line;
    }
    last_seconds = seconds;
  }
}

}  // namespace
}  // namespace chakrad
