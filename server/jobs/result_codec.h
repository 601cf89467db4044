// The result of a simulation in its stored form, which answers pass on.
#ifndef CHAKRAD_SERVER_JOBS_RESULT_CODEC_H_
#define CHAKRAD_SERVER_JOBS_RESULT_CODEC_H_

#include <string>

#include "sim/simulate.h"
#include "sim/system/system_description.h"
#include "trace/model/trace.h"

namespace chakrad {

// A serialised chakrad.v1.SimulationResult. `result.times` is parallel to `result.ranks`.
// Nothing that grows with the ranks is stored whole when there are many: of more than
// kRanksListedEach, equal ones are one entry; links are the busiest kMaxLinksListed. What is
// left out is counted in a notice. O(k log k) for k ranks and links.
std::string EncodeResult(const SimResult& result, const Trace& trace,
                         const SystemDescription& system);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_JOBS_RESULT_CODEC_H_
