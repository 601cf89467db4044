#include "trace/codec/chunk_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/codec/chunk_decoding.h"
#include "trace/codec/limits.h"
#include "trace/codec/rank_spans.h"

namespace chakrad {
namespace {

template <typename T>
size_t BytesOf(const std::vector<T>& column) {
  return column.capacity() * sizeof(T);
}

absl::Status DecodeNodes(const RankHeader& header, absl::string_view raw, DecodedChunk* out) {
  if (out->span.first_item > header.edges_count) return DamagedChunk("too many edges");
  const NodeBounds bounds{out->span.first, header.nodes_count,
                          header.edges_count - out->span.first_item};
  RETURN_IF_ERROR(AppendNodes(raw, bounds, &out->columns));
  out->span.count = out->columns.size();
  AddTimes(out->columns, 0, out->columns.size(), &out->span);
  return absl::OkStatus();
}

absl::Status DecodeEdges(const RankHeader& header, absl::string_view raw, DecodedChunk* out) {
  EdgeRows rows;
  RETURN_IF_ERROR(ParseEdges(raw, out->span.first, header.edges_count, &rows));
  out->span.count = rows.kind.size();
  if (out->span.count > kWindowRows) return absl::OkStatus();  // Refused by the caller.
  out->node_minus_dep = std::move(rows.node_minus_dep);
  for (const char kind : rows.kind) {
    out->columns.dep_kind.push_back(static_cast<EdgeKind>(static_cast<uint8_t>(kind)));
  }
  return absl::OkStatus();
}

absl::Status DecodeGaps(absl::string_view raw, DecodedChunk* out) {
  RETURN_IF_ERROR(AppendGaps(raw, &out->columns));
  out->span.count = out->columns.gap_node.size();
  if (out->span.count > 0) out->span.first_item = out->columns.gap_node.front();
  return absl::OkStatus();
}

absl::Status DecodeStringLengths(absl::string_view raw, DecodedChunk* out) {
  std::vector<uint64_t>& begin = out->string_begin;
  begin.push_back(out->span.first_item);
  RETURN_IF_ERROR(AppendLengths(raw, &begin));
  for (size_t i = 1; i < begin.size(); ++i) {
    if (begin[i] > UINT64_MAX - begin[i - 1]) {
      return DamagedChunk("strings are longer than their bytes");
    }
    begin[i] += begin[i - 1];
  }
  out->span.count = begin.size() - 1;
  return absl::OkStatus();
}

absl::Status DecodeRows(const RankHeader& header, ChunkKind kind, absl::string_view raw,
                        DecodedChunk* out) {
  RankTrace& columns = out->columns;
  switch (kind) {
    case ChunkKind::kNodes:
      return DecodeNodes(header, raw, out);
    case ChunkKind::kEdges:
      return DecodeEdges(header, raw, out);
    case ChunkKind::kGaps:
      return DecodeGaps(raw, out);
    case ChunkKind::kQueues:
      RETURN_IF_ERROR(AppendQueues(raw, &columns.queues));
      out->span.count = columns.queues.size();
      return absl::OkStatus();
    case ChunkKind::kComm:
      RETURN_IF_ERROR(AppendComm(raw, header.rank, &columns.comm));
      out->span.count = columns.comm.size();
      return absl::OkStatus();
    case ChunkKind::kWorkSize:
      RETURN_IF_ERROR(AppendWorkSizes(raw, &columns.work_size));
      out->span.count = columns.work_size.size();
      return absl::OkStatus();
    case ChunkKind::kGroups:
      // Nobody reads a rank's own groups by window.
      return absl::OkStatus();
    case ChunkKind::kStringLengths:
      return DecodeStringLengths(raw, out);
    case ChunkKind::kStringBytes:
      out->span.count = raw.size();
      out->bytes.assign(raw.data(), raw.size());
      return absl::OkStatus();
    case ChunkKind::kStrings:
      RETURN_IF_ERROR(AppendStrings(raw, &columns.strings));
      out->span.count = columns.strings.size() - 1;
      return absl::OkStatus();
    case ChunkKind::kColdLengths:
    case ChunkKind::kColdBytes:
    case ChunkKind::kFileCold:
      return DamagedChunk("is cold, and among the hot ones");
  }
  return DamagedChunk("its kind is unknown");
}

}  // namespace

size_t DecodedChunk::MemoryBytes() const {
  return BytesOf(columns.id) + BytesOf(columns.type) + BytesOf(columns.flags) +
         BytesOf(columns.queue) + BytesOf(columns.name) + BytesOf(columns.start_ns) +
         BytesOf(columns.dur_ns) + BytesOf(columns.work_ns) + BytesOf(columns.side) +
         BytesOf(columns.dep_begin) + BytesOf(columns.dep_kind) + BytesOf(columns.gap_node) +
         BytesOf(columns.gap_ns) + BytesOf(columns.queues) + BytesOf(columns.comm) +
         BytesOf(columns.work_size) + columns.strings.size() * sizeof(uint64_t) +
         static_cast<size_t>(columns.strings.bytes()) + BytesOf(node_minus_dep) +
         BytesOf(string_begin) + bytes.capacity() + sizeof(*this);
}

absl::Status DecodeChunk(const RankHeader& header, absl::string_view stored, uint64_t first,
                         uint64_t first_item, ChunkFramer* framer, DecodedChunk* out) {
  ASSIGN_OR_RETURN(const ChunkFramer::Unpacked chunk, framer->Unpack(stored));
  out->span.kind = chunk.kind;
  out->span.first = first;
  out->span.first_item = first_item;
  RETURN_IF_ERROR(DecodeRows(header, chunk.kind, chunk.raw, out));
  if (chunk.kind == ChunkKind::kGroups || chunk.kind == ChunkKind::kStringBytes) {
    return absl::OkStatus();
  }
  if (out->span.count == 0 || out->span.count > kWindowRows) {
    return DamagedChunk(
        absl::StrCat("has ", out->span.count, " rows, which is not in [1, ", kWindowRows, "]"));
  }
  return absl::OkStatus();
}

absl::Status ScanSpans(const ChunkSource& source, RankIndex* index) {
  ChunkFramer framer;
  // By kind: the next row, and the next item.
  uint64_t next_row[UINT8_MAX + 1] = {}, next_item[UINT8_MAX + 1] = {};
  next_row[static_cast<size_t>(ChunkKind::kStrings)] = 1;
  next_row[static_cast<size_t>(ChunkKind::kStringLengths)] = 1;
  for (ChunkRef& ref : index->hot) {
    ASSIGN_OR_RETURN(const std::string stored, source(ref.hash));
    // Its second byte is its kind; shorter ones do not decode.
    const size_t kind = stored.size() < 2 ? 0 : static_cast<uint8_t>(stored[1]);
    DecodedChunk chunk;
    RETURN_IF_ERROR(
        DecodeChunk(index->header, stored, next_row[kind], next_item[kind], &framer, &chunk));
    ref.span = chunk.span;
    next_row[kind] += chunk.span.count;
    if (chunk.span.kind == ChunkKind::kNodes) next_item[kind] += chunk.columns.dep_begin.back();
    if (chunk.span.kind == ChunkKind::kStringLengths) next_item[kind] = chunk.string_begin.back();
  }
  return absl::OkStatus();
}

ChunkCache::ChunkCache(RankHeader header, std::vector<ChunkRef> chunks, ChunkSource source,
                       size_t bytes)
    : header_(std::move(header)),
      chunks_(std::move(chunks)),
      source_(std::move(source)),
      bytes_max_(bytes) {}

absl::StatusOr<std::shared_ptr<const DecodedChunk>> ChunkCache::Get(size_t chunk) {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->chunk != chunk) continue;
    entries_.splice(entries_.begin(), entries_, entry);
    return entry->decoded;
  }
  const ChunkRef& ref = chunks_[chunk];
  ASSIGN_OR_RETURN(const std::string stored, source_(ref.hash));
  auto decoded = std::make_shared<DecodedChunk>();
  absl::Status status =
      DecodeChunk(header_, stored, ref.span.first, ref.span.first_item, &framer_, decoded.get());
  if (status.ok() && decoded->span != ref.span) status = DamagedChunk("is not what its span says");
  RETURN_IF_ERROR(Annotate(status, absl::StrCat("chunk ", chunk)));
  Entry entry{chunk, decoded, decoded->MemoryBytes()};
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  while (bytes_ > bytes_max_ && entries_.size() > 1) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  return std::shared_ptr<const DecodedChunk>(std::move(decoded));
}

}  // namespace chakrad
