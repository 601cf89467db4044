#include "server/analysis/notices.h"

#include <algorithm>

#include "chakrad/v1/analysis.pb.h"

namespace chakrad {

void AddNotices(const std::vector<std::string>& notices, v1::TimelineAnalysis* answer) {
  for (const std::string& notice : notices) {
    const auto& given = answer->notices();
    if (std::find(given.begin(), given.end(), notice) == given.end()) answer->add_notices(notice);
  }
}

}  // namespace chakrad
