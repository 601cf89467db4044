#include "chakrad/v1/analysis.pb.h"
#include "server/analysis/sections.h"

namespace chakrad {

void FillTemporal(const SectionInput&, v1::TimelineAnalysis*) {}

}  // namespace chakrad
