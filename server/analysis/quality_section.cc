#include <vector>

#include "analysis/periodicity/periodicity.h"
#include "analysis/steps/steps.h"
#include "chakrad/v1/analysis.pb.h"
#include "server/analysis/sections.h"
#include "storage/trace_store.h"

namespace chakrad {
namespace {

// Of each step, the mean over the ranks that have it.
std::vector<double> SpansOf(const JobSteps& steps) {
  std::vector<double> spans(steps.steps.size(), 0), counts(steps.steps.size(), 0);
  for (const std::vector<RankStep>& rank : steps.ranks) {
    for (const RankStep& step : rank) {
      spans[step.step] += static_cast<double>(step.end_ps - step.start_ps);
      counts[step.step] += 1;
    }
  }
  for (size_t i = 0; i < spans.size(); ++i) spans[i] = counts[i] == 0 ? 0 : spans[i] / counts[i];
  return spans;
}

}  // namespace

void FillQuality(const SectionInput& input, v1::TimelineAnalysis* answer) {
  v1::QualityStats* quality = answer->mutable_quality();
  if (input.stored != nullptr) {
    quality->set_quality_score(input.stored->check.quality);
    quality->set_errors_count(input.stored->check.errors_count);
    quality->set_warnings_count(input.stored->check.warnings_count);
    auto& parts = *quality->mutable_quality_parts();
    parts["records"] = input.stored->check.parts.records;
    parts["durations"] = input.stored->check.parts.durations;
    parts["launches"] = input.stored->check.parts.launches;
    parts["communication"] = input.stored->check.parts.communication;
    parts["ranks"] = input.stored->check.parts.ranks;
  }
  quality->set_periodicity(PeriodicityOf(SpansOf(FindSteps(*input.whole))));
}

}  // namespace chakrad
