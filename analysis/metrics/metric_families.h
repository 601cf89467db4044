// The series that each trace and each simulation gives, in Prometheus's terms: one
// table that the scrape, remote write, the export, dashboards' tests and
// `chakra analyze` share. docs/metrics.md explains each.
//
// Every sample has the labels of its job (kJobLabels) and those of its family. Names end in
// their base unit; all are gauges: the value of one trace, not a sum over traces.
#ifndef CHAKRAD_ANALYSIS_METRICS_METRIC_FAMILIES_H_
#define CHAKRAD_ANALYSIS_METRICS_METRIC_FAMILIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

// Numbers are stored: never renumber, only append.
enum class MetricId : uint8_t {
  kSpanSeconds = 0,
  kStepSeconds = 1,
  kSteps = 2,
  kComputeSeconds = 3,
  kCommSeconds = 4,
  kExposedCommSeconds = 5,
  kExposedCommRatio = 6,
  kWorstExposedCommRatio = 7,
  kExposedMemorySeconds = 8,
  kIdleSeconds = 9,
  kIdleRatio = 10,
  kOverlapRatio = 11,
  kParallelismCommSeconds = 12,
  kParallelismExposedCommSeconds = 13,
  kCollectives = 14,
  kCollectiveBytes = 15,
  kCollectiveSeconds = 16,
  kCollectiveBusBandwidth = 17,
  kStragglerWaitSeconds = 18,
  kStragglerSkewSeconds = 19,
  kClockOffsetSeconds = 20,
  kQualityRatio = 21,
  kPeriodicityRatio = 22,
  kTracedRanks = 23,
  kWorldRanks = 24,
  kEndTimestampSeconds = 25,
  kSimulatedSpanSeconds = 26,
  kSimulatedExposedCommSeconds = 27,
  kSimulatedExposedCommRatio = 28,
  kSimulationMeasuredSeconds = 29,
  kSimulationErrorRatio = 30,
};
inline constexpr int kMetricFamiliesCount = 31;

struct MetricFamily {
  MetricId id;
  absl::string_view name;
  absl::string_view help;
  std::vector<absl::string_view> labels;  // Beyond kJobLabels.
};

// In the order of MetricId.
const std::vector<MetricFamily>& MetricFamilies();
const MetricFamily& FamilyOf(MetricId id);

// Whose series: labels `cluster`, `job`, `model` of the trace ("" where it has none), and which
// of its ranks were traced: its label `rank_group`, else "all", else "0-3,8" (RankGroupText).
inline constexpr absl::string_view kJobLabels[] = {"cluster", "job", "model", "rank_group"};

struct MetricSample {
  MetricId id;
  std::vector<std::string> label_values;  // Of MetricFamily::labels, in that order.
  double value = 0;                       // Finite.
  friend bool operator==(const MetricSample&, const MetricSample&) = default;
};

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_METRICS_METRIC_FAMILIES_H_
