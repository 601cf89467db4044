// Which operators two timelines have in common, and how their time changed.
// See docs/analysis.md#diff.
#ifndef CHAKRAD_ANALYSIS_DIFF_DIFF_OPERATORS_H_
#define CHAKRAD_ANALYSIS_DIFF_DIFF_OPERATORS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/timeline/timeline.h"

namespace chakrad {

// Operators are the same when name (whole, with template arguments) and kind are. Numbers are
// sums over a side's ranks divided by how many it has, so that jobs of other sizes compare.
struct OperatorChange {
  absl::string_view name;  // Of the trace of the side that has it.
  IntervalKind kind = IntervalKind::kCompute;
  double before_count = 0;
  double after_count = 0;
  // Of intervals, as they are: of a host operator with the calls within it.
  double before_total_ps = 0;
  double after_total_ps = 0;

  double delta_ps() const { return after_total_ps - before_total_ps; }
};

struct OperatorDiff {
  // Each with the largest change of time first; of equals by name, then kind.
  std::vector<OperatorChange> added;    // Only after.
  std::vector<OperatorChange> removed;  // Only before.
  std::vector<OperatorChange> changed;
  int64_t unchanged_count = 0;
};

// An operator of both sides has changed when its time or its count differs by more than
// `min_relative_change` of what it was before. Needs min_relative_change >= 0. The traces of both
// must outlive the result. O(intervals + operators log operators).
OperatorDiff DiffOperators(const JobTimeline& before, const JobTimeline& after,
                           double min_relative_change);

// Mean over ranks; 0 without ranks.
double MeanSpanPs(const JobTimeline& job);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_DIFF_DIFF_OPERATORS_H_
