#include "storage/card_record.h"

#include <algorithm>

#include "common/saturating.h"
#include "common/status.h"
#include "storage/record.h"
#include "storage/record.pb.h"

namespace chakrad {

TraceCard CardOf(const TraceInfo& info) {
  TraceCard card;
  card.id = info.id;
  card.labels = info.labels;
  card.create_unix_ns = info.create_unix_ns;
  card.start_unix_ns = info.start_unix_ns;
  card.end_unix_ns = info.end_unix_ns;
  card.world_size = info.world_size;
  card.ranks_count = static_cast<int64_t>(info.ranks.size());
  for (const RankSummary& rank : info.ranks) {
    card.span_ns = std::max(card.span_ns, rank.span_ns);
    card.nodes_count = SaturatingAdd(card.nodes_count, rank.nodes_count);
  }
  card.stored_bytes = info.stored_bytes;
  card.quality = info.check.quality;
  card.errors_count = info.check.errors_count;
  card.warnings_count = info.check.warnings_count;
  card.pinned = info.pinned;
  card.breakdown = info.breakdown;
  card.content_hash = info.content_hash;
  return card;
}

std::string PackCard(const TraceCard& card) {
  storage::CardRecord record;
  for (const auto& [key, value] : card.labels) {
    storage::Label* label = record.add_labels();
    label->set_key(key);
    label->set_value(value);
  }
  record.set_create_unix_ns(card.create_unix_ns);
  record.set_start_unix_ns(card.start_unix_ns);
  record.set_end_unix_ns(card.end_unix_ns);
  record.set_span_ns(card.span_ns);
  record.set_world_size(card.world_size);
  record.set_ranks_count(card.ranks_count);
  record.set_nodes_count(card.nodes_count);
  record.set_stored_bytes(card.stored_bytes);
  record.set_quality(card.quality);
  record.set_errors_count(card.errors_count);
  record.set_warnings_count(card.warnings_count);
  if (card.breakdown.has_value()) BreakdownToProto(*card.breakdown, record.mutable_breakdown());
  record.set_content_hash(card.content_hash);
  record.set_damaged(card.damaged);
  return PackRecord(record);
}

absl::Status UnpackCard(absl::string_view value, TraceCard* card) {
  storage::CardRecord record;
  RETURN_IF_ERROR(UnpackRecord(value, &record));
  for (const storage::Label& label : record.labels()) card->labels[label.key()] = label.value();
  card->create_unix_ns = record.create_unix_ns();
  card->start_unix_ns = record.start_unix_ns();
  card->end_unix_ns = record.end_unix_ns();
  card->span_ns = record.span_ns();
  card->world_size = record.world_size();
  card->ranks_count = record.ranks_count();
  card->nodes_count = record.nodes_count();
  card->stored_bytes = record.stored_bytes();
  card->quality = record.quality();
  card->errors_count = record.errors_count();
  card->warnings_count = record.warnings_count();
  if (record.has_breakdown()) card->breakdown = BreakdownFromProto(record.breakdown());
  card->content_hash = record.content_hash();
  card->damaged = record.damaged();
  return absl::OkStatus();
}

void BreakdownToProto(const TraceBreakdown& breakdown, storage::BreakdownRecord* record) {
  record->set_compute_ratio(breakdown.compute_ratio);
  record->set_comm_ratio(breakdown.comm_ratio);
  record->set_exposed_comm_ratio(breakdown.exposed_comm_ratio);
  record->set_exposed_memory_ratio(breakdown.exposed_memory_ratio);
  record->set_idle_ratio(breakdown.idle_ratio);
  record->set_worst_exposed_comm_ratio(breakdown.worst_exposed_comm_ratio);
}

TraceBreakdown BreakdownFromProto(const storage::BreakdownRecord& record) {
  return {.compute_ratio = record.compute_ratio(),
          .comm_ratio = record.comm_ratio(),
          .exposed_comm_ratio = record.exposed_comm_ratio(),
          .exposed_memory_ratio = record.exposed_memory_ratio(),
          .idle_ratio = record.idle_ratio(),
          .worst_exposed_comm_ratio = record.worst_exposed_comm_ratio()};
}

}  // namespace chakrad
