// Recorded runs (tests/data/collected) for tests of analyses.
#ifndef CHAKRAD_ANALYSIS_TESTING_COLLECTED_H_
#define CHAKRAD_ANALYSIS_TESTING_COLLECTED_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakrad {

// `name`: "dlrm/w4". Its files must be among the test's data.
absl::StatusOr<Trace> CollectedTrace(absl::string_view name);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_TESTING_COLLECTED_H_
