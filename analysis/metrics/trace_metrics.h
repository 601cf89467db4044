// The samples of one trace or one simulation, and whose they are: the one function that the
// scrape, remote write, the export and `chakra analyze` answer from. docs/metrics.md tells what
// each family means; docs/analysis.md how its number is computed.
#ifndef CHAKRAD_ANALYSIS_METRICS_TRACE_METRICS_H_
#define CHAKRAD_ANALYSIS_METRICS_TRACE_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/clocks/clock_offsets.h"
#include "analysis/metrics/metric_families.h"
#include "analysis/timeline/timeline.h"

namespace chakrad {

// The longest value of a label, in bytes: a line of a scrape has seven of them.
inline constexpr size_t kMaxMetricLabelBytes = 128;
// Label values of one family and trace: some 20 types times 12 sizes of collectives are more than
// any real trace has at once.
inline constexpr size_t kMaxSamplesPerFamily = 64;

// A value that every receiver takes: valid UTF-8, control characters as spaces, at most
// kMaxMetricLabelBytes; of a longer one the beginning, '~' and 16 hex digits of its SHA-256, so
// that two long ones stay two.
std::string MetricLabelValue(absl::string_view text);

// "all" where every rank of the world was traced, else "0-3,8".
std::string RankGroupText(const std::vector<int32_t>& ranks, int32_t world_size);

// Values of kJobLabels, in that order, each a MetricLabelValue. `ranks`: the traced ones.
std::vector<std::string> JobLabelValues(const std::map<std::string, std::string>& labels,
                                        const std::vector<int32_t>& ranks, int32_t world_size);

// Of a recorded trace: `job` is its whole timeline, clocks aligned; `clock_offset_ps` the largest
// correction that needed; `quality` the score of the conformance suite. In the order of MetricId,
// each label combination once, every value finite. What the trace does not tell (steps, groups)
// has no sample. Cost: that of the analyses. Thread-safe.
std::vector<MetricSample> TraceMetrics(const JobTimeline& job, int64_t clock_offset_ps,
                                       double quality);

// Of the offsets that were added to clocks the largest, whatever its sign; 0 where none were.
int64_t LargestOffsetPs(const ClockEstimate& clocks, bool aligned);

// Of a simulation: its end, and its ranks' mean exposed communication. `measured_ps`: the
// recorded time to compare with, where there is one.
struct SimulatedTimes {
  int64_t end_ps = 0;
  double exposed_comm_ps = 0;
  std::optional<int64_t> measured_ps;
};
std::vector<MetricSample> SimulationMetrics(const SimulatedTimes& times, absl::string_view variant);

// Keeps the first kMaxSamplesPerFamily of each family. Returns how many of which family went.
std::map<MetricId, int64_t> LimitSamples(std::vector<MetricSample>* samples);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_METRICS_TRACE_METRICS_H_
