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

// What tells the windows of a rank's steps.
enum class StepSource : uint8_t {
  kMarks,   // In recorded time, on the host.
  kHost,    // What repeats on a thread of the host: here and below in the timeline's picoseconds.
  kDevice,  // What repeats on the device.
};

struct StepWindows {
  std::vector<StepWindow> windows;
  StepSource source = StepSource::kMarks;
};

// What repeats on a rank; numbers count from 0. Empty without any.
StepWindows RepeatedSteps(const RankTimeline& rank);

// In the timeline's picoseconds; disjoint, those that become empty are left out.
//
// Of windows on the host with the device work that each launched: step i ends with its window or
// with the last of that work, step i + 1 begins where its window does, and not before that end.
// Marks of a simulated timeline only tell which operations belong to a step, which lasts from the
// first to the last of those. Windows on the device are the steps: who launched what runs in
// them, and how far ahead, says nothing.
std::vector<StepWindow> StepsOf(const RankTimeline& rank, bool simulated,
                                const StepWindows& windows);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_STEPS_RANK_STEPS_H_
