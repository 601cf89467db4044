#include "server/analysis/analyze_timeline.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/clocks/clock_offsets.h"
#include "chakrad/v1/analysis.pb.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/analysis/load_timeline.h"
#include "server/analysis/sections.h"
#include "server/analysis/select_step.h"
#include "server/limits.h"

namespace chakrad {
namespace {

using Fill = void (*)(const SectionInput&, v1::TimelineAnalysis*);
struct SectionEntry {
  v1::AnalysisSection section;
  Fill fill;
};
constexpr SectionEntry kSections[] = {
    {v1::TEMPORAL, FillTemporal}, {v1::COLLECTIVES, FillCollectives}, {v1::GROUPS, FillGroups},
    {v1::KERNELS, FillKernels},   {v1::LAUNCHES, FillLaunches},       {v1::SKEW, FillSkew},
    {v1::STEPS, FillSteps},       {v1::MEMORY, FillMemory},           {v1::QUALITY, FillQuality},
    {v1::METRICS, FillMetrics},
};

absl::StatusOr<std::set<int>> SectionsOf(const v1::AnalyzeTimelineRequest& request) {
  std::set<int> sections;
  for (const int section : request.sections()) {
    if (section == v1::ANALYSIS_SECTION_UNSPECIFIED || !v1::AnalysisSection_IsValid(section)) {
      return absl::InvalidArgumentError(absl::StrCat("sections: ", section, " is unknown"));
    }
    sections.insert(section);
  }
  if (sections.empty()) {
    for (const SectionEntry& entry : kSections) {
      if (entry.section != v1::MEMORY) sections.insert(entry.section);
    }
  }
  return sections;
}

absl::StatusOr<size_t> TopOf(int32_t top) {
  if (top < 0 || top > kMaxAnalysisTop) {
    return absl::InvalidArgumentError(
        absl::StrCat("top: ", top, " is not in [0, ", kMaxAnalysisTop, "]"));
  }
  return static_cast<size_t>(top == 0 ? kDefaultAnalysisTop : top);
}

void FillHead(const std::string& name, const JobTimeline& job, v1::TimelineAnalysis* answer) {
  answer->set_name(name);
  answer->set_simulated(job.simulated);
  if (job.base_unix_ns != 0) {
    answer->mutable_base_time()->set_seconds(job.base_unix_ns / 1'000'000'000);
    answer->mutable_base_time()->set_nanos(static_cast<int32_t>(job.base_unix_ns % 1'000'000'000));
  }
  answer->set_start_ps(job.start_ps());
  answer->set_end_ps(job.end_ps());
  answer->set_world_size(job.trace->world_size);
  answer->set_ranks_count(static_cast<int32_t>(job.ranks.size()));
  for (const std::string& notice : job.notices)
    answer->add_notices(ValidUtf8(notice, kMaxNoticeBytes));
}

}  // namespace

absl::Status AnalyzeTimeline(const v1::AnalyzeTimelineRequest& request, TraceStore* traces,
                             JobStore* jobs, v1::TimelineAnalysis* answer) {
  ASSIGN_OR_RETURN(const std::set<int> sections, SectionsOf(request));
  ASSIGN_OR_RETURN(const size_t top, TopOf(request.top()));
  const v1::TimelineSelection& selection = request.timeline();
  const std::vector<int32_t> ranks(selection.ranks().begin(), selection.ranks().end());
  ASSIGN_OR_RETURN(
      LoadedTimeline loaded,
      LoadTimeline(selection.name(), ranks, sections.count(v1::MEMORY) > 0, traces, jobs));
  const ClockEstimate clocks = EstimateAndAlign(!request.keep_clocks(), &loaded.job);
  std::optional<JobTimeline> cut;
  if (selection.has_step()) {
    absl::StatusOr<JobTimeline> step = SelectStep(loaded.job, selection.step());
    if (!step.ok()) return Annotate(step.status(), selection.name());
    cut = *std::move(step);
  }
  const JobTimeline& job = cut.has_value() ? *cut : loaded.job;
  FillHead(selection.name(), job, answer);
  const SectionInput input{.job = &job,
                           .whole = &loaded.job,
                           .stored = &loaded.stored,
                           .some_ranks = !ranks.empty(),
                           .clocks = &clocks,
                           .clocks_aligned = clocks.should_align && !request.keep_clocks(),
                           .top = top,
                           .variant = loaded.variant};
  for (const SectionEntry& entry : kSections) {
    if (sections.count(entry.section) > 0) entry.fill(input, answer);
  }
  return absl::OkStatus();
}

}  // namespace chakrad
