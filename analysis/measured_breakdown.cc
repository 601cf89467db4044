#include "analysis/measured_breakdown.h"

#include <algorithm>

#include "trace/model/rank_trace.h"
#include "trace/model/trace.h"

namespace chakrad {

std::optional<TimeBreakdown> MeasuredRankBreakdown(const RankTrace& rank) {
  const std::optional<RankTimeline> timeline = MeasuredBusyTimeline(rank);
  if (!timeline.has_value()) return std::nullopt;
  return BreakDownWithoutCauses(*timeline);
}

void MeasuredBreakdownSum::Add(const RankTrace& rank) {
  const std::optional<TimeBreakdown> measured = MeasuredRankBreakdown(rank);
  if (!measured.has_value()) return;
  const auto share = [&measured](int64_t part_ps) {
    return static_cast<double>(part_ps) / static_cast<double>(measured->span_ps);
  };
  ++ranks_count_;
  sum_.compute_ratio += share(measured->compute_ps);
  sum_.comm_ratio += share(measured->comm_ps);
  sum_.exposed_comm_ratio += share(measured->exposed_comm_ps);
  sum_.exposed_memory_ratio += share(measured->exposed_memory_ps);
  sum_.idle_ratio += share(measured->idle_ps);
  sum_.worst_exposed_comm_ratio =
      std::max(sum_.worst_exposed_comm_ratio, share(measured->exposed_comm_ps));
}

std::optional<TraceBreakdown> MeasuredBreakdownSum::Result() const {
  if (ranks_count_ == 0) return std::nullopt;
  const double count = static_cast<double>(ranks_count_);
  TraceBreakdown mean = sum_;
  for (double* ratio : {&mean.compute_ratio, &mean.comm_ratio, &mean.exposed_comm_ratio,
                        &mean.exposed_memory_ratio, &mean.idle_ratio}) {
    *ratio /= count;
  }
  return mean;
}

std::optional<TraceBreakdown> MeasuredBreakdown(const Trace& trace) {
  MeasuredBreakdownSum sum;
  for (const RankTrace& rank : trace.ranks) sum.Add(rank);
  return sum.Result();
}

}  // namespace chakrad
