#include "client/analysis/views.h"

namespace chakrad::client {

std::string LaunchesText(const v1::TimelineAnalysis&) { return ""; }

}  // namespace chakrad::client
