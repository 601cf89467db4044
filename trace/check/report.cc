#include "trace/check/report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace chakrad {
namespace {

void AppendFinding(const Finding& finding, std::string* text) {
  absl::StrAppend(text, SeverityName(finding.severity), " ", finding.rule);
  if (!finding.file.empty()) absl::StrAppend(text, " ", finding.file);
  if (finding.byte_offset >= 0) absl::StrAppend(text, " at byte ", finding.byte_offset);
  if (finding.rank != kNoRank) absl::StrAppend(text, " rank ", finding.rank);
  absl::StrAppend(text, ": ", finding.message, "\n");
}

}  // namespace

std::string ReportText(const CheckReport& report) {
  std::string text;
  for (size_t i = 0; i < report.findings.size();) {
    const std::string& rule = report.findings[i].rule;
    int64_t listed = 0;
    for (; i < report.findings.size() && report.findings[i].rule == rule; ++i, ++listed) {
      AppendFinding(report.findings[i], &text);
    }
    const auto count = report.count_by_rule.find(rule);
    if (count != report.count_by_rule.end() && count->second > listed) {
      absl::StrAppend(&text, "  and ", count->second - listed, " more of ", rule, "\n");
    }
    const Rule* known = FindRule(rule);
    if (known != nullptr) absl::StrAppend(&text, "  fix: ", known->fix, "\n");
  }
  const QualityParts& parts = report.parts;
  absl::StrAppendFormat(
      &text,
      "%d errors, %d warnings, %d infos; quality %.2f "
      "(records %.2f, durations %.2f, launches %.2f, communication %.2f, ranks %.2f)\n",
      report.errors_count, report.warnings_count, report.infos_count, report.quality, parts.records,
      parts.durations, parts.launches, parts.communication, parts.ranks);
  return text;
}

}  // namespace chakrad
