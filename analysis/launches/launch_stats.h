// How long device operations wait after the host has launched them, and how many wait.
// Definitions and example: docs/analysis.md#launches.
#ifndef CHAKRAD_ANALYSIS_LAUNCHES_LAUNCH_STATS_H_
#define CHAKRAD_ANALYSIS_LAUNCHES_LAUNCH_STATS_H_

#include <cstdint>
#include <vector>

#include "analysis/timeline/timeline.h"

namespace chakrad {

// Operations of one device queue that were launched and are not yet through.
struct QueueLength {
  uint16_t queue = 0;      // Index into the rank's queues.
  double mean_length = 0;  // Over the rank's span.
  int64_t max_length = 0;
  int64_t max_at_ps = 0;  // The first time.
  friend bool operator==(const QueueLength&, const QueueLength&) = default;
};

// Of one rank. A delay lasts from the start of the host operation that launched an operation to
// the operation's own start.
struct LaunchStats {
  int32_t rank = 0;
  int64_t launches_count = 0;        // Operations whose launch was recorded.
  int64_t without_launch_count = 0;  // The others.
  // Of delays, negative ones included; 0 without launches. A percentile is a delay that occurred.
  int64_t min_delay_ps = 0;
  int64_t median_delay_ps = 0;  // Of an even number the lower.
  int64_t p99_delay_ps = 0;     // 99 % are at most this long.
  int64_t max_delay_ps = 0;
  double mean_delay_ps = 0;
  int64_t negative_delays_count = 0;  // Began before the host did: the clocks disagree.
  std::vector<QueueLength> queues;    // Those with operations, by mean length, longest first.
};

// Looks at operations on device streams. An operation without a launch is in its queue while it
// runs. O(k log k) for k intervals. Thread-safe: only reads.
LaunchStats StatsOfLaunches(const RankTimeline& rank);
// The same of a part of `whole`, in which launches (and starts) before the part are looked up: the
// host runs ahead of the device, so that much of a step was launched before the step.
LaunchStats StatsOfLaunches(const RankTimeline& rank, const RankTimeline& whole);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_LAUNCHES_LAUNCH_STATS_H_
