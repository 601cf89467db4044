#include "tests/history/history_records.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/metrics/metric_families.h"
#include "common/check.h"
#include "server/series/sample_codec.h"
#include "server/series/series_labels.h"

namespace chakrad {
namespace {

// Families without labels: 10; idle by 4 causes; 4 families of 2 types and 2 sizes: 16.
std::vector<MetricSample> SamplesWithoutValues() {
  std::vector<MetricSample> samples;
  for (const MetricId id :
       {MetricId::kSpanSeconds, MetricId::kStepSeconds, MetricId::kComputeSeconds,
        MetricId::kCommSeconds, MetricId::kExposedCommSeconds, MetricId::kExposedCommRatio,
        MetricId::kOverlapRatio, MetricId::kQualityRatio, MetricId::kStragglerWaitSeconds,
        MetricId::kEndTimestampSeconds}) {
    samples.push_back({id, {}, 0});
  }
  for (const char* cause : {"host_bound", "kernel_wait", "sync", "other"}) {
    samples.push_back({MetricId::kIdleSeconds, {cause}, 0});
  }
  for (const MetricId id : {MetricId::kCollectives, MetricId::kCollectiveBytes,
                            MetricId::kCollectiveSeconds, MetricId::kCollectiveBusBandwidth}) {
    for (const char* type : {"ALL_REDUCE", "ALL_GATHER"}) {
      for (const char* size : {"le_64KiB", "le_16MiB"}) samples.push_back({id, {type, size}, 0});
    }
  }
  CHECK(samples.size() == kHistorySamples);
  return samples;
}

}  // namespace

SeriesRecord HistoryRecord(const HistoryShape& shape, int job, int number) {
  SeriesRecord record;
  record.source = absl::StrCat("traces/t-", job, "-", number);
  record.time_unix_ms = shape.newest_unix_ms - job * int64_t{1'001} -
                        (shape.records_per_job - 1 - number) * shape.step_ms;
  record.key = {absl::StrCat("cluster-", job % 4), absl::StrCat("job-", job), "gpt", "all"};
  std::vector<MetricSample> samples = SamplesWithoutValues();
  for (size_t i = 0; i < samples.size(); ++i) {
    // Distinct in a series, and not short in binary.
    samples[i].value = (number + 1) * 1.1 + static_cast<double>(i) / 3 + job * 1e4;
  }
  record.samples = EncodeSamples(samples);
  return record;
}

std::vector<SeriesRecord> HistoryRecords(const HistoryShape& shape) {
  std::vector<SeriesRecord> records;
  for (int number = 0; number < shape.records_per_job; ++number) {
    for (int job = shape.jobs_count - 1; job >= 0; --job) {
      records.push_back(HistoryRecord(shape, job, number));
    }
  }
  return records;
}

HistorySamples SamplesOf(const std::vector<SeriesRecord>& records) {
  HistorySamples all;
  for (const SeriesRecord& record : records) {
    const auto samples = DecodeSamples(record.samples);
    CHECK(samples.ok());
    for (const MetricSample& sample : *samples) {
      std::string text(FamilyOf(sample.id).name);
      char before = '{';
      for (const SeriesLabel& label : LabelsOf(record.key, sample)) {
        text += before;
        absl::StrAppend(&text, label.name, "=", label.value);
        before = ',';
      }
      text += '}';
      all[std::move(text)][record.time_unix_ms] = sample.value;
    }
  }
  return all;
}

}  // namespace chakrad
