// Where the time of each step went.
#ifndef CHAKRAD_ANALYSIS_STEPS_STEP_TIMES_H_
#define CHAKRAD_ANALYSIS_STEPS_STEP_TIMES_H_

#include <vector>

#include "analysis/breakdown/time_breakdown.h"
#include "analysis/steps/steps.h"

namespace chakrad {

// Over the ranks that have the step.
struct StepTime {
  TimeShares mean_shares;
  double mean_span_ps = 0;
};

// One entry a step, as BreakDownTime of CutToStep would have it, in one pass over all: O(intervals
// + steps of ranks).
std::vector<StepTime> TimesOfSteps(const JobTimeline& job, const JobSteps& steps);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_STEPS_STEP_TIMES_H_
