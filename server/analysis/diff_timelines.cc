#include "chakrad/v1/analysis.pb.h"
#include "server/analysis/analyze_timeline.h"

namespace chakrad {

absl::Status DiffTimelines(const v1::DiffTimelinesRequest&, TraceStore*, JobStore*,
                           v1::TimelineDiff*) {
  return absl::UnimplementedError("not yet");
}

}  // namespace chakrad
