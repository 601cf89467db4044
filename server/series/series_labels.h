// The labels of a sample, as whoever takes history in wants them.
#ifndef CHAKRAD_SERVER_SERIES_SERIES_LABELS_H_
#define CHAKRAD_SERVER_SERIES_SERIES_LABELS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/metrics/metric_families.h"
#include "storage/series_store.h"

namespace chakrad {

struct SeriesLabel {
  absl::string_view name;
  absl::string_view value;
};

// Of the job and of the family, by name; without those that are empty, which to Prometheus is
// the same as not there. They point into `key` and `sample`, which has as many label values as
// its family has labels (DecodeSamples). The name of the metric is not among them.
std::vector<SeriesLabel> LabelsOf(const SeriesKey& key, const MetricSample& sample);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_SERIES_SERIES_LABELS_H_
