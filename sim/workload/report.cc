// The part of Workload that says what came out.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/workload/critical_path.h"
#include "sim/workload/workload.h"

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
  if (parts_.options->critical_path) {
    result->critical_path = FindCriticalPath(cohorts_, cohort_of_, *parts_.cast, &rendezvous_);
  }
}

}  // namespace chakrad
