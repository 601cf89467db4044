#include "analysis/metrics/trace_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "analysis/breakdown/time_breakdown.h"
#include "analysis/collectives/collective_stats.h"
#include "analysis/collectives/match_comm.h"
#include "analysis/groups/group_stats.h"
#include "analysis/groups/parallelism.h"
#include "analysis/periodicity/periodicity.h"
#include "analysis/skew/skew.h"
#include "analysis/steps/step_times.h"
#include "analysis/steps/steps.h"
#include "common/saturating.h"
#include "common/sha256.h"
#include "common/utf8.h"

namespace chakrad {
namespace {

double Seconds(double ps) { return ps * 1e-12; }
double Seconds(int64_t ps) { return Seconds(static_cast<double>(ps)); }

// The one place where a value is refused that no receiver takes.
void Add(MetricId id, double value, std::vector<MetricSample>* samples,
         std::vector<std::string> labels = {}) {
  if (std::isfinite(value)) samples->push_back({id, std::move(labels), value});
}

void AddTimes(const JobTimeline& job, std::vector<MetricSample>* samples) {
  const std::vector<TimeBreakdown> ranks = BreakDownTime(job);
  if (ranks.empty()) return;
  const auto mean = [&](MetricId id, int64_t TimeBreakdown::*part,
                        std::vector<std::string> labels = {}) {
    double sum_ps = 0;
    for (const TimeBreakdown& rank : ranks) sum_ps += static_cast<double>(rank.*part);
    Add(id, Seconds(sum_ps / static_cast<double>(ranks.size())), samples, std::move(labels));
  };
  mean(MetricId::kSpanSeconds, &TimeBreakdown::span_ps);
  mean(MetricId::kComputeSeconds, &TimeBreakdown::compute_ps);
  mean(MetricId::kCommSeconds, &TimeBreakdown::comm_ps);
  mean(MetricId::kExposedCommSeconds, &TimeBreakdown::exposed_comm_ps);
  mean(MetricId::kExposedMemorySeconds, &TimeBreakdown::exposed_memory_ps);
  mean(MetricId::kIdleSeconds, &TimeBreakdown::idle_host_bound_ps, {"host_bound"});
  mean(MetricId::kIdleSeconds, &TimeBreakdown::idle_kernel_wait_ps, {"kernel_wait"});
  mean(MetricId::kIdleSeconds, &TimeBreakdown::idle_sync_ps, {"sync"});
  mean(MetricId::kIdleSeconds, &TimeBreakdown::idle_other_ps, {"other"});
  const TimeShares shares = MeanShares(ranks);
  Add(MetricId::kExposedCommRatio, shares.exposed_comm_ratio, samples);
  Add(MetricId::kWorstExposedCommRatio, shares.worst_exposed_comm_ratio, samples);
  Add(MetricId::kIdleRatio, shares.idle_ratio, samples);
  Add(MetricId::kOverlapRatio, shares.overlap_ratio, samples);
}

void AddCollectives(const JobTimeline& job, const MatchedComm& matches,
                    std::vector<MetricSample>* samples) {
  for (const CollectiveStats& row : ComputeCollectiveStats(job, matches)) {
    const std::vector<std::string> labels{std::string(row.type), std::string(row.size_bucket)};
    Add(MetricId::kCollectives, static_cast<double>(row.count), samples, labels);
    Add(MetricId::kCollectiveBytes, static_cast<double>(row.bytes), samples, labels);
    Add(MetricId::kCollectiveSeconds, Seconds(row.total_ps), samples, labels);
    // 0 says that there is none: a line at 0 would look like a broken network.
    if (row.bus_bandwidth > 0) {
      Add(MetricId::kCollectiveBusBandwidth, row.bus_bandwidth, samples, labels);
    }
  }
}

void AddSteps(const JobTimeline& job, std::vector<MetricSample>* samples) {
  const JobSteps steps = FindSteps(job);
  if (steps.steps.empty()) return;
  double sum_ps = 0;
  std::vector<double> spans_ps;
  for (const StepTime& step : TimesOfSteps(job, steps)) {
    sum_ps += step.mean_span_ps;
    spans_ps.push_back(step.mean_span_ps);
  }
  const double count = static_cast<double>(steps.steps.size());
  Add(MetricId::kStepSeconds, Seconds(sum_ps / count), samples);
  Add(MetricId::kSteps, count, samples);
  if (spans_ps.size() >= 2) Add(MetricId::kPeriodicityRatio, PeriodicityOf(spans_ps), samples);
}

void AddParallelism(const JobTimeline& job, std::vector<MetricSample>* samples) {
  if (job.ranks.empty()) return;
  const double ranks_count = static_cast<double>(job.ranks.size());
  for (const ParallelismStats& row : SumByParallelism(ComputeGroupStats(job))) {
    const std::vector<std::string> labels{std::string(ParallelismName(row.parallelism))};
    Add(MetricId::kParallelismCommSeconds, Seconds(static_cast<double>(row.comm_ps) / ranks_count),
        samples, labels);
    Add(MetricId::kParallelismExposedCommSeconds,
        Seconds(static_cast<double>(row.exposed_ps) / ranks_count), samples, labels);
  }
}

// Means over the collectives of which two ranks or more were traced: without one there is none.
void AddSkew(const JobTimeline& job, const MatchedComm& matches,
             std::vector<MetricSample>* samples) {
  const SkewStats skew = ComputeSkew(job, matches, /*top=*/0);
  if (skew.instances_count == 0) return;
  Add(MetricId::kStragglerWaitSeconds, Seconds(skew.mean_wait_ps), samples);
  Add(MetricId::kStragglerSkewSeconds, Seconds(skew.mean_skew_ps), samples);
}

}  // namespace

std::string MetricLabelValue(absl::string_view text) {
  std::string value = ValidUtf8(text, kMaxMetricLabelBytes);
  if (text.size() > kMaxMetricLabelBytes) {
    const std::string hash = absl::BytesToHexString(Sha256Of(text).substr(0, 8));
    value = absl::StrCat(ValidUtf8(text, kMaxMetricLabelBytes - 1 - hash.size()), "~", hash);
  }
  for (char& c : value) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return value;
}

std::string RankGroupText(const std::vector<int32_t>& ranks, int32_t world_size) {
  if (static_cast<int64_t>(ranks.size()) >= world_size) return "all";
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ",", ranks[i]);
    if (last > i) absl::StrAppend(&text, "-", ranks[last]);
    i = last + 1;
  }
  return text;
}

