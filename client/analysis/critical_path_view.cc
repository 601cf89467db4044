#include "client/analysis/views.h"

namespace chakrad::client {

std::string CriticalPathText(const v1::CriticalPath&) { return ""; }

}  // namespace chakrad::client
