// The last training step of a recorded run, as a trace of its own.
#ifndef CHAKRAD_TESTS_VALIDATION_LAST_STEP_H_
#define CHAKRAD_TESTS_VALIDATION_LAST_STEP_H_

#include "common/status.h"
#include "trace/model/trace.h"

namespace chakrad {

// What `rank` did within its last mark "ProfilerStep...": every node that starts in the mark,
// whose times then count from its start. A dependency on an earlier node is dropped; a node that
// has no other waits, by its gap, for as long as it started after the mark's start. Nodes without
// times are left out, but for communication (whose end a recorder may lose) that depends on a node
// in the mark.
// NOT_FOUND when there is no such mark.
absl::StatusOr<RankTrace> LastStepOfRank(const RankTrace& rank);

// The same of all ranks, each from its own mark on: as if they had begun the step together.
absl::StatusOr<Trace> LastStep(const Trace& trace);

// Multiplies compute durations and gaps, to the nearest nanosecond; not communication.
void ScaleHostTime(double factor, Trace* trace);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_VALIDATION_LAST_STEP_H_
