#include "server/remote_write/write_request.h"

#include <snappy.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/utf8.h"
#include "prometheus/remote_write.pb.h"
#include "server/series/series_labels.h"

namespace chakrad {
namespace {

constexpr char kNameLabel[] = "__name__";

using Samples = std::map<int64_t, double>;  // By time.

void AddLabel(absl::string_view name, absl::string_view value, prometheus::TimeSeries* series) {
  prometheus::Label* label = series->add_labels();
  label->set_name(name.data(), name.size());
  label->set_value(ValidUtf8(value));
}

// Labels as bytes that no other labels have: neither names nor UTF-8 have a byte 0xff.
std::string SeriesText(const WriteItem& item, const MetricSample& sample) {
  std::string text(FamilyOf(sample.id).name);
  for (const SeriesLabel& label : LabelsOf(item.key, sample)) {
    text += '\xff';
    text.append(label.name.data(), label.name.size());
    text += '\xff';
    text.append(label.value.data(), label.value.size());
  }
  return text;
}

std::string Compress(const prometheus::WriteRequest& request) {
  const std::string bytes = request.SerializeAsString();
  std::string compressed;
  snappy::Compress(bytes.data(), bytes.size(), &compressed);
  return compressed;
}

}  // namespace

int64_t CountSamples(const std::vector<WriteItem>& items) {
  int64_t count = 0;
  for (const WriteItem& item : items) count += static_cast<int64_t>(item.samples.size());
  return count;
}

std::string EncodeWriteRequest(const std::vector<WriteItem>& items) {
  struct Series {
    const WriteItem* item = nullptr;  // The first that has it: for its labels.
    const MetricSample* sample = nullptr;
    Samples samples;
  };
  std::map<std::string, Series> all;
  for (const WriteItem& item : items) {
    for (const MetricSample& sample : item.samples) {
      Series& series = all[SeriesText(item, sample)];
      if (series.item == nullptr) series.item = &item, series.sample = &sample;
      series.samples[item.time_unix_ms] = sample.value;
    }
  }
  prometheus::WriteRequest request;
  for (const auto& [text, series] : all) {
    prometheus::TimeSeries* out = request.add_timeseries();
    AddLabel(kNameLabel, FamilyOf(series.sample->id).name, out);
    for (const SeriesLabel& label : LabelsOf(series.item->key, *series.sample)) {
      AddLabel(label.name, label.value, out);
    }
    for (const auto& [time_unix_ms, value] : series.samples) {
      prometheus::Sample* sample = out->add_samples();
      sample->set_timestamp(time_unix_ms);
      sample->set_value(value);
    }
  }
  return Compress(request);
}

std::string EncodeWriteRequest(absl::string_view metric, absl::string_view label_name,
                               absl::string_view label_value, double value, int64_t time_unix_ms) {
  prometheus::WriteRequest request;
  prometheus::TimeSeries* series = request.add_timeseries();
  AddLabel(kNameLabel, metric, series);
  if (!label_value.empty()) AddLabel(label_name, label_value, series);
  prometheus::Sample* sample = series->add_samples();
  sample->set_timestamp(time_unix_ms);
  sample->set_value(value);
  return Compress(request);
}

}  // namespace chakrad
