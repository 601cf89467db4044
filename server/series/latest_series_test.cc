#include "server/series/latest_series.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "server/limits.h"
#include "server/series/parse_metrics_text.h"

namespace chakrad {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr char kSteps[] = "chakrad_trace_steps";

std::string TextOf(LatestSeries* latest, int64_t now_ms = 0) {
  std::string text;
  latest->WriteText(now_ms, [&](absl::string_view piece) {
    text.append(piece.data(), piece.size());
    return true;
  });
  return text;
}

ParsedMetrics Parsed(LatestSeries* latest, int64_t now_ms = 0) {
  const auto metrics = ParseMetricsText(TextOf(latest, now_ms));
  EXPECT_THAT(metrics, IsOk());
  return metrics.value_or(ParsedMetrics());
}

SeriesRecord Of(const std::string& job, int64_t time_ms = 0, const std::string& variant = "",
                int64_t added_ms = 0) {
  SeriesRecord record;
  record.key = {"c", job, "m", "all"};
  record.variant = variant;
  record.time_unix_ms = time_ms;
  record.added_unix_ms = added_ms;
  return record;
}

std::vector<MetricSample> Steps(double value) { return {{MetricId::kSteps, {}, value}}; }

MetricLabels LabelsOf(const std::string& job) {
  return {{"cluster", "c"}, {"job", job}, {"model", "m"}, {"rank_group", "all"}};
}

TEST(LatestSeriesTest, FamiliesOfSeveralKeysStandTogether) {
  LatestSeries latest(10, kHourMs);
  EXPECT_EQ(TextOf(&latest), "");
  EXPECT_TRUE(latest.Put(Of("a"),
                         {{MetricId::kIdleSeconds, {"sync"}, 0.5},
                          {MetricId::kSpanSeconds, {}, 0.1},
                          {MetricId::kIdleSeconds, {"other"}, 1e-9}},
                         0));
  EXPECT_TRUE(latest.Put(Of("b"), {{MetricId::kSpanSeconds, {}, 2}}, 0));
  EXPECT_EQ(
      TextOf(&latest),
      "# HELP chakrad_trace_span_seconds Recorded time of a rank, mean over ranks.\n"
      "# TYPE chakrad_trace_span_seconds gauge\n"
      "chakrad_trace_span_seconds{cluster=\"c\",job=\"a\",model=\"m\",rank_group=\"all\"} 0.1\n"
      "chakrad_trace_span_seconds{cluster=\"c\",job=\"b\",model=\"m\",rank_group=\"all\"} 2\n"
      "# HELP chakrad_trace_idle_seconds Time in which a rank does none of these, by cause, mean "
      "over ranks.\n"
      "# TYPE chakrad_trace_idle_seconds gauge\n"
      "chakrad_trace_idle_seconds{cluster=\"c\",job=\"a\",model=\"m\",rank_group=\"all\","
      "cause=\"sync\"} 0.5\n"
      "chakrad_trace_idle_seconds{cluster=\"c\",job=\"a\",model=\"m\",rank_group=\"all\","
      "cause=\"other\"} 1e-09\n");
}

TEST(LatestSeriesTest, HostileLabelsComeBackAsTheyWere) {
  const std::vector<std::string> hostile{"",
                                         "new\nline",
                                         "quote\"",
                                         "back\\slash",
                                         "\\n",
                                         "}",
                                         "{a=\"b\"} 1\nchakrad_trace_steps 7",
                                         " ",
                                         "\\",
                                         "\\\"",
                                         "#",
                                         "=",
                                         ",,,",
                                         "\xc3\xa4\xe2\x82\xac"};
  LatestSeries latest(100, kHourMs);
  for (size_t i = 0; i < hostile.size(); ++i) {
    SeriesRecord record = Of(hostile[i]);
    record.key.cluster = hostile[i];
    EXPECT_TRUE(latest.Put(
        record,
        {{MetricId::kSteps, {}, static_cast<double>(i)}, {MetricId::kIdleSeconds, {hostile[i]}, 1}},
        0));
  }
  const ParsedMetrics metrics = Parsed(&latest);
  EXPECT_EQ(metrics.size(), 2 * hostile.size());
  for (size_t i = 0; i < hostile.size(); ++i) {
    MetricLabels labels = LabelsOf(hostile[i]);
    labels["cluster"] = hostile[i];
    EXPECT_EQ(metrics.at({kSteps, labels}), static_cast<double>(i)) << hostile[i];
    labels["cause"] = hostile[i];
    EXPECT_EQ(metrics.count({"chakrad_trace_idle_seconds", labels}), 1) << hostile[i];
  }
}

TEST(LatestSeriesTest, ANewerRecordTakesThePlaceOfAnOlderOneAndNotTheOtherWayRound) {
  LatestSeries latest(10, kHourMs);
  latest.Put(Of("a", 100), Steps(1), 0);
  latest.Put(Of("a", 50), Steps(2), 0);
  EXPECT_EQ(Parsed(&latest).at({kSteps, LabelsOf("a")}), 1);
  latest.Put(Of("a", 101), Steps(3), 0);
  EXPECT_EQ(Parsed(&latest).at({kSteps, LabelsOf("a")}), 3);
  EXPECT_EQ(latest.size(0), 1);
}

TEST(LatestSeriesTest, VariantsOfAKeyStandBesideItsTrace) {
  LatestSeries latest(10, kHourMs);
  latest.Put(Of("a", 100), Steps(1), 0);
  latest.Put(Of("a", 100, "x"), {{MetricId::kSimulatedSpanSeconds, {"x"}, 2}}, 0);
  latest.Put(Of("a", 100, "y"), {{MetricId::kSimulatedSpanSeconds, {"y"}, 3}}, 0);
  EXPECT_EQ(Parsed(&latest).size(), 3);
}

TEST(LatestSeriesTest, OfManyVariantsOfAKeyTheNewestAreShownAndOtherKeysHaveTheirPlace) {
  LatestSeries latest(100, kHourMs);
  const auto put = [&](int time_ms, const std::string& variant) {
    return latest.Put(Of("a", time_ms, variant),
                      {{MetricId::kSimulatedSpanSeconds, {variant}, 1.0 * time_ms}}, 0);
  };
  const auto count = [&](const std::string& variant) {
    MetricLabels labels = LabelsOf("a");
    labels["variant"] = variant;
    return Parsed(&latest).count({"chakrad_simulation_span_seconds", labels});
  };
  latest.Put(Of("a", 1), Steps(1), 0);
  for (int i = 0; i < static_cast<int>(kMaxVariantsShown); ++i) {
    EXPECT_TRUE(put(1'000 - i, absl::StrCat("v", i)));
  }
  EXPECT_TRUE(put(1, "old"));
  EXPECT_EQ(count("old"), 0);
  EXPECT_TRUE(put(2'000, "new")) << "the oldest one gives way";
  EXPECT_EQ(count("new"), 1);
  EXPECT_EQ(count(absl::StrCat("v", kMaxVariantsShown - 1)), 0);
  EXPECT_EQ(count("v0"), 1);
  EXPECT_TRUE(put(2'001, "new")) << "in its own place";
  EXPECT_EQ(latest.size(0), kMaxVariantsShown + 1);
  EXPECT_TRUE(latest.Put(Of("b", 1, "v"), {{MetricId::kSimulatedSpanSeconds, {"v"}, 1}}, 0));
}

TEST(LatestSeriesTest, BeyondTheCapNewKeysFindNoPlaceAndOldOnesGoOn) {
  LatestSeries latest(2, kHourMs);
  EXPECT_TRUE(latest.Put(Of("a", 1), Steps(1), 0));
  EXPECT_TRUE(latest.Put(Of("b", 1), Steps(1), 0));
  EXPECT_FALSE(latest.Put(Of("c", 1), Steps(1), 0));
  EXPECT_TRUE(latest.Put(Of("a", 2), Steps(5), 0));
  EXPECT_EQ(Parsed(&latest).at({kSteps, LabelsOf("a")}), 5);
  EXPECT_EQ(Parsed(&latest).size(), 2);
}

TEST(LatestSeriesTest, KeysThatNobodyHasSeenForAWhileGoAndMakePlace) {
  LatestSeries latest(1, kHourMs);
  latest.Put(Of("a", 1, "", /*added_ms=*/1'000), Steps(1), 1'000);
  EXPECT_EQ(Parsed(&latest, 1'000 + kHourMs - 1).size(), 1);
  EXPECT_EQ(TextOf(&latest, 1'000 + kHourMs), "");
  EXPECT_EQ(latest.size(1'000 + kHourMs), 0);
  latest.Put(Of("a", 1, "", 1'000), Steps(1), 1'000);
  EXPECT_TRUE(latest.Put(Of("b", 1, "", 1'000 + kHourMs), Steps(1), 1'000 + kHourMs));
  EXPECT_EQ(Parsed(&latest, 1'000 + kHourMs).size(), 1);
  // One that arrives with its time over, as after a restart, is not shown at all.
  LatestSeries restarted(1, kHourMs);
  EXPECT_TRUE(restarted.Put(Of("a", 1, "", 0), Steps(1), kHourMs));
  EXPECT_EQ(restarted.size(kHourMs), 0);
  // Of an expired one, an older trace takes the place.
  latest.Put(Of("b", 0, "", 3 * kHourMs), Steps(9), 3 * kHourMs);
  EXPECT_EQ(Parsed(&latest, 3 * kHourMs).at({kSteps, LabelsOf("b")}), 9);
}

TEST(LatestSeriesTest, AReaderThatGoesAwayEndsTheText) {
  LatestSeries latest(10'000, kHourMs);
  for (int i = 0; i < 5'000; ++i) latest.Put(Of(absl::StrCat("job-", i)), Steps(i), 0);
  int pieces = 0;
  latest.WriteText(0, [&](absl::string_view) { return ++pieces < 2; });
  EXPECT_EQ(pieces, 2);
}

TEST(LatestSeriesTest, ASlowReaderKeepsNobodyWaiting) {
  LatestSeries latest(10'000, kHourMs);
  for (int i = 0; i < 2'000; ++i) latest.Put(Of(absl::StrCat("job-", i)), Steps(i), 0);
  bool put = false;
  latest.WriteText(0, [&](absl::string_view) {
    if (!put) put = latest.Put(Of("late"), Steps(1), 0);  // Would hang if a lock were held.
    return true;
  });
  EXPECT_TRUE(put);
  EXPECT_EQ(latest.size(0), 2'001);
}

}  // namespace
}  // namespace chakrad
