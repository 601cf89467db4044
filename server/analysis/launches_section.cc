#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "analysis/launches/launch_stats.h"
#include "chakrad/v1/analysis.pb.h"
#include "server/analysis/list_budget.h"
#include "server/analysis/notices.h"
#include "server/analysis/sections.h"
#include "trace/model/queue_name.h"

namespace chakrad {
namespace {

// Device queues of a rank that are listed: real ones have a dozen.
constexpr size_t kMaxQueuesListed = 64;

void ToProto(const LaunchStats& stats, const RankTrace& trace, v1::LaunchStats* proto) {
  proto->set_rank(stats.rank);
  proto->set_launches_count(stats.launches_count);
  proto->set_without_launch_count(stats.without_launch_count);
  proto->set_min_delay_ps(stats.min_delay_ps);
  proto->set_median_delay_ps(stats.median_delay_ps);
  proto->set_p99_delay_ps(stats.p99_delay_ps);
  proto->set_max_delay_ps(stats.max_delay_ps);
  proto->set_mean_delay_ps(stats.mean_delay_ps);
  proto->set_negative_delays_count(stats.negative_delays_count);
  for (const QueueLength& queue : stats.queues) {
    if (static_cast<size_t>(proto->queues_size()) == kMaxQueuesListed) break;
    v1::QueueLength* length = proto->add_queues();
    length->set_queue(QueueName(trace.queues[queue.queue]));
    length->set_mean_length(queue.mean_length);
    length->set_max_length(queue.max_length);
    length->set_max_at_ps(queue.max_at_ps);
  }
}

// Ranks that have no part in a step are missing from it.
const RankTimeline& WholeOf(const RankTimeline& rank, const JobTimeline& whole) {
  const auto found =
      std::lower_bound(whole.ranks.begin(), whole.ranks.end(), rank.rank,
                       [](const RankTimeline& a, int32_t number) { return a.rank < number; });
  return found != whole.ranks.end() && found->rank == rank.rank ? *found : rank;
}

}  // namespace

void FillLaunches(const SectionInput& input, v1::TimelineAnalysis* answer) {
  ListBudget budget;
  for (const RankTimeline& rank : input.job->ranks) {
    const LaunchStats stats = StatsOfLaunches(rank, WholeOf(rank, *input.whole));
    if (stats.queues.empty()) continue;  // No device.
    ToProto(stats, *rank.trace, answer->add_launches());
    if (!budget.KeepLast(answer->mutable_launches())) {
      AddNotices(
          {absl::StrCat("launches: only the first ", answer->launches_size(), " ranks are listed")},
          answer);
      break;
    }
  }
}

}  // namespace chakrad
