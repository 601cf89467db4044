#include "trace/codec/rank_index.h"

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/codec/rank_index.pb.h"

namespace chakrad {
namespace {

constexpr size_t kHashBytes = 32;

// Modulo 2^64: any time exists as a record.
int64_t PlusOne(int64_t time_ns) {
  return static_cast<int64_t>(static_cast<uint64_t>(time_ns) + 1);
}
int64_t MinusOne(int64_t time_ns) {
  return static_cast<int64_t>(static_cast<uint64_t>(time_ns) - 1);
}

void SpanToProto(const ChunkSpan& span, codec::ChunkSpanRecord* record) {
  record->set_kind(static_cast<uint32_t>(span.kind));
  record->set_first(span.first);
  record->set_count(span.count);
  record->set_first_item(span.first_item);
  record->set_min_start_ns_plus_1(PlusOne(span.min_start_ns));
  record->set_max_end_ns_plus_1(PlusOne(span.max_end_ns));
}

ChunkSpan SpanFromProto(const codec::ChunkSpanRecord& record) {
  ChunkSpan span;
  span.kind = static_cast<ChunkKind>(record.kind());
  span.first = record.first();
  span.count = record.count();
  span.first_item = record.first_item();
  span.min_start_ns = MinusOne(record.min_start_ns_plus_1());
  span.max_end_ns = MinusOne(record.max_end_ns_plus_1());
  return span;
}

using Hashes = google::protobuf::RepeatedPtrField<std::string>;
using Spans = google::protobuf::RepeatedPtrField<codec::ChunkSpanRecord>;

absl::Status RefsFromProto(const Hashes& hashes, const Spans& spans, std::vector<ChunkRef>* refs) {
  for (int i = 0; i < hashes.size(); ++i) {
    if (hashes[i].size() != kHashBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank index: chunk ", i, ": a hash has ", hashes[i].size(), " bytes"));
    }
    ChunkRef& ref = refs->emplace_back();
    ref.hash = hashes[i];
    if (spans.empty()) continue;
    if (spans[i].kind() > UINT8_MAX) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank index: chunk ", i, ": kind ", spans[i].kind(), " is above 255"));
    }
    ref.span = SpanFromProto(spans[i]);
  }
  return absl::OkStatus();
}

}  // namespace

void RankIndexToProto(const RankIndex& index, codec::RankIndexRecord* record) {
  record->set_rank(index.header.rank);
  record->set_base_unix_ns(index.header.base_unix_ns);
  record->set_schema(index.header.schema);
  record->set_nodes_count(index.header.nodes_count);
  record->set_edges_count(index.header.edges_count);
  record->set_has_cold(index.header.has_cold);
  record->set_file_cold_bytes(index.header.file_cold_bytes);
  for (const ChunkRef& ref : index.hot) {
    record->add_hot_chunks(ref.hash);
    if (index.has_spans) SpanToProto(ref.span, record->add_hot_spans());
  }
  for (const ChunkRef& ref : index.cold) {
    record->add_cold_chunks(ref.hash);
    if (index.has_spans) SpanToProto(ref.span, record->add_cold_spans());
  }
}

absl::Status RankIndexFromProto(const codec::RankIndexRecord& record, RankIndex* index) {
  const int spans_count = record.hot_spans_size() + record.cold_spans_size();
  if (spans_count > 0 && (record.hot_spans_size() != record.hot_chunks_size() ||
                          record.cold_spans_size() != record.cold_chunks_size())) {
    return absl::InvalidArgumentError("rank index: spans and chunks differ in number");
  }
  index->header = {record.rank(),           record.base_unix_ns(), record.schema(),
                   record.nodes_count(),    record.edges_count(),  record.has_cold(),
                   record.file_cold_bytes()};
  index->hot.clear();
  index->cold.clear();
  index->has_spans = spans_count > 0 || record.hot_chunks_size() + record.cold_chunks_size() == 0;
  RETURN_IF_ERROR(RefsFromProto(record.hot_chunks(), record.hot_spans(), &index->hot));
  return RefsFromProto(record.cold_chunks(), record.cold_spans(), &index->cold);
}

}  // namespace chakrad
