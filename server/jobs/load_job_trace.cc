#include "server/jobs/load_job_trace.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "sim/projection/projection.h"

namespace chakrad {

absl::StatusOr<Trace> LoadJobTrace(const SimulationSpec& spec, bool cold, TraceStore* traces,
                                   std::vector<std::string>* notices) {
  TraceLoadOptions options;
  options.cold = cold;
  ASSIGN_OR_RETURN(Trace trace, traces->Load(spec.trace_id, options));
  if (!spec.projection.has_value()) return trace;
  absl::StatusOr<Projection> projection = ProjectTrace(std::move(trace), *spec.projection);
  if (!projection.ok()) return Annotate(projection.status(), "projection");
  notices->push_back(absl::StrCat(
      "projected from ", projection->old_size, " to ", projection->new_size, " ranks along ",
      spec.projection->group.empty() ? "the world" : spec.projection->group));
  notices->insert(notices->end(), projection->notices.begin(), projection->notices.end());
  return std::move(projection->trace);
}

}  // namespace chakrad
