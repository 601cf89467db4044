#include "analysis/launches/launch_stats.h"

#include <algorithm>
#include <utility>

namespace chakrad {
namespace {

constexpr int64_t kNotLaunched = -1;

// When the host operation that launched `node` began; kNotLaunched where the timeline lacks it.
int64_t LaunchPs(const RankTrace& trace, const NodeTimes& times, uint32_t node) {
  for (uint32_t j = trace.dep_begin[node]; j < trace.dep_begin[node + 1]; ++j) {
    if (trace.dep_kind[j] != EdgeKind::kLaunch) continue;
    const uint32_t host = trace.dep_node[j];
    if (times.end_ps[host] > times.start_ps[host]) return times.start_ps[host];
  }
  return kNotLaunched;
}

void SetDelays(std::vector<int64_t>* delays_ps, LaunchStats* stats) {
  if (delays_ps->empty()) return;
  double sum = 0;
  for (const int64_t delay_ps : *delays_ps) {
    sum += static_cast<double>(delay_ps);
    if (delay_ps < 0) ++stats->negative_delays_count;
  }
  stats->mean_delay_ps = sum / static_cast<double>(delays_ps->size());
  const auto [min, max] = std::minmax_element(delays_ps->begin(), delays_ps->end());
  stats->min_delay_ps = *min;
  stats->max_delay_ps = *max;
  const auto at_rank = [delays_ps](size_t rank) {
    const auto nth = delays_ps->begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(delays_ps->begin(), nth, delays_ps->end());
    return *nth;
  };
  const size_t count = delays_ps->size();
  stats->median_delay_ps = at_rank((count - 1) / 2);
  stats->p99_delay_ps = at_rank((count * 99 + 99) / 100 - 1);
}

// Launches and ends of one queue.
class QueueEvents {
 public:
  void Add(int64_t launch_ps, int64_t end_ps) {
    events_.emplace_back(launch_ps, 1);
    events_.emplace_back(end_ps, -1);
  }
  bool empty() const { return events_.empty(); }

  QueueLength Length(uint16_t queue, int64_t span_ps) {
    std::sort(events_.begin(), events_.end());  // Of one time, ends first.
    QueueLength result{.queue = queue};
    int64_t length = 0, before_ps = events_.front().first;
    double area = 0;
    for (const auto& [at_ps, change] : events_) {
      area += static_cast<double>(length) * static_cast<double>(at_ps - before_ps);
      before_ps = at_ps;
      length += change;
      if (length <= result.max_length) continue;
      result.max_length = length;
      result.max_at_ps = at_ps;
    }
    result.mean_length = area / static_cast<double>(span_ps);
    return result;
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> events_;
};

}  // namespace

LaunchStats StatsOfLaunches(const RankTimeline& rank) { return StatsOfLaunches(rank, rank); }

LaunchStats StatsOfLaunches(const RankTimeline& rank, const RankTimeline& whole) {
  const RankTrace& trace = *rank.trace;
  const NodeTimes times = NodeTimesOf(whole);
  LaunchStats stats{.rank = rank.rank};
  std::vector<int64_t> delays_ps;
  std::vector<QueueEvents> events(trace.queues.size());
  for (const TimelineInterval& interval : rank.intervals) {
    if (interval.queue >= events.size() ||
        trace.queues[interval.queue].kind != Queue::Kind::kDeviceStream) {
      continue;
    }
    const int64_t launch_ps = LaunchPs(trace, times, interval.node);
    if (launch_ps == kNotLaunched) {
      ++stats.without_launch_count;
      events[interval.queue].Add(interval.start_ps, interval.end_ps);
      continue;
    }
    ++stats.launches_count;
    delays_ps.push_back(times.start_ps[interval.node] - launch_ps);
    events[interval.queue].Add(std::clamp(launch_ps, rank.start_ps, interval.start_ps),
                               interval.end_ps);
  }
  SetDelays(&delays_ps, &stats);
  for (size_t queue = 0; queue < events.size(); ++queue) {
    if (events[queue].empty()) continue;
    stats.queues.push_back(events[queue].Length(static_cast<uint16_t>(queue), rank.span_ps()));
  }
  std::stable_sort(
      stats.queues.begin(), stats.queues.end(),
      [](const QueueLength& a, const QueueLength& b) { return a.mean_length > b.mean_length; });
  return stats;
}

}  // namespace chakrad
