#include "analysis/exposed_comm.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/intervals.h"
#include "common/status.h"

namespace chakrad {

absl::StatusOr<RankBreakdown> ComputeRankBreakdown(int32_t rank, int64_t end_ps,
                                                   const std::vector<TimelineInterval>& intervals) {
  std::array<std::vector<Interval>, kIntervalKindsCount> by_kind;
  for (const TimelineInterval& interval : intervals) {
    if (interval.end_ps < interval.start_ps || interval.start_ps < 0 || interval.end_ps > end_ps) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank ", rank, ": interval [", interval.start_ps, ", ", interval.end_ps,
                       ") ps of node index ", interval.node, " is not within [0, ", end_ps, ")"));
    }
    by_kind[static_cast<size_t>(interval.kind)].push_back({interval.start_ps, interval.end_ps});
  }
  const auto union_of = [&by_kind](IntervalKind kind) {
    return UnionOf(std::move(by_kind[static_cast<size_t>(kind)]));
  };
  const std::vector<Interval> compute = union_of(IntervalKind::kCompute);
  const std::vector<Interval> comm = union_of(IntervalKind::kComm);
  const std::vector<Interval> memory = union_of(IntervalKind::kMemory);
  std::vector<Interval> compute_or_comm(compute.size() + comm.size());
  std::merge(compute.begin(), compute.end(), comm.begin(), comm.end(), compute_or_comm.begin(),
             [](const Interval& a, const Interval& b) { return a.start < b.start; });
  compute_or_comm = UnionOf(std::move(compute_or_comm));

  RankBreakdown breakdown;
  breakdown.rank = rank;
  breakdown.end_ps = end_ps;
  breakdown.compute_ps = LengthOf(compute);
  breakdown.comm_ps = LengthOf(comm);
  breakdown.exposed_comm_ps = LengthOutside(comm, compute);
  breakdown.exposed_memory_ps = LengthOutside(memory, compute_or_comm);
  breakdown.idle_ps = end_ps - LengthOf(compute_or_comm) - breakdown.exposed_memory_ps;
  return breakdown;
}

}  // namespace chakrad
