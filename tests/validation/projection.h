// What the simulator says of a row of the ground truth, and whether that is near enough.
#ifndef CHAKRAD_TESTS_VALIDATION_PROJECTION_H_
#define CHAKRAD_TESTS_VALIDATION_PROJECTION_H_

#include <string>

#include "common/status.h"
#include "sim/system/system_description.h"
#include "tests/validation/ground_truth_rows.h"
#include "trace/model/trace.h"

namespace chakrad {

// One collective (or rank 0's send to rank 1) as a trace. Rank 0 joins row.start_skew_us after
// the others: the measured spans contain that skew. INVALID_ARGUMENT: an op that is not known.
absl::StatusOr<Trace> CollectiveTrace(const GroundTruthRow& row);

// The last step of a model, recorded where nothing limited the network, ready to be simulated.
// Other models than sleepnet_dp (whose compute sleeps) were slowed down by the recorder: their
// compute is scaled by untraced over traced step time, medians over the ranks as the manifest
// has them. `folder`: holds <model>/w<hosts>/rate_none.
absl::StatusOr<Trace> IterationTrace(const std::string& folder, const GroundTruthRow& row);

struct Projected {
  double span = 0;  // As the row's median: us or ms.
  double exposed =
      0;  // Exposed communication, ms (analysis/exposed_comm.h); of the rank that has most.
  double compute = 0;  // Compute, ms; of the rank that has least.
};
// `trace` on `system`.
absl::StatusOr<Projected> Project(const Trace& trace, const SystemDescription& system,
                                  const GroundTruthRow& row);

// How near a projection has to be.
//   all_reduce, send_recv  of 1 MiB and more: p10 - 5 % to p90 + 5 %; below: median +- 25 %
//   sleepnet_dp            span +- 5 %, exposed communication +- 5 points of the iteration
//   mlp_dp, transformer_dp span +- 15 %
// Others have no target.
struct Verdict {
  bool has_target = false;
  double low = 0;  // Of the span.
  double high = 0;
  bool within = true;
};
Verdict Judge(const GroundTruthRow& row, const Projected& projected);

// Exposed communication as a share of the iteration, projected less measured, in points.
double ExposedPointsOff(const GroundTruthRow& row, const Projected& projected);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_VALIDATION_PROJECTION_H_
