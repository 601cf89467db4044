// What an answer says beside its numbers.
#ifndef CHAKRAD_SERVER_ANALYSIS_NOTICES_H_
#define CHAKRAD_SERVER_ANALYSIS_NOTICES_H_

#include <string>
#include <vector>

namespace chakrad {

namespace v1 {
class TimelineAnalysis;
}  // namespace v1

// Adds those that the answer does not have yet: several sections may find the same.
void AddNotices(const std::vector<std::string>& notices, v1::TimelineAnalysis* answer);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_ANALYSIS_NOTICES_H_
