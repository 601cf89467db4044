// Answers of AnalysisService as text for a terminal: one function a section; each is empty
// when the answer has nothing of it.
#ifndef CHAKRAD_CLIENT_ANALYSIS_VIEWS_H_
#define CHAKRAD_CLIENT_ANALYSIS_VIEWS_H_

#include <string>

#include "chakrad/v1/analysis.pb.h"

namespace chakrad::client {

std::string TemporalText(const v1::TimelineAnalysis& answer);
std::string CollectivesText(const v1::TimelineAnalysis& answer);
std::string GroupsText(const v1::TimelineAnalysis& answer);
std::string KernelsText(const v1::TimelineAnalysis& answer);
std::string LaunchesText(const v1::TimelineAnalysis& answer);
std::string SkewText(const v1::TimelineAnalysis& answer);
std::string StepsText(const v1::TimelineAnalysis& answer);
std::string MemoryText(const v1::TimelineAnalysis& answer);
std::string QualityText(const v1::TimelineAnalysis& answer);
std::string MetricsText(const v1::TimelineAnalysis& answer);

std::string DiffText(const v1::TimelineDiff& diff);
std::string CriticalPathText(const v1::CriticalPath& path);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_ANALYSIS_VIEWS_H_
