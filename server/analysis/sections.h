// The parts of an answer about one timeline. Each computes its own and writes it into
// the answer; which of them are asked for is AnalyzeTimeline's business.
#ifndef CHAKRAD_SERVER_ANALYSIS_SECTIONS_H_
#define CHAKRAD_SERVER_ANALYSIS_SECTIONS_H_

#include <cstddef>
#include <string>

#include "analysis/clocks/clock_offsets.h"
#include "analysis/timeline/timeline.h"

namespace chakrad {

namespace v1 {
class TimelineAnalysis;
}  // namespace v1

struct TraceInfo;

struct SectionInput {
  const JobTimeline* job = nullptr;       // Clocks aligned, cut to the step that was asked for.
  const JobTimeline* whole = nullptr;     // The same, not cut.
  const TraceInfo* stored = nullptr;      // The stored trace, with all its ranks; null: none is.
  bool some_ranks = false;                // Ranks were named: `whole` may lack others.
  const ClockEstimate* clocks = nullptr;  // Of the whole timeline; null: not looked for.
  bool clocks_aligned = false;            // Whether its offsets were added.
  size_t top = 20;                        // Entries of each long list.
  std::string variant;                    // Of a simulation: see VariantOf.
};

void FillTemporal(const SectionInput& input, v1::TimelineAnalysis* answer);
void FillCollectives(const SectionInput& input, v1::TimelineAnalysis* answer);
void FillGroups(const SectionInput& input, v1::TimelineAnalysis* answer);
void FillKernels(const SectionInput& input, v1::TimelineAnalysis* answer);
void FillLaunches(const SectionInput& input, v1::TimelineAnalysis* answer);
void FillSkew(const SectionInput& input, v1::TimelineAnalysis* answer);
void FillSteps(const SectionInput& input, v1::TimelineAnalysis* answer);
void FillMemory(const SectionInput& input, v1::TimelineAnalysis* answer);
void FillQuality(const SectionInput& input, v1::TimelineAnalysis* answer);
void FillMetrics(const SectionInput& input, v1::TimelineAnalysis* answer);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_ANALYSIS_SECTIONS_H_
