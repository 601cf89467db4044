#include "analysis/measured_breakdown.h"

#include <algorithm>
#include <limits>

#include "absl/status/statusor.h"
#include "common/check.h"
#include "common/saturating.h"
#include "trace/model/rank_trace.h"
#include "trace/model/timeline.h"
#include "trace/model/trace.h"

namespace chakrad {
namespace {

bool IsWork(const RankTrace& rank, uint32_t node) {
  if ((rank.flags[node] & RankTrace::kAnnotation) != 0) return false;
  const NodeType type = rank.type[node];
  return type == NodeType::kComp || IsComm(type) || IsMemory(type);
}

IntervalKind KindOf(const RankTrace& rank, uint32_t node, bool has_device_compute) {
  if (IsComm(rank.type[node])) return IntervalKind::kComm;
  if (IsMemory(rank.type[node])) return IntervalKind::kMemory;
  return rank.is_host(node) && has_device_compute ? IntervalKind::kHost : IntervalKind::kCompute;
}

struct Span {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
};

// As SummarizeRank has it: every node that tells its start.
Span SpanOf(const RankTrace& rank) {
  Span span;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    const int64_t start_ns = rank.start_ns[node];
    if (start_ns == kUnknownNs) continue;
    span.first_ns = std::min(span.first_ns, start_ns);
    span.last_ns =
        std::max(span.last_ns, SaturatingAdd(start_ns, std::max<int64_t>(rank.dur_ns[node], 0)));
  }
  return span;
}

}  // namespace

std::optional<RankBreakdown> MeasuredRankBreakdown(const RankTrace& rank) {
  const Span span = SpanOf(rank);
  if (span.last_ns <= span.first_ns) return std::nullopt;
  const int64_t span_ns = SaturatingSubtract(span.last_ns, span.first_ns);
  const bool has_device_compute = rank.HasDeviceCompute();
  std::vector<TimelineInterval> intervals;
  intervals.reserve(rank.size());
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (rank.start_ns[node] == kUnknownNs || !IsWork(rank, node)) continue;
    TimelineInterval interval;
    interval.kind = KindOf(rank, node, has_device_compute);
    if (interval.kind == IntervalKind::kHost) continue;
    // A host operation's interval contains its waiting for the communication that
    // it calls, which would hide that communication from itself.
    const bool host_computes = interval.kind == IntervalKind::kCompute && !has_device_compute;
    int64_t dur_ns = host_computes ? rank.work_ns[node] : kUnknownNs;
    if (dur_ns < 0) dur_ns = rank.dur_ns[node];
    if (dur_ns <= 0) continue;
    interval.node = node;
    interval.start_ps = SaturatingSubtract(rank.start_ns[node], span.first_ns);
    interval.end_ps = std::min(SaturatingAdd(interval.start_ps, dur_ns), span_ns);
    intervals.push_back(interval);
  }
  absl::StatusOr<RankBreakdown> breakdown = ComputeRankBreakdown(rank.rank, span_ns, intervals);
  CHECK(breakdown.ok()) << breakdown.status();  // All are within the span.
  return *breakdown;
}

void MeasuredBreakdownSum::Add(const RankTrace& rank) {
  const std::optional<RankBreakdown> measured = MeasuredRankBreakdown(rank);
  if (!measured.has_value()) return;
  const auto share = [&measured](int64_t part) {
    return static_cast<double>(part) / static_cast<double>(measured->end_ps);
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
