#include "server/analysis/select_step.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "analysis/steps/steps.h"

namespace chakrad {

absl::StatusOr<JobTimeline> SelectStep(const JobTimeline& job, int32_t step) {
  if (step < 0) {
    return absl::InvalidArgumentError(absl::StrCat("step: ", step, " is below 0"));
  }
  const JobSteps steps = FindSteps(job);
  if (steps.steps.empty()) {
    return absl::OutOfRangeError(absl::StrCat(
        "step: ", step, ": no steps were found, neither ProfilerStep marks nor a repetition"));
  }
  const auto place = static_cast<size_t>(step);
  if (place >= steps.steps.size()) {
    return absl::OutOfRangeError(absl::StrCat(
        "step: ", step, " is not in [0, ", steps.steps.size(), "): the timeline has ",
        steps.steps.size(), " steps, ", steps.steps.front().name, " to ", steps.steps.back().name));
  }
  JobTimeline cut = CutToStep(job, steps, place);
  cut.notices.insert(cut.notices.end(), steps.notices.begin(), steps.notices.end());
  cut.notices.push_back(absl::StrCat("only step ", step, " of ", steps.steps.size(), ", ",
                                     steps.steps[place].name, " (", steps.source, ")"));
  return cut;
}

}  // namespace chakrad
