#include "server/series/sample_codec.h"

#include <cmath>
#include <utility>

#include "common/check.h"
#include "server/series/series_samples.pb.h"

namespace chakrad {

std::string EncodeSamples(const std::vector<MetricSample>& samples) {
  series::Samples message;
  for (const MetricSample& sample : samples) {
    CHECK(sample.label_values.size() == FamilyOf(sample.id).labels.size());
    series::Sample* out = message.add_samples();
    out->set_metric(static_cast<uint32_t>(sample.id));
    for (const std::string& value : sample.label_values) out->add_label_values(value);
    out->set_value(sample.value);
  }
  return message.SerializeAsString();
}

absl::StatusOr<std::vector<MetricSample>> DecodeSamples(absl::string_view bytes,
                                                        int64_t* unknown_count) {
  series::Samples message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("series record: its samples are damaged");
  }
  std::vector<MetricSample> samples;
  samples.reserve(static_cast<size_t>(message.samples_size()));
  for (series::Sample& stored : *message.mutable_samples()) {
    const bool known = stored.metric() < kMetricFamiliesCount && std::isfinite(stored.value()) &&
                       static_cast<size_t>(stored.label_values_size()) ==
                           FamilyOf(static_cast<MetricId>(stored.metric())).labels.size();
    if (!known) {
      if (unknown_count != nullptr) ++*unknown_count;
      continue;
    }
    MetricSample& sample = samples.emplace_back();
    sample.id = static_cast<MetricId>(stored.metric());
    for (std::string& value : *stored.mutable_label_values()) {
      sample.label_values.push_back(std::move(value));
    }
    sample.value = stored.value();
  }
  return samples;
}

}  // namespace chakrad
