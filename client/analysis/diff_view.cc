#include "client/analysis/views.h"

namespace chakrad::client {

std::string DiffText(const v1::TimelineDiff&) { return ""; }

}  // namespace chakrad::client
