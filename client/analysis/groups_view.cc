#include "client/analysis/views.h"

namespace chakrad::client {

std::string GroupsText(const v1::TimelineAnalysis&) { return ""; }

}  // namespace chakrad::client
