#include "server/series/sample_codec.h"

#include <gtest/gtest.h>

#include <limits>

#include "common/status_matchers.h"
#include "server/series/series_samples.pb.h"

namespace chakrad {
namespace {

TEST(SampleCodecTest, WhatWasEncodedComesBackInItsOrder) {
  const std::vector<MetricSample> samples{
      {.id = MetricId::kSimulationErrorRatio, .label_values = {"h100"}, .value = -0.25},
      {.id = MetricId::kSpanSeconds, .label_values = {}, .value = 0},
      {.id = MetricId::kCollectiveBytes,
       .label_values = {"ALL_REDUCE", std::string("a\0\xff", 3)},
       .value = std::numeric_limits<double>::max()},
      {.id = MetricId::kIdleSeconds, .label_values = {""}, .value = 5e-324}};
  const auto decoded = DecodeSamples(EncodeSamples(samples));
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(*decoded, samples);
}

TEST(SampleCodecTest, NoSamplesAreNoBytes) {
  EXPECT_EQ(EncodeSamples({}), "");
  const auto decoded = DecodeSamples("");
  ASSERT_THAT(decoded, IsOk());
  EXPECT_TRUE(decoded->empty());
}

TEST(SampleCodecTest, SamplesOfANewerVersionAreLeftOutAndCounted) {
  series::Samples stored;
  stored.add_samples()->set_metric(kMetricFamiliesCount);  // A family that is not there yet.
  stored.mutable_samples(0)->set_value(1);
  series::Sample* more_labels = stored.add_samples();
  more_labels->set_metric(static_cast<uint32_t>(MetricId::kSpanSeconds));
  more_labels->add_label_values("new");
  series::Sample* not_finite = stored.add_samples();
  not_finite->set_metric(static_cast<uint32_t>(MetricId::kSpanSeconds));
  not_finite->set_value(std::numeric_limits<double>::quiet_NaN());
  series::Sample* good = stored.add_samples();
  good->set_metric(static_cast<uint32_t>(MetricId::kSpanSeconds));
  good->set_value(2);
  int64_t unknown_count = 0;
  const auto decoded = DecodeSamples(stored.SerializeAsString(), &unknown_count);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(unknown_count, 3);
  ASSERT_EQ(decoded->size(), 1u);
  EXPECT_EQ((*decoded)[0].value, 2);
}

TEST(SampleCodecTest, BytesThatAreNoSamplesAreDataLoss) {
  const std::string bytes =
      EncodeSamples({{.id = MetricId::kIdleSeconds, .label_values = {"sync"}, .value = 1.5}});
  EXPECT_THAT(DecodeSamples("rubbish"), StatusIs(absl::StatusCode::kDataLoss, "damaged"));
  for (size_t length = 1; length < bytes.size(); ++length) {
    EXPECT_THAT(DecodeSamples(absl::string_view(bytes).substr(0, length)),
                StatusIs(absl::StatusCode::kDataLoss, "damaged"))
        << length;
  }
}

}  // namespace
}  // namespace chakrad
