// Breakdowns of recorded files as HolisticTraceAnalysis defines them, by our own code: over the
// time from the first start to the last end on the device. docs/analysis.md has the comparison.
//
//   breakdown_report FILE...       the files of one trace
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/breakdown/time_breakdown.h"
#include "analysis/launches/launch_stats.h"
#include "analysis/steps/step_times.h"
#include "analysis/steps/steps.h"
#include "analysis/timeline/timeline.h"
#include "common/check.h"
#include "trace/import/import.h"

namespace chakrad {
namespace {

constexpr size_t kStepsShown = 20;

JobTimeline CutToDevice(const JobTimeline& job) {
  std::vector<int64_t> start_ps, end_ps;
  for (const RankTimeline& rank : job.ranks) {
    int64_t first_ps = std::numeric_limits<int64_t>::max(), last_ps = 0;
    for (const TimelineInterval& interval : rank.intervals) {
      if (rank.trace->queues[interval.queue].kind != Queue::Kind::kDeviceStream) continue;
      first_ps = std::min(first_ps, interval.start_ps);
      last_ps = std::max(last_ps, interval.end_ps);
    }
    start_ps.push_back(first_ps);
    end_ps.push_back(last_ps);
  }
  return CutTimeline(job, start_ps, end_ps);
}

std::string Line(const TimeBreakdown& rank) {
  const auto ns = [](int64_t ps) { return ps / kPsPerNs; };
  return absl::StrCat(
      "rank ", rank.rank, ": kernel_time ", ns(rank.span_ps), " ns  idle ", ns(rank.idle_ps),
      "  compute ", ns(rank.compute_ps), "  non_compute ",
      ns(rank.exposed_comm_ps + rank.exposed_memory_ps), "  comm ", ns(rank.comm_ps), "  overlap ",
      100 * rank.overlap_ratio(), " %\n", "  idle: host bound ", ns(rank.idle_host_bound_ps),
      "  kernel wait ", ns(rank.idle_kernel_wait_ps), "  sync ", ns(rank.idle_sync_ps), "  other ",
      ns(rank.idle_other_ps), "  overlapped intervals ", rank.overlapped_intervals_count, "\n");
}

int Main(int argc, char** argv) {
  std::vector<ImportFile> files;
  for (int i = 1; i < argc; ++i) files.push_back({argv[i], argv[i]});
  const absl::StatusOr<ImportResult> imported = ImportTrace(files, {});
  CHECK(imported.ok()) << imported.status();
  const absl::StatusOr<JobTimeline> job = MeasuredTimeline(imported->trace, {});
  CHECK(job.ok()) << job.status();
  const JobTimeline on_device = CutToDevice(*job);
  for (const RankTimeline& rank : on_device.ranks)
    std::fputs(Line(BreakDownTime(rank)).c_str(), stdout);
  for (const RankTimeline& rank : job->ranks) {
    const LaunchStats launches = StatsOfLaunches(rank);
    std::fputs(
        absl::StrCat("rank ", rank.rank, ": launches ", launches.launches_count, " of ",
                     launches.launches_count + launches.without_launch_count, "  delay median ",
                     launches.median_delay_ps / kPsPerNs, " max ", launches.max_delay_ps / kPsPerNs,
                     " negative ", launches.negative_delays_count, "\n")
            .c_str(),
        stdout);
  }
  const JobSteps steps = FindSteps(*job);
  std::fputs(absl::StrCat(steps.steps.size(), " steps ", steps.source, "\n").c_str(), stdout);
  for (const std::string& notice : steps.notices) std::fputs((notice + "\n").c_str(), stdout);
  const std::vector<StepTime> times = TimesOfSteps(*job, steps);
  for (size_t i = 0; i < times.size() && i < kStepsShown; ++i) {
    std::fputs(
        absl::StrCat("  ", steps.steps[i].name, ": from ", steps.steps[i].start_ps / kPsPerNs,
                     " ns, ", steps.steps[i].ranks_count, " ranks, mean ",
                     static_cast<int64_t>(times[i].mean_span_ps) / kPsPerNs, " ns\n")
            .c_str(),
        stdout);
  }
  return 0;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) { return chakrad::Main(argc, argv); }
