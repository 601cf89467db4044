// The body of a Prometheus remote-write request (protocol 1.0).
#ifndef CHAKRAD_SERVER_REMOTE_WRITE_WRITE_REQUEST_H_
#define CHAKRAD_SERVER_REMOTE_WRITE_WRITE_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/metrics/metric_families.h"
#include "storage/series_store.h"

namespace chakrad {

// What one stored record says: all of one time.
struct WriteItem {
  int64_t time_unix_ms = 0;
  SeriesKey key;
  std::vector<MetricSample> samples;
  int64_t added_unix_ms = 0;  // SeriesRecord's.
};

int64_t CountSamples(const std::vector<WriteItem>& items);

// Protobuf, then snappy's block format. Series are in the order of their labels, labels in that
// of their names (so __name__ is first), samples of a series in that of their times; of two
// with the same time the one of the later item counts. The same items always give the same
// bytes. Label values are made valid UTF-8. O(n log n).
std::string EncodeWriteRequest(const std::vector<WriteItem>& items);

// The same of one sample of a metric with one label, whose name is behind __name__; without it
// where `label_value` is empty.
std::string EncodeWriteRequest(absl::string_view metric, absl::string_view label_name,
                               absl::string_view label_value, double value, int64_t time_unix_ms);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_REMOTE_WRITE_WRITE_REQUEST_H_
