#include "server/remote_write/write_request.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include "prometheus/remote_write.pb.h"

namespace chakrad {
namespace {

prometheus::WriteRequest Decode(const std::string& compressed) {
  std::string bytes;
  EXPECT_TRUE(snappy::Uncompress(compressed.data(), compressed.size(), &bytes));
  prometheus::WriteRequest request;
  EXPECT_TRUE(request.ParseFromString(bytes));
  return request;
}

std::string LabelsText(const prometheus::TimeSeries& series) {
  std::string text;
  for (const prometheus::Label& label : series.labels()) {
    text += label.name() + "=" + label.value() + ";";
  }
  return text;
}

TEST(WriteRequestTest, SeriesHaveSortedLabelsAndSamplesInOrderOfTime) {
  const SeriesKey key{.cluster = "c", .job = "j", .model = "m", .rank_group = "all"};
  const prometheus::WriteRequest request = Decode(EncodeWriteRequest({
      {.time_unix_ms = 2'000,
       .key = key,
       .samples = {{MetricId::kCollectiveBytes, {"ALL_REDUCE", "le_64KiB"}, 5},
                   {MetricId::kSpanSeconds, {}, 2.5}}},
      {.time_unix_ms = 1'000, .key = key, .samples = {{MetricId::kSpanSeconds, {}, 1.5}}},
  }));
  ASSERT_EQ(request.timeseries_size(), 2);
  EXPECT_EQ(LabelsText(request.timeseries(0)),
            "__name__=chakrad_trace_collective_bytes;cluster=c;job=j;model=m;rank_group=all;"
            "size=le_64KiB;type=ALL_REDUCE;");
  const prometheus::TimeSeries& span = request.timeseries(1);
  EXPECT_EQ(LabelsText(span),
            "__name__=chakrad_trace_span_seconds;cluster=c;job=j;model=m;rank_group=all;");
  ASSERT_EQ(span.samples_size(), 2);
  EXPECT_EQ(span.samples(0).timestamp(), 1'000);
  EXPECT_EQ(span.samples(0).value(), 1.5);
  EXPECT_EQ(span.samples(1).timestamp(), 2'000);
  EXPECT_EQ(span.samples(1).value(), 2.5);
}

TEST(WriteRequestTest, EmptyLabelsAreLeftOutAndDoNotMergeSeries) {
  const prometheus::WriteRequest request = Decode(EncodeWriteRequest({
      {1, {.job = "a"}, {{MetricId::kSpanSeconds, {}, 1}}},
      {1, {.model = "a"}, {{MetricId::kSpanSeconds, {}, 2}}},
  }));
  ASSERT_EQ(request.timeseries_size(), 2);
  EXPECT_EQ(LabelsText(request.timeseries(0)), "__name__=chakrad_trace_span_seconds;job=a;");
  EXPECT_EQ(LabelsText(request.timeseries(1)), "__name__=chakrad_trace_span_seconds;model=a;");
}

TEST(WriteRequestTest, BytesThatAreNotUtf8AreReplacedSoThatNoReceiverRefusesAll) {
  const prometheus::WriteRequest request =
      Decode(EncodeWriteRequest({{1, {.job = "a\xff"}, {{MetricId::kSpanSeconds, {}, 1}}}}));
  ASSERT_EQ(request.timeseries_size(), 1);
  EXPECT_EQ(request.timeseries(0).labels(1).value(), "a?");
}

TEST(WriteRequestTest, TheSameItemsGiveTheSameBytes) {
  const std::vector<WriteItem> items{{1, {.job = "a"}, {{MetricId::kSpanSeconds, {}, 1}}}};
  EXPECT_EQ(EncodeWriteRequest(items), EncodeWriteRequest(items));
  EXPECT_EQ(CountSamples(items), 1);
}

// The bytes that protobuf's encoding of Prometheus' own definition gives, by hand: a series (1)
// with the label (1) __name__ (1) = up (2), and the sample (2) of 1.0 (1, fixed64) at 5 (2).
TEST(WriteRequestTest, FieldNumbersArePrometheuss) {
  std::string bytes;
  const std::string compressed = EncodeWriteRequest("up", "daemon", "", 1, 5);
  ASSERT_TRUE(snappy::Uncompress(compressed.data(), compressed.size(), &bytes));
  const std::string label = std::string("\x0a\x08__name__\x12\x02up", 14);
  const std::string sample = std::string("\x09\0\0\0\0\0\0\xf0\x3f\x10\x05", 11);
  const std::string series = "\x0a\x0e" + label + "\x12\x0b" + sample;
  EXPECT_EQ(bytes, "\x0a\x1d" + series);
}

}  // namespace
}  // namespace chakrad
