// Steps of one rank: windows of time, and the device work that belongs to them. Inside
// analysis/steps only.
#ifndef CHAKRAD_ANALYSIS_STEPS_RANK_STEPS_H_
#define CHAKRAD_ANALYSIS_STEPS_RANK_STEPS_H_

#include <cstdint>
#include <vector>

#include "analysis/timeline/timeline.h"

namespace chakrad {

// A step as the host went through it, in the unit and from the base of whoever made it.
struct StepWindow {
  int64_t number = 0;
  int64_t start = 0;
  int64_t end = 0;
  friend bool operator==(const StepWindow&, const StepWindow&) = default;
};

// The host's marks ProfilerStep#N, in recorded nanoseconds: by start, disjoint (one that begins
// within another ends that), of equal numbers the first. Empty without any.
std::vector<StepWindow> MarkedSteps(const RankTrace& trace);

// What repeats on a rank, in the timeline's picoseconds; numbers count from 0. Empty without any.
std::vector<StepWindow> RepeatedSteps(const RankTimeline& rank);

// In the timeline's picoseconds, and with the device work that each launched: step i ends with
// its window or with the last of that work, step i + 1 begins where its window does, and not
// before that end. So they are disjoint; those that become empty are left out.
// `marked`: the windows are in recorded time. Of a simulated timeline they then only tell which
// operations belong to a step, which lasts from the first to the last of those.
std::vector<StepWindow> WithDeviceWork(const RankTimeline& rank, bool simulated,
                                       const std::vector<StepWindow>& windows, bool marked);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_STEPS_RANK_STEPS_H_
