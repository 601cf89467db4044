#include "analysis/metrics/trace_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "common/utf8.h"
#include "trace/model/rank_trace_builder.h"

namespace chakrad {
namespace {

TEST(MetricLabelValueTest, AnyBytesBecomeAValueThatEveryReceiverTakes) {
  EXPECT_EQ(MetricLabelValue(""), "");
  EXPECT_EQ(MetricLabelValue("a \"b\\c"), "a \"b\\c");  // Escaping is the text format's.
  EXPECT_EQ(MetricLabelValue("a\nb\tc\x7f"), "a b c ");
  EXPECT_EQ(MetricLabelValue("a\xff"), "a?");
  const std::string million(1'000'000, 'x');
  const std::string cut = MetricLabelValue(million);
  EXPECT_EQ(cut.size(), kMaxMetricLabelBytes);
  EXPECT_EQ(cut.substr(0, 4), "xxxx");
  EXPECT_NE(cut, MetricLabelValue(million + "y")) << "two long ones stay two";
  EXPECT_EQ(MetricLabelValue(std::string(kMaxMetricLabelBytes, 'x')),
            std::string(kMaxMetricLabelBytes, 'x'));
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\xc3\xa4";
  const std::string shortened = MetricLabelValue(umlauts);
  EXPECT_LE(shortened.size(), kMaxMetricLabelBytes);
  EXPECT_EQ(ValidUtf8(shortened), shortened);
  EXPECT_EQ(shortened.find('?'), std::string::npos) << "cut between characters";
}

TEST(RankGroupTextTest, RangesOfRanks) {
  EXPECT_EQ(RankGroupText({0, 1, 2, 3}, 4), "all");
  EXPECT_EQ(RankGroupText({0, 1, 2, 3, 8}, 16), "0-3,8");
  EXPECT_EQ(RankGroupText({5}, 16), "5");
  EXPECT_EQ(RankGroupText({}, 16), "");
}

TEST(JobLabelValuesTest, LabelsOfTheTraceOrWhatItsRanksSay) {
  EXPECT_EQ(JobLabelValues({{"cluster", "c"}, {"job", "j\n"}, {"other", "o"}}, {0, 1}, 4),
            (std::vector<std::string>{"c", "j ", "", "0-1"}));
  EXPECT_EQ(JobLabelValues({{"rank_group", "g"}, {"model", "m"}}, {0, 1}, 2),
            (std::vector<std::string>{"", "", "m", "g"}));
}

TEST(SimulationMetricsTest, TheErrorIsSimulatedOverMeasuredLessOne) {
  // 1.2 s simulated, 0.3 s of it exposed; 1 s recorded.
  const auto samples =
      SimulationMetrics({1'200'000'000'000, 300e9, 1'000'000'000'000}, "faster\nnet");
  ASSERT_EQ(samples.size(), 5);
  const std::vector<double> want{1.2, 0.3, 0.25, 1.0, 0.2};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(samples[i].label_values, std::vector<std::string>{"faster net"});
    EXPECT_NEAR(samples[i].value, want[i], 1e-12) << FamilyOf(samples[i].id).name;
  }
}

TEST(SimulationMetricsTest, NothingToCompareWithIsNoErrorRatherThanZero) {
  EXPECT_EQ(SimulationMetrics({5, 1, std::nullopt}, "v").size(), 3);
  EXPECT_EQ(SimulationMetrics({5, 1, 0}, "v").size(), 3);
  for (const MetricSample& sample : SimulationMetrics({0, 0, 0}, "v")) {
    EXPECT_EQ(sample.value, 0) << "of a simulation that takes no time";
  }
}

TEST(LimitSamplesTest, WhatIsBeyondTheLimitOfAFamilyIsCounted) {
  std::vector<MetricSample> samples;
  for (size_t i = 0; i < kMaxSamplesPerFamily + 3; ++i) {
    samples.push_back({MetricId::kCollectives, {std::to_string(i), "s"}, 1});
  }
  samples.push_back({MetricId::kSteps, {}, 1});
  const auto dropped = LimitSamples(&samples);
  EXPECT_EQ(dropped, (std::map<MetricId, int64_t>{{MetricId::kCollectives, 3}}));
  EXPECT_EQ(samples.size(), kMaxSamplesPerFamily + 1);
  EXPECT_EQ(samples.back().id, MetricId::kSteps);
  EXPECT_TRUE(LimitSamples(&samples).empty());
}

}  // namespace
}  // namespace chakrad
