#include "trace/api/trace_to_proto.h"

#include "common/utf8.h"

namespace chakrad {
namespace {

void SetEntry(const LedgerEntry& entry, v1::Rejection* out) {
  out->set_rule(entry.rule);
  out->set_record(entry.record);
  out->set_byte_offset(entry.byte_offset);
  out->set_reason(ValidUtf8(entry.reason));
}

v1::Finding::Severity ToSeverity(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return v1::Finding::INFO;
    case Severity::kWarning:
      return v1::Finding::WARNING;
    case Severity::kError:
      return v1::Finding::ERROR;
  }
  return v1::Finding::SEVERITY_UNSPECIFIED;
}

void SetFinding(const Finding& finding, v1::Finding* out) {
  out->set_rule(ValidUtf8(finding.rule));
  out->set_severity(ToSeverity(finding.severity));
  if (finding.rank != kNoRank) out->set_rank(finding.rank);
  if (finding.has_node) out->set_node_id(finding.node_id);
  out->set_file(ValidUtf8(finding.file));
  out->set_byte_offset(finding.byte_offset);
  out->set_message(ValidUtf8(finding.message));
}

}  // namespace

void ToProto(const RankSummary& summary, v1::RankSummary* rank) {
  rank->set_rank(summary.rank);
  rank->set_schema(ValidUtf8(summary.schema));
  rank->set_nodes_count(summary.nodes_count);
  rank->set_host_nodes_count(summary.host_nodes_count);
  rank->set_device_nodes_count(summary.device_nodes_count);
  rank->set_span_ns(summary.span_ns);
  for (const auto& [type, count] : summary.nodes_count_by_type) {
    (*rank->mutable_nodes_count_by_type())[type] = count;
  }
  for (const auto& [kind, count] : summary.edges_count_by_kind) {
    (*rank->mutable_edges_count_by_kind())[kind] = count;
  }
  for (const auto& [type, count] : summary.comm_by_type) {
    v1::CommCount& comm = (*rank->mutable_comm_by_type())[type];
    comm.set_count(count.count);
    comm.set_bytes(count.bytes);
  }
}

void ToProto(const Ledger& ledger, v1::FileLedger* file) {
  file->set_file(ValidUtf8(ledger.file));
  file->set_records_count(ledger.input_records);
  file->set_kept_count(ledger.kept);
  file->set_merged_count(ledger.merged);
  file->set_rejected_count(ledger.rejected);
  for (const auto& [rule, count] : ledger.merged_by_rule) {
    (*file->mutable_merged_by_rule())[rule] = count;
  }
  for (const auto& [rule, count] : ledger.rejected_by_rule) {
    (*file->mutable_rejected_by_rule())[rule] = count;
  }
  for (const LedgerEntry& entry : ledger.rejections) SetEntry(entry, file->add_rejections());
  for (const auto& [rule, count] : ledger.flaws_by_rule) {
    (*file->mutable_flaws_by_rule())[rule] = count;
  }
  for (const LedgerEntry& entry : ledger.flaws) SetEntry(entry, file->add_flaws());
  for (const std::string& notice : ledger.notices) file->add_notices(ValidUtf8(notice));
}

void ToSummaryProto(const CheckReport& report, v1::CheckReport* out) {
  for (const auto& [rule, count] : report.count_by_rule) {
    (*out->mutable_count_by_rule())[ValidUtf8(rule)] = count;
  }
  out->set_errors_count(report.errors_count);
  out->set_warnings_count(report.warnings_count);
  out->set_infos_count(report.infos_count);
  out->set_quality_score(report.quality);
  auto& parts = *out->mutable_quality_parts();
  parts["records"] = report.parts.records;
  parts["durations"] = report.parts.durations;
  parts["launches"] = report.parts.launches;
  parts["communication"] = report.parts.communication;
  parts["ranks"] = report.parts.ranks;
}

void ToProto(const CheckReport& report, v1::CheckReport* out) {
  ToSummaryProto(report, out);
  for (const Finding& finding : report.findings) SetFinding(finding, out->add_findings());
}

void ToProto(const ProcessGroup& group, v1::ProcessGroup* out) {
  out->set_group(ValidUtf8(group.name));
  out->set_description(ValidUtf8(group.description));
  for (const int32_t rank : group.ranks) out->add_ranks(rank);
}

void ToProto(const std::vector<RankSummary>& ranks, const std::vector<ProcessGroup>& groups,
             const std::vector<Ledger>& ledgers, const std::vector<std::string>& notices,
             const CheckReport& report, v1::Trace* trace) {
  int64_t nodes_count = 0;
  for (const RankSummary& summary : ranks) {
    ToProto(summary, trace->add_ranks());
    nodes_count += summary.nodes_count;
  }
  trace->set_ranks_count(static_cast<int64_t>(ranks.size()));
  trace->set_nodes_count(nodes_count);
  for (const ProcessGroup& group : groups) ToProto(group, trace->add_process_groups());
  for (const Ledger& ledger : ledgers) ToProto(ledger, trace->add_files());
  for (const std::string& notice : notices) trace->add_notices(ValidUtf8(notice));
  ToProto(report, trace->mutable_check());
}

}  // namespace chakrad
