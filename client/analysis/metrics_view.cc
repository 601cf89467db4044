#include "client/analysis/views.h"

namespace chakrad::client {

std::string MetricsText(const v1::TimelineAnalysis&) { return ""; }

}  // namespace chakrad::client
