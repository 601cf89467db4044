#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/breakdown/time_breakdown.h"
#include "analysis/metrics/trace_metrics.h"
#include "chakrad/v1/analysis.pb.h"
#include "server/analysis/list_budget.h"
#include "server/analysis/notices.h"
#include "server/analysis/sections.h"
#include "storage/trace_store.h"

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
  return SimulationMetrics(times, MetricLabelValue(input.variant));
}

std::vector<std::string> JobValuesOf(const TraceInfo& stored) {
  std::vector<int32_t> ranks;
  for (const RankSummary& rank : stored.ranks) ranks.push_back(rank.rank);
  std::sort(ranks.begin(), ranks.end());
  return JobLabelValues(stored.labels, ranks, stored.world_size);
}

void ToProto(const MetricSample& sample, const std::vector<std::string>& job_values,
             v1::Metric* metric) {
  const MetricFamily& family = FamilyOf(sample.id);
  metric->set_name(std::string(family.name));
  metric->set_value(sample.value);
  auto& labels = *metric->mutable_labels();
  for (size_t i = 0; i < job_values.size(); ++i) labels[std::string(kJobLabels[i])] = job_values[i];
  for (size_t i = 0; i < family.labels.size(); ++i) {
    labels[std::string(family.labels[i])] = sample.label_values[i];
  }
}

}  // namespace

// What the daemon exports: always of the whole timeline and of all ranks, with the labels of the
// stored trace, also of a simulation of more ranks. What a simulation is compared with is known
// where its record is made (server/series), not here.
void FillMetrics(const SectionInput& input, v1::TimelineAnalysis* answer) {
  if (input.stored == nullptr) return;
  if (input.some_ranks) {
    AddNotices({"metrics: left out, for they are of all ranks: name none"}, answer);
    return;
  }
  const std::vector<std::string> job_values = JobValuesOf(*input.stored);
  const int64_t offset_ps =
      input.clocks == nullptr ? 0 : LargestOffsetPs(*input.clocks, input.clocks_aligned);
  std::vector<MetricSample> samples =
      input.whole->simulated ? SimulatedSamples(input)
                             : TraceMetrics(*input.whole, offset_ps, input.stored->check.quality);
  for (const auto& [id, count] : LimitSamples(&samples)) {
    AddNotices({absl::StrCat("metrics: ", count, " samples of ", FamilyOf(id).name,
                             " beyond the first ", kMaxSamplesPerFamily, " are left out")},
               answer);
  }
  ListBudget budget;
  for (const MetricSample& sample : samples) {
    ToProto(sample, job_values, answer->add_metrics());
    if (!budget.KeepLast(answer->mutable_metrics())) break;
  }
  if (static_cast<size_t>(answer->metrics_size()) < samples.size()) {
    AddNotices({absl::StrCat("metrics: the first ", answer->metrics_size(), " of ", samples.size(),
                             " are listed")},
               answer);
  }
}

}  // namespace chakrad
