#include "analysis/steps/step_times.h"

#include <limits>

#include "analysis/breakdown/busy_sweep.h"

namespace chakrad {
namespace {

TimeBreakdown Difference(const TimeBreakdown& after, const TimeBreakdown& before) {
  TimeBreakdown difference;
  difference.compute_ps = after.compute_ps - before.compute_ps;
  difference.comm_ps = after.comm_ps - before.comm_ps;
  difference.exposed_comm_ps = after.exposed_comm_ps - before.exposed_comm_ps;
  difference.memory_ps = after.memory_ps - before.memory_ps;
  difference.exposed_memory_ps = after.exposed_memory_ps - before.exposed_memory_ps;
  difference.idle_ps = after.idle_ps - before.idle_ps;
  return difference;
}

// Goes over one rank and stops at the bounds of its steps.
class StepSweep {
 public:
  StepSweep(const RankTimeline& rank, const std::vector<RankStep>& steps)
      : rank_(rank), steps_(steps), sweep_(rank.start_ps) {}

  // `use(step, breakdown)` for each.
  template <typename Use>
  void Run(const Use& use) {
    for (const TimelineInterval& interval : rank_.intervals) {
      PassBounds(interval.start_ps, use);
      if (next_ == steps_.size()) return;
      sweep_.Advance(interval.start_ps);
      sweep_.Start(interval.kind, interval.end_ps);
    }
    PassBounds(std::numeric_limits<int64_t>::max(), use);
  }

 private:
  template <typename Use>
  void PassBounds(int64_t to_ps, const Use& use) {
    for (; next_ < steps_.size(); ++next_) {
      const RankStep& step = steps_[next_];
      if (!inside_) {
        if (step.start_ps > to_ps) return;
        sweep_.Advance(step.start_ps);
        SetTimes(sweep_, &before_);
        inside_ = true;
      }
      if (step.end_ps > to_ps) return;
      sweep_.Advance(step.end_ps);
      TimeBreakdown after;
      SetTimes(sweep_, &after);
      TimeBreakdown in_step = Difference(after, before_);
      in_step.rank = rank_.rank;
      in_step.start_ps = step.start_ps;
      in_step.span_ps = step.end_ps - step.start_ps;
      use(step.step, in_step);
      inside_ = false;
    }
  }

  const RankTimeline& rank_;
  const std::vector<RankStep>& steps_;
  BusySweep sweep_;
  size_t next_ = 0;
  bool inside_ = false;
  TimeBreakdown before_;
};

}  // namespace

std::vector<StepTime> TimesOfSteps(const JobTimeline& job, const JobSteps& steps) {
  std::vector<StepTime> times(steps.steps.size());
  std::vector<TimeSharesSum> sums(steps.steps.size());
  for (size_t i = 0; i < job.ranks.size(); ++i) {
    StepSweep(job.ranks[i], steps.ranks[i]).Run([&](uint32_t step, const TimeBreakdown& rank) {
      sums[step].Add(rank);
      times[step].mean_span_ps += static_cast<double>(rank.span_ps);
    });
  }
  for (size_t step = 0; step < times.size(); ++step) {
    times[step].mean_shares = sums[step].Mean();
    if (steps.steps[step].ranks_count > 0)
      times[step].mean_span_ps /= steps.steps[step].ranks_count;
  }
  return times;
}

}  // namespace chakrad
