// What a sequence repeats, and where: finds the steps of a run that marks none.
#ifndef CHAKRAD_ANALYSIS_STEPS_REPETITION_H_
#define CHAKRAD_ANALYSIS_STEPS_REPETITION_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace chakrad {

// Of a sequence: indices at which repetitions begin, ascending, two or more; the last one ends
// before `end`.
struct Repetition {
  uint32_t period = 0;
  std::vector<uint32_t> begins;
  uint32_t end = 0;
};

// The period that explains most of `tokens` (small numbers: their largest bounds a table), the
// shortest of equal ones. What comes before and after may differ, and a few tokens within: a
// token that differs from the one a period later costs as much as kMismatchCost that agree. (So
// layers that repeat within a step do not pass for it.) None where that is less than half of the
// sequence, or it repeats twice only and is shorter than kMinPeriodOfTwo.
// Candidates are distances between occurrences of the rarest tokens that are spread over the
// sequence: at most 32, each tried in O(n). Deterministic.
std::optional<Repetition> FindRepetition(const std::vector<uint32_t>& tokens);

inline constexpr int64_t kMismatchCost = 2;
// Two equal halves of four tokens say little.
inline constexpr uint32_t kMinPeriodOfTwo = 8;

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_STEPS_REPETITION_H_
