#include "client/analysis/views.h"

namespace chakrad::client {

std::string CollectivesText(const v1::TimelineAnalysis&) { return ""; }

}  // namespace chakrad::client
