#include "client/check_view.h"

#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "trace/check/rules.h"

namespace chakrad::client {
namespace {

std::string SeverityText(v1::Finding::Severity severity) {
  return absl::AsciiStrToLower(v1::Finding::Severity_Name(severity));
}

std::string Plural(int64_t count, const char* what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

// "rank0.json, byte 117", "rank 3, node 17": where a finding is.
std::string PlaceText(const v1::Finding& finding) {
  std::vector<std::string> parts;
  if (!finding.file().empty()) parts.push_back(finding.file());
  if (finding.byte_offset() >= 0) parts.push_back(absl::StrCat("byte ", finding.byte_offset()));
  if (finding.has_rank()) parts.push_back(absl::StrCat("rank ", finding.rank()));
  if (finding.has_node_id()) parts.push_back(absl::StrCat("node ", finding.node_id()));
  return absl::StrJoin(parts, ", ");
}

std::map<std::string, int64_t> CountByRule(const v1::CheckReport& report) {
  return {report.count_by_rule().begin(), report.count_by_rule().end()};
}

}  // namespace

std::string CheckLine(const v1::CheckReport& report) {
  std::string line = absl::StrCat("quality ", absl::StrFormat("%.3f", report.quality_score()), "; ",
                                  Plural(report.errors_count(), "error"), ", ",
                                  Plural(report.warnings_count(), "warning"), ", ",
                                  Plural(report.infos_count(), "remark"));
  const auto counts = CountByRule(report);
  if (!counts.empty()) {
    absl::StrAppend(&line, ": ", absl::StrJoin(counts, ", ", absl::PairFormatter(" ")));
  }
  return line;
}

std::string CheckText(const v1::CheckReport& report) {
  std::string text;
  const auto counts = CountByRule(report);
  std::map<std::string, int64_t> listed;
  for (int i = 0; i < report.findings_size(); ++i) {
    const v1::Finding& finding = report.findings(i);
    const std::string place = PlaceText(finding);
    absl::StrAppend(&text, SeverityText(finding.severity()), " ", finding.rule(),
                    place.empty() ? "" : absl::StrCat(" (", place, ")"), ": ", finding.message(),
                    "\n");
    const int64_t shown = ++listed[finding.rule()];
    if (i + 1 < report.findings_size() && report.findings(i + 1).rule() == finding.rule()) continue;
    const auto count = counts.find(finding.rule());
    if (count != counts.end() && count->second > shown) {
      absl::StrAppend(&text, "  and ", count->second - shown, " more of this rule\n");
    }
    const Rule* rule = FindRule(finding.rule());
    if (rule != nullptr) absl::StrAppend(&text, "  fix: ", rule->fix, "\n");
  }
  if (!text.empty()) absl::StrAppend(&text, "\n");
  std::vector<std::string> parts;
  for (const auto& [part, share] : std::map<std::string, double>(report.quality_parts().begin(),
                                                                 report.quality_parts().end())) {
    parts.push_back(absl::StrFormat("%s %.3f", part, share));
  }
  absl::StrAppend(&text, CheckLine(report), "\nof which ", absl::StrJoin(parts, ", "), "\n");
  return text;
}

Json CheckJson(const v1::CheckReport& report) {
  Json json = {{"quality_score", report.quality_score()},
               {"quality_parts", Json::object()},
               {"errors_count", report.errors_count()},
               {"warnings_count", report.warnings_count()},
               {"infos_count", report.infos_count()},
               {"count_by_rule", Json::object()},
               {"findings", Json::array()}};
  for (const auto& [part, share] : std::map<std::string, double>(report.quality_parts().begin(),
                                                                 report.quality_parts().end())) {
    json["quality_parts"][part] = share;
  }
  for (const auto& [rule, count] : CountByRule(report)) json["count_by_rule"][rule] = count;
  for (const v1::Finding& finding : report.findings()) {
    Json entry = {{"rule", finding.rule()}, {"severity", SeverityText(finding.severity())}};
    if (finding.has_rank()) entry["rank"] = finding.rank();
    if (finding.has_node_id()) entry["node_id"] = finding.node_id();
    if (!finding.file().empty()) entry["file"] = finding.file();
    if (finding.byte_offset() >= 0) entry["byte_offset"] = finding.byte_offset();
    entry["message"] = finding.message();
    json["findings"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace chakrad::client
