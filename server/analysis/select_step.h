// From a step's number in a request to the part of a timeline.
#ifndef CHAKRAD_SERVER_ANALYSIS_SELECT_STEP_H_
#define CHAKRAD_SERVER_ANALYSIS_SELECT_STEP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "analysis/timeline/timeline.h"

namespace chakrad {

// The part of `job` (a whole timeline, clocks aligned) in which its ranks did the step that is
// listed at place `step` of its steps (FindSteps). Notices of how steps were found are added.
// INVALID_ARGUMENT: below 0. OUT_OF_RANGE tells how many steps there are.
absl::StatusOr<JobTimeline> SelectStep(const JobTimeline& job, int32_t step);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_ANALYSIS_SELECT_STEP_H_
