#include "storage/trace_record.h"

#include <map>
#include <string>

#include "common/status.h"
#include "storage/card_record.h"
#include "storage/check_record.h"
#include "storage/record.pb.h"
#include "trace/codec/column_coding.h"

namespace chakrad {
namespace {

using google::protobuf::RepeatedPtrField;

void CountsToProto(const std::map<std::string, int64_t>& counts,
                   RepeatedPtrField<storage::Count>* records) {
  for (const auto& [key, count] : counts) {
    storage::Count* record = records->Add();
    record->set_key(key);
    record->set_count(count);
  }
}

std::map<std::string, int64_t> CountsFromProto(const RepeatedPtrField<storage::Count>& records) {
  std::map<std::string, int64_t> counts;
  for (const storage::Count& record : records) counts[record.key()] = record.count();
  return counts;
}

void SummaryToProto(const RankSummary& summary, storage::RankSummaryRecord* record) {
  record->set_rank(summary.rank);
  record->set_schema(summary.schema);
  record->set_nodes_count(summary.nodes_count);
  record->set_host_nodes_count(summary.host_nodes_count);
  record->set_device_nodes_count(summary.device_nodes_count);
  record->set_span_ns(summary.span_ns);
  CountsToProto(summary.nodes_count_by_type, record->mutable_nodes_by_type());
  CountsToProto(summary.edges_count_by_kind, record->mutable_edges_by_kind());
  for (const auto& [type, comm] : summary.comm_by_type) {
    storage::Count* count = record->add_comm_by_type();
    count->set_key(type);
    count->set_count(comm.count);
    count->set_count_bytes(comm.bytes);
  }
}

RankSummary SummaryFromProto(const storage::RankSummaryRecord& record) {
  RankSummary summary;
  summary.rank = record.rank();
  summary.schema = record.schema();
  summary.nodes_count = record.nodes_count();
  summary.host_nodes_count = record.host_nodes_count();
  summary.device_nodes_count = record.device_nodes_count();
  summary.span_ns = record.span_ns();
  summary.nodes_count_by_type = CountsFromProto(record.nodes_by_type());
  summary.edges_count_by_kind = CountsFromProto(record.edges_by_kind());
  for (const storage::Count& comm : record.comm_by_type()) {
    summary.comm_by_type[comm.key()] = {comm.count(), comm.count_bytes()};
  }
  return summary;
}

void EntriesToProto(const std::vector<LedgerEntry>& entries,
                    RepeatedPtrField<storage::RejectionRecord>* records) {
  for (const LedgerEntry& entry : entries) {
    storage::RejectionRecord* record = records->Add();
    record->set_rule(entry.rule);
    record->set_record(entry.record);
    record->set_byte_offset(entry.byte_offset);
    record->set_reason(entry.reason);
  }
}

std::vector<LedgerEntry> EntriesFromProto(
    const RepeatedPtrField<storage::RejectionRecord>& records) {
  std::vector<LedgerEntry> entries;
  for (const storage::RejectionRecord& record : records) {
    entries.push_back({record.rule(), record.record(), record.byte_offset(), record.reason()});
  }
  return entries;
}

void LedgerToProto(const Ledger& ledger, storage::LedgerRecord* record) {
  record->set_file(ledger.file);
  record->set_input_records(ledger.input_records);
  record->set_kept(ledger.kept);
  record->set_merged(ledger.merged);
  record->set_rejected(ledger.rejected);
  CountsToProto(ledger.merged_by_rule, record->mutable_merged_by_rule());
  CountsToProto(ledger.rejected_by_rule, record->mutable_rejected_by_rule());
  EntriesToProto(ledger.rejections, record->mutable_rejections());
  CountsToProto(ledger.flaws_by_rule, record->mutable_flaws_by_rule());
  EntriesToProto(ledger.flaws, record->mutable_flaws());
  for (const std::string& notice : ledger.notices) record->add_notices(notice);
}

Ledger LedgerFromProto(const storage::LedgerRecord& record) {
  Ledger ledger;
  ledger.file = record.file();
  ledger.input_records = record.input_records();
  ledger.kept = record.kept();
  ledger.merged = record.merged();
  ledger.rejected = record.rejected();
  ledger.merged_by_rule = CountsFromProto(record.merged_by_rule());
  ledger.rejected_by_rule = CountsFromProto(record.rejected_by_rule());
  ledger.rejections = EntriesFromProto(record.rejections());
  ledger.flaws_by_rule = CountsFromProto(record.flaws_by_rule());
  ledger.flaws = EntriesFromProto(record.flaws());
  ledger.notices.assign(record.notices().begin(), record.notices().end());
  return ledger;
}

}  // namespace

void TraceInfoToProto(const TraceInfo& info, storage::TraceManifest* manifest) {
  for (const auto& [key, value] : info.labels) {
    storage::Label* label = manifest->add_labels();
    label->set_key(key);
    label->set_value(value);
  }
  manifest->set_create_unix_ns(info.create_unix_ns);
  manifest->set_world_size(info.world_size);
  CheckToProto(info.check, manifest->mutable_check());
  for (const RankSummary& rank : info.ranks) SummaryToProto(rank, manifest->add_ranks());
  for (const ProcessGroup& group : info.groups) GroupToProto(group, manifest->add_groups());
  for (const Ledger& ledger : info.ledgers) LedgerToProto(ledger, manifest->add_ledgers());
  for (const std::string& notice : info.notices) manifest->add_notices(notice);
  manifest->set_stored_bytes(info.stored_bytes);
  manifest->set_start_unix_ns(info.start_unix_ns);
  manifest->set_end_unix_ns(info.end_unix_ns);
  if (info.breakdown.has_value()) {
    BreakdownToProto(*info.breakdown, manifest->mutable_breakdown());
  }
  manifest->set_content_hash(info.content_hash);
  for (const RawFileInfo& file : info.raw_files) {
    storage::RawFileRecord* record = manifest->add_raw_files();
    record->set_file(file.file);
    record->set_size_bytes(file.size_bytes);
    record->set_sha256(file.sha256);
  }
}

absl::Status TraceInfoFromProto(const storage::TraceManifest& manifest, TraceInfo* info) {
  for (const storage::Label& label : manifest.labels()) info->labels[label.key()] = label.value();
  info->create_unix_ns = manifest.create_unix_ns();
  info->world_size = manifest.world_size();
  info->check = CheckFromProto(manifest.check());
  for (const auto& rank : manifest.ranks()) info->ranks.push_back(SummaryFromProto(rank));
  for (const codec::Group& group : manifest.groups()) {
    RETURN_IF_ERROR(GroupFromProto(group, &info->groups.emplace_back()));
  }
  for (const auto& ledger : manifest.ledgers()) info->ledgers.push_back(LedgerFromProto(ledger));
  info->notices.assign(manifest.notices().begin(), manifest.notices().end());
  info->stored_bytes = manifest.stored_bytes();
  info->start_unix_ns = manifest.start_unix_ns();
  info->end_unix_ns = manifest.end_unix_ns();
  if (manifest.has_breakdown()) info->breakdown = BreakdownFromProto(manifest.breakdown());
  info->content_hash = manifest.content_hash();
  for (const storage::RawFileRecord& file : manifest.raw_files()) {
    info->raw_files.push_back({file.file(), file.size_bytes(), file.sha256()});
  }
  return absl::OkStatus();
}

}  // namespace chakrad
