#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/steps/step_times.h"
#include "analysis/steps/steps.h"
#include "chakrad/v1/analysis.pb.h"
#include "server/analysis/list_budget.h"
#include "server/analysis/notices.h"
#include "server/analysis/sections.h"
#include "server/analysis/shares_to_proto.h"

namespace chakrad {

void FillSteps(const SectionInput& input, v1::TimelineAnalysis* answer) {
  const JobSteps steps = FindSteps(*input.whole);
  const std::vector<StepTime> times = TimesOfSteps(*input.whole, steps);
  answer->set_steps_source(steps.source);
  answer->set_steps_count(static_cast<int64_t>(steps.steps.size()));
  AddNotices(steps.notices, answer);
  ListBudget budget;
  for (size_t i = 0; i < std::min(input.top, steps.steps.size()); ++i) {
    v1::Step* step = answer->add_steps();
    step->set_name(steps.steps[i].name);
    step->set_start_ps(steps.steps[i].start_ps);
    step->set_end_ps(steps.steps[i].end_ps);
    step->set_mean_span_ps(times[i].mean_span_ps);
    step->set_ranks_count(steps.steps[i].ranks_count);
    ToProto(times[i].mean_shares, step->mutable_mean_shares());
    if (!budget.KeepLast(answer->mutable_steps())) break;
  }
  if (static_cast<size_t>(answer->steps_size()) < steps.steps.size()) {
    AddNotices({absl::StrCat("steps: the first ", answer->steps_size(), " of ", steps.steps.size(),
                             " are listed")},
               answer);
  }
}

}  // namespace chakrad
