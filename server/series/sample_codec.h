// The samples of a stored series record as bytes (series_samples.proto).
#ifndef CHAKRAD_SERVER_SERIES_SAMPLE_CODEC_H_
#define CHAKRAD_SERVER_SERIES_SAMPLE_CODEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/metrics/metric_families.h"

namespace chakrad {

// Some 12 bytes a sample and its label values. CHECKs that each sample has its family's number
// of label values.
std::string EncodeSamples(const std::vector<MetricSample>& samples);

// In their order. Samples that this version cannot tell (a metric of a newer version, another
// number of labels, a value that is not finite) are left out and, where `unknown_count` is not
// null, added to it: a daemon that was set back to an older version goes on. DATA_LOSS: the
// bytes are no samples. O(bytes).
absl::StatusOr<std::vector<MetricSample>> DecodeSamples(absl::string_view bytes,
                                                        int64_t* unknown_count = nullptr);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_SERIES_SAMPLE_CODEC_H_
