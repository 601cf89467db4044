#include <cstdint>
#include <string>
#include <vector>

#include "analysis/breakdown/time_breakdown.h"
#include "analysis/metrics/trace_metrics.h"
#include "chakrad/v1/analysis.pb.h"
#include "server/analysis/sections.h"

namespace chakrad {
namespace {

std::vector<MetricSample> SimulatedSamples(const SectionInput& input) {
  SimulatedTimes times;
  times.end_ps = input.whole->end_ps();
  const std::vector<TimeBreakdown> ranks = BreakDownTime(*input.whole);
  for (const TimeBreakdown& rank : ranks) {
    times.exposed_comm_ps +=
        static_cast<double>(rank.exposed_comm_ps) / static_cast<double>(ranks.size());
  }
  return SimulationMetrics(times, input.variant);
}

}  // namespace

// Always of the whole timeline: that is what the daemon exports. What a simulation is compared
// with is known where its record is made (server/series), not here.
void FillMetrics(const SectionInput& input, v1::TimelineAnalysis* answer) {
  const Trace& trace = *input.whole->trace;
  std::vector<int32_t> ranks;
  for (const RankTrace& rank : trace.ranks) ranks.push_back(rank.rank);
  const std::vector<std::string> job_values = JobLabelValues(trace.labels, ranks, trace.world_size);
  const int64_t offset_ps =
      input.clocks == nullptr ? 0 : LargestOffsetPs(*input.clocks, input.clocks_aligned);
  std::vector<MetricSample> samples =
      input.whole->simulated ? SimulatedSamples(input)
                             : TraceMetrics(*input.whole, offset_ps, input.check->quality);
  LimitSamples(&samples);
  for (const MetricSample& sample : samples) {
    const MetricFamily& family = FamilyOf(sample.id);
    v1::Metric* metric = answer->add_metrics();
    metric->set_name(std::string(family.name));
    metric->set_value(sample.value);
    auto& labels = *metric->mutable_labels();
    for (size_t i = 0; i < job_values.size(); ++i) {
      labels[std::string(kJobLabels[i])] = job_values[i];
    }
    for (size_t i = 0; i < family.labels.size(); ++i) {
      labels[std::string(family.labels[i])] = sample.label_values[i];
    }
  }
}

}  // namespace chakrad