std::vector<std::string> JobLabelValues(const std::map<std::string, std::string>& labels,
                                        const std::vector<int32_t>& ranks, int32_t world_size) {
  std::vector<std::string> values;
  for (const absl::string_view name : kJobLabels) {
    const auto it = labels.find(std::string(name));
    if (it != labels.end() && !it->second.empty()) {
      values.push_back(MetricLabelValue(it->second));
    } else {
      values.push_back(name == "rank_group" ? MetricLabelValue(RankGroupText(ranks, world_size))
                                            : "");
    }
  }
  return values;
}

std::vector<MetricSample> TraceMetrics(const JobTimeline& job, int64_t clock_offset_ps,
                                       double quality) {
  std::vector<MetricSample> samples;
  AddTimes(job, &samples);
  AddSteps(job, &samples);
  AddParallelism(job, &samples);
  const MatchedComm matches = MatchComm(job);
  AddCollectives(job, matches, &samples);
  AddSkew(job, matches, &samples);
  Add(MetricId::kClockOffsetSeconds, Seconds(clock_offset_ps), &samples);
  Add(MetricId::kQualityRatio, quality, &samples);
  Add(MetricId::kTracedRanks, static_cast<double>(job.ranks.size()), &samples);
  Add(MetricId::kWorldRanks, job.trace->world_size, &samples);
  if (job.base_unix_ns != 0) {
    Add(MetricId::kEndTimestampSeconds,
        static_cast<double>(job.base_unix_ns) * 1e-9 + Seconds(job.end_ps()), &samples);
  }
  std::stable_sort(samples.begin(), samples.end(),
                   [](const MetricSample& a, const MetricSample& b) { return a.id < b.id; });
  return samples;
}

int64_t LargestOffsetPs(const ClockEstimate& clocks, bool aligned) {
  int64_t largest_ps = 0;
  if (!aligned) return 0;
  for (const ClockOffset& offset : clocks.offsets) {
    largest_ps = std::max({largest_ps, offset.offset_ps, SaturatingSubtract(0, offset.offset_ps)});
  }
  return largest_ps;
}

std::vector<MetricSample> SimulationMetrics(const SimulatedTimes& times,
                                            absl::string_view variant) {
  std::vector<MetricSample> samples;
  const std::vector<std::string> labels{MetricLabelValue(variant)};
  const double end_ps = static_cast<double>(times.end_ps);
  Add(MetricId::kSimulatedSpanSeconds, Seconds(times.end_ps), &samples, labels);
  Add(MetricId::kSimulatedExposedCommSeconds, Seconds(times.exposed_comm_ps), &samples, labels);
  Add(MetricId::kSimulatedExposedCommRatio, end_ps > 0 ? times.exposed_comm_ps / end_ps : 0,
      &samples, labels);
  if (times.measured_ps.has_value() && *times.measured_ps > 0) {
    const double measured_ps = static_cast<double>(*times.measured_ps);
    Add(MetricId::kSimulationMeasuredSeconds, Seconds(measured_ps), &samples, labels);
    Add(MetricId::kSimulationErrorRatio, end_ps / measured_ps - 1, &samples, labels);
  }
  return samples;
}

std::map<MetricId, int64_t> LimitSamples(std::vector<MetricSample>* samples) {
  std::array<size_t, kMetricFamiliesCount> kept{};
  std::map<MetricId, int64_t> dropped;
  const auto last = std::remove_if(samples->begin(), samples->end(), [&](const MetricSample& s) {
    if (kept[static_cast<size_t>(s.id)]++ < kMaxSamplesPerFamily) return false;
    ++dropped[s.id];
    return true;
  });
  samples->erase(last, samples->end());
  return dropped;
}

}  // namespace chakrad
