#include "analysis/metrics/trace_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

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

// Two ranks, in milliseconds; the second joins the all-reduce 1 later, and both end it together:
//   rank 0   compute |####......|   [0, 4)    comm |..########|  [2, 10)
//   rank 1   compute |####......|   [0, 4)    comm |...#######|  [3, 10)
Trace TwoRanks() {
  Trace trace;
  trace.world_size = 2;
  trace.groups.emplace_back();
  trace.groups[0].ranks = {0, 1};
  for (int32_t rank = 0; rank < 2; ++rank) {
    RankTraceBuilder builder;
    builder.header().rank = rank;
    builder.header().base_unix_ns = 1'700'000'000'000'000'000;
    builder.AddNode(
        {.id = 1, .type = NodeType::kComp, .name = "gemm", .start_ns = 0, .dur_ns = 4'000'000});
    const CommOp op{.bytes = 1'000'000, .group = 0};
    const int64_t start_ns = 2'000'000 + rank * 1'000'000;
    builder.AddNode({.id = 2,
                     .type = NodeType::kCommColl,
                     .name = "allreduce",
                     .start_ns = start_ns,
                     .dur_ns = 10'000'000 - start_ns,
                     .comm = &op});
    trace.ranks.push_back(*builder.Build(nullptr));
  }
  return trace;
}

TEST(TraceMetricsTest, OfTwoRanksEachValueIsWhatTheSumsByHandSay) {
  const Trace trace = TwoRanks();
  const auto job = MeasuredTimeline(trace, {});
  ASSERT_TRUE(job.ok()) << job.status();
  std::map<std::string, double> values;
  MetricId last = MetricId::kSpanSeconds;
  for (const MetricSample& sample : TraceMetrics(*job, 5'000'000'000, 0.75)) {
    EXPECT_GE(sample.id, last) << "in the order of MetricId";
    last = sample.id;
    EXPECT_EQ(sample.label_values.size(), FamilyOf(sample.id).labels.size());
    EXPECT_TRUE(std::isfinite(sample.value));
    std::string name(FamilyOf(sample.id).name);
    for (const std::string& label : sample.label_values) name += "," + label;
    EXPECT_TRUE(values.emplace(name, sample.value).second) << name << " stands twice";
  }
  const auto expect = [&](const std::string& name, double value) {
    ASSERT_EQ(values.count("chakrad_trace_" + name), 1) << name;
    EXPECT_NEAR(values["chakrad_trace_" + name], value, 1e-12) << name;
  };
  expect("span_seconds", 0.010);
  expect("compute_seconds", 0.004);
  expect("comm_seconds", 0.0075);         // (8 + 7) / 2
  expect("exposed_comm_seconds", 0.006);  // [4, 10) on both
  expect("exposed_comm_ratio", 0.6);
  expect("worst_rank_exposed_comm_ratio", 0.6);
  expect("idle_ratio", 0);
  expect("overlap_ratio", (2.0 / 8 + 1.0 / 7) / 2);
  expect("straggler_wait_seconds", 0.0005);  // Rank 0 waits 1 ms, rank 1 none.
  expect("straggler_skew_seconds", 0.001);
  expect("clock_offset_seconds", 0.005);
  expect("quality_ratio", 0.75);
  expect("ranks", 2);
  expect("world_ranks", 2);
  EXPECT_NEAR(values["chakrad_trace_end_timestamp_seconds"], 1'700'000'000.010, 1e-5);
  EXPECT_EQ(values.count("chakrad_trace_step_seconds"), 0) << "there are no steps";
  double count = 0, bytes = 0, idle = 0;
  for (const auto& [name, value] : values) {
    if (name.rfind("chakrad_trace_collectives,ALL_REDUCE", 0) == 0) count += value;
    if (name.rfind("chakrad_trace_collective_bytes,ALL_REDUCE", 0) == 0) bytes += value;
    if (name.rfind("chakrad_trace_idle_seconds,", 0) == 0) idle += value;
  }
  EXPECT_EQ(count, 2);
  EXPECT_EQ(bytes, 2'000'000);
  EXPECT_NEAR(values["chakrad_trace_compute_seconds"] +
                  values["chakrad_trace_exposed_comm_seconds"] +
                  values["chakrad_trace_exposed_memory_seconds"] + idle,
              values["chakrad_trace_span_seconds"], 1e-12);
}

TEST(LargestOffsetTest, WhateverItsSignAndNoneWhereNothingWasAdded) {
  ClockEstimate clocks;
  clocks.offsets = {{0, 0, 0, 0}, {1, -7, 0, 0}, {2, 3, 0, 0}};
  EXPECT_EQ(LargestOffsetPs(clocks, true), 7);
  EXPECT_EQ(LargestOffsetPs(clocks, false), 0);
  EXPECT_EQ(LargestOffsetPs({}, true), 0);
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
