#include "chakrad/v1/analysis.pb.h"
#include "server/analysis/analyze_timeline.h"

namespace chakrad {

absl::Status FindCriticalPath(const v1::FindCriticalPathRequest&, TraceStore*, JobStore*,
                              v1::CriticalPath*) {
  return absl::UnimplementedError("not yet");
}

}  // namespace chakrad
