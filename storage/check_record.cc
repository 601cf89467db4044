#include "storage/check_record.h"

#include "storage/record.pb.h"

namespace chakrad {

void CheckToProto(const CheckReport& report, storage::CheckRecord* record) {
  for (const Finding& finding : report.findings) {
    storage::FindingRecord* out = record->add_findings();
    out->set_rule(finding.rule);
    out->set_severity(static_cast<uint32_t>(finding.severity));
    out->set_rank(finding.rank);
    out->set_has_node(finding.has_node);
    out->set_node_id(finding.node_id);
    out->set_file(finding.file);
    out->set_byte_offset(finding.byte_offset);
    out->set_message(finding.message);
  }
  for (const auto& [rule, count] : report.count_by_rule) {
    storage::Count* out = record->add_count_by_rule();
    out->set_key(rule);
    out->set_count(count);
  }
  record->set_errors_count(report.errors_count);
  record->set_warnings_count(report.warnings_count);
  record->set_infos_count(report.infos_count);
  record->set_quality(report.quality);
  record->set_records_part(report.parts.records);
  record->set_durations_part(report.parts.durations);
  record->set_launches_part(report.parts.launches);
  record->set_communication_part(report.parts.communication);
  record->set_ranks_part(report.parts.ranks);
}

CheckReport CheckFromProto(const storage::CheckRecord& record) {
  CheckReport report;
  for (const storage::FindingRecord& in : record.findings()) {
    Finding& finding = report.findings.emplace_back();
    finding.rule = in.rule();
    if (in.severity() <= static_cast<uint32_t>(Severity::kError)) {
      finding.severity = static_cast<Severity>(in.severity());
    }
    finding.rank = in.rank();
    finding.has_node = in.has_node();
    finding.node_id = in.node_id();
    finding.file = in.file();
    finding.byte_offset = in.byte_offset();
    finding.message = in.message();
  }
  for (const storage::Count& count : record.count_by_rule()) {
    report.count_by_rule[count.key()] = count.count();
  }
  report.errors_count = record.errors_count();
  report.warnings_count = record.warnings_count();
  report.infos_count = record.infos_count();
  report.quality = record.quality();
  report.parts.records = record.records_part();
  report.parts.durations = record.durations_part();
  report.parts.launches = record.launches_part();
  report.parts.communication = record.communication_part();
  report.parts.ranks = record.ranks_part();
  return report;
}

}  // namespace chakrad
