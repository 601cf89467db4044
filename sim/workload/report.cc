// The part of Workload that says what came out.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "common/saturating.h"
#include "sim/workload/critical_path.h"
#include "sim/workload/workload.h"
#include "trace/memory/tensor_lifetimes.h"

namespace chakrad {

void Workload::Report(SimResult* result) {
  result->nodes_count = nodes_count_;
  result->ranks.resize(trace_->world_size);
  result->times.resize(trace_->world_size);
  for (const Cohort& cohort : cohorts_) result->end_ps = std::max(result->end_ps, cohort.end_ps);
  for (const Cohort& cohort : cohorts_) {
    result->classes.push_back({cohort.ranks[0], static_cast<int32_t>(cohort.ranks.size())});
    RankTime time = cohort.account.Finish(cohort.end_ps, result->end_ps);
    time.wait_ps = cohort.wait_ps;
    // Whom it waited for most; of equals the first.
    std::pair<uint32_t, int32_t> most{kNone, kNoRank};
    int64_t most_ps = 0;
    for (const auto& [whom, wait_ps] : cohort.wait_ps_for) {
      if (wait_ps > most_ps) most = whom, most_ps = wait_ps;
    }
    for (const int32_t rank : cohort.ranks) {
      if (most_ps > 0 && most.first == kNone) time.waits_most_for_rank = most.second;
      if (most_ps > 0 && most.first != kNone) {
        time.waits_most_in_group = parts_.cast->GroupFor(rank, most.first);
        time.waits_most_for_rank =
            rendezvous_.IndexOf(time.waits_most_in_group).RankAt(most.second);
      }
      int64_t bytes = cohort.network_bytes;
      if (engine_ != nullptr) {
        const int64_t more = engine_->network_bytes(rank);
        bytes = more > INT64_MAX - bytes ? INT64_MAX : bytes + more;
      }
      result->ranks[rank] = {rank, cohort.end_ps, bytes};
      result->times[rank] = time;
    }
  }
  std::sort(
      result->classes.begin(), result->classes.end(),
      [](const RankClass& a, const RankClass& b) { return a.representative < b.representative; });
  result->collectives = log_.Take(&result->collectives_dropped);
  if (parts_.options->memory_use) result->memory = MemoryPeaks();
  if (parts_.options->critical_path) {
    result->critical_path = FindCriticalPath(cohorts_, cohort_of_, *parts_.cast, &rendezvous_);
  }
}

// Of a switch only the ways up count: what goes up comes down.
std::vector<DimResult> Workload::Dims(const std::vector<LinkUse>& links, int64_t end_ps) const {
  std::vector<DimTraffic> traffic = traffic_;
  for (const LinkUse& use : links) {
    if (use.src < 0) continue;
    traffic[use.dim].messages_count =
        SaturatingAdd(traffic[use.dim].messages_count, use.messages_count);
    traffic[use.dim].bytes += use.bytes;
  }
  std::vector<DimResult> dims;
  for (size_t dim = 0; dim < traffic.size(); ++dim) {
    DimResult result{static_cast<int32_t>(dim), traffic[dim].messages_count, 0, 0};
    result.bytes = traffic[dim].bytes < 9e18 ? std::llround(traffic[dim].bytes) : INT64_MAX;
    const double end_ns = static_cast<double>(end_ps) / static_cast<double>(kPsPerNs);
    const double capacity =
        static_cast<double>(NpusCount(*system_)) * system_->dims[dim].bytes_per_ns * end_ns;
    if (capacity > 0) result.utilisation = traffic[dim].bytes / capacity;
    dims.push_back(result);
  }
  return dims;
}

// Ranks of a cohort use memory alike.
std::vector<MemoryPeak> Workload::MemoryPeaks() const {
  std::vector<MemoryPeak> peaks;
  for (const Cohort& cohort : cohorts_) {
    const std::vector<MemoryUse> uses = ComputeMemoryUse(FindTensorLifetimes(*cohort.trace),
                                                         cohort.start_ps, cohort.node_end_ps, 1);
    for (const int32_t rank : cohort.ranks) {
      for (const MemoryUse& use : uses) {
        peaks.push_back({rank, use.device, use.resident_bytes, use.peak_bytes, use.peak_at_ps});
      }
    }
  }
  std::stable_sort(peaks.begin(), peaks.end(),
                   [](const MemoryPeak& a, const MemoryPeak& b) { return a.rank < b.rank; });
  return peaks;
}

}  // namespace chakrad
