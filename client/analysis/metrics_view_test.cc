#include <gtest/gtest.h>

#include "client/analysis/views.h"

namespace chakrad::client {
namespace {

TEST(MetricsTextTest, TheJobStandsAboveAndEachSampleIsALine) {
  v1::TimelineAnalysis answer;
  EXPECT_EQ(MetricsText(answer), "");
  const auto add = [&](const char* name, double value) {
    v1::Metric* metric = answer.add_metrics();
    metric->set_name(name);
    metric->set_value(value);
    for (const char* label : {"cluster", "job", "model", "rank_group"}) {
      (*metric->mutable_labels())[label] = label[0] == 'm' ? "" : "x";
    }
    return metric;
  };
  add("chakrad_trace_steps", 3);
  v1::Metric* bytes = add("chakrad_trace_collective_bytes", 1.5e9);
  (*bytes->mutable_labels())["type"] = "ALL_REDUCE";
  (*bytes->mutable_labels())["size"] = "le_64KiB";
  add("chakrad_trace_last_seconds", 1790000123.25);
  EXPECT_EQ(MetricsText(answer),
            "metrics of cluster=\"x\" job=\"x\" model=\"\" rank_group=\"x\"\n"
            "metric                          labels                                 value\n"
            "chakrad_trace_steps                                                        3\n"
            "chakrad_trace_collective_bytes  size=le_64KiB type=ALL_REDUCE        1.5e+09\n"
            "chakrad_trace_last_seconds                                     1790000123.25\n");
}

}  // namespace
}  // namespace chakrad::client
