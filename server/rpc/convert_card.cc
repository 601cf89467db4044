#include "server/rpc/convert_card.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/utf8.h"

namespace chakrad {
namespace {

void SetTimestamp(int64_t unix_ns, google::protobuf::Timestamp* timestamp) {
  int64_t seconds = unix_ns / 1'000'000'000;
  int64_t nanos = unix_ns % 1'000'000'000;
  if (nanos < 0) {  // Of times before 1970: nanos count forward always.
    nanos += 1'000'000'000;
    --seconds;
  }
  timestamp->set_seconds(seconds);
  timestamp->set_nanos(static_cast<int32_t>(nanos));
}

void SetRecorded(int64_t start_unix_ns, int64_t end_unix_ns, int64_t span_ns,
                 const std::optional<TraceBreakdown>& breakdown, v1::Trace* trace) {
  if (start_unix_ns != 0) SetTimestamp(start_unix_ns, trace->mutable_start_time());
  if (end_unix_ns != 0) SetTimestamp(end_unix_ns, trace->mutable_end_time());
  trace->set_span_ns(span_ns);
  if (!breakdown.has_value()) return;
  v1::Breakdown* const proto = trace->mutable_breakdown();
  proto->set_compute_ratio(breakdown->compute_ratio);
  proto->set_comm_ratio(breakdown->comm_ratio);
  proto->set_exposed_comm_ratio(breakdown->exposed_comm_ratio);
  proto->set_exposed_memory_ratio(breakdown->exposed_memory_ratio);
  proto->set_idle_ratio(breakdown->idle_ratio);
  proto->set_worst_exposed_comm_ratio(breakdown->worst_exposed_comm_ratio);
}

}  // namespace

void ToSummaryProto(const TraceCard& card, v1::Trace* trace) {
  trace->set_name(absl::StrCat("traces/", card.id));
  for (const auto& [key, value] : card.labels) {
    (*trace->mutable_labels())[ValidUtf8(key)] = ValidUtf8(value);
  }
  SetTimestamp(card.create_unix_ns, trace->mutable_create_time());
  trace->set_world_size(card.world_size);
  trace->set_stored_bytes(card.stored_bytes);
  trace->set_ranks_count(card.ranks_count);
  trace->set_nodes_count(card.nodes_count);
  trace->mutable_check()->set_errors_count(card.errors_count);
  trace->mutable_check()->set_warnings_count(card.warnings_count);
  trace->mutable_check()->set_quality_score(card.quality);
  trace->set_pinned(card.pinned);
  trace->set_damaged(card.damaged);
  SetRecorded(card.start_unix_ns, card.end_unix_ns, card.span_ns, card.breakdown, trace);
}

void AddDetails(const TraceInfo& info, v1::Trace* trace) {
  int64_t span_ns = 0;
  for (const RankSummary& rank : info.ranks) span_ns = std::max(span_ns, rank.span_ns);
  SetRecorded(info.start_unix_ns, info.end_unix_ns, span_ns, info.breakdown, trace);
  trace->set_pinned(info.pinned);
  for (const RawFileInfo& file : info.raw_files) {
    v1::RawFile* const proto = trace->add_raw_files();
    proto->set_file(ValidUtf8(file.file));
    proto->set_size_bytes(file.size_bytes);
    proto->set_sha256(file.sha256);
  }
}

}  // namespace chakrad
