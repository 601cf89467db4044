// The steps of a training run: what a profiler marked, else what repeats. Definitions and
// example: docs/analysis.md#steps.
#ifndef CHAKRAD_ANALYSIS_STEPS_STEPS_H_
#define CHAKRAD_ANALYSIS_STEPS_STEPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/timeline/timeline.h"

namespace chakrad {

struct JobStep {
  std::string name;         // "ProfilerStep#12", or "step 3".
  int64_t start_ps = 0;     // Of the earliest rank.
  int64_t end_ps = 0;       // Of the latest one.
  int32_t ranks_count = 0;  // Ranks that have it.
};

// A step on one rank; never empty.
struct RankStep {
  uint32_t step = 0;  // Index into JobSteps::steps.
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  friend bool operator==(const RankStep&, const RankStep&) = default;
};

struct JobSteps {
  std::string source;          // "profiler_step", "repetition"; "" when none were found.
  std::vector<JobStep> steps;  // By number.
  // For each rank of the timeline, its steps: disjoint, by step and by time.
  std::vector<std::vector<RankStep>> ranks;
  std::vector<std::string> notices;
};

// `job`: a whole timeline, not one that was cut. Where any rank has ProfilerStep#N marks, those
// are the steps, matched across ranks by N; ranks without are left out. Else what each rank's
// communication repeats (without any that does: the operations of its busiest queue), matched by
// their order; ranks with another number of them than most are left out.
// O(nodes + edges); of sequences that repeat, see FindRepetition. Thread-safe: only reads.
JobSteps FindSteps(const JobTimeline& job);

// The part of `job` in which its ranks did steps.steps[step]: CHECKed to be one.
JobTimeline CutToStep(const JobTimeline& job, const JobSteps& steps, size_t step);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_STEPS_STEPS_H_
