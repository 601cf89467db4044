// Where one rank's columns are: its chunks by hash, and what each holds. Kept in
// the store for each rank of a trace, and sent with traces that a client encoded.
#ifndef CHAKRAD_TRACE_CODEC_RANK_INDEX_H_
#define CHAKRAD_TRACE_CODEC_RANK_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/codec/chunk_frame.h"

namespace chakrad {

namespace codec {
class RankIndexRecord;
}

// What a rank's chunks leave out.
struct RankHeader {
  int32_t rank = 0;
  int64_t base_unix_ns = 0;
  std::string schema;
  uint32_t nodes_count = 0;
  uint32_t edges_count = 0;
  bool has_cold = false;  // Whether cold_begin is not empty.
  uint64_t file_cold_bytes = 0;
  friend bool operator==(const RankHeader&, const RankHeader&) = default;
};

// What one chunk holds.
struct ChunkSpan {
  ChunkKind kind = ChunkKind::kNodes;
  // The first row and how many: nodes (also of kColdLengths), edges, gaps, side
  // records, queues, strings (which begin with number 1). Of chunks of bytes: the
  // first byte and how many. Of kGroups: 0.
  uint64_t first = 0;
  uint64_t count = 0;
  // kNodes: the first edge of the first node. kColdLengths: where the first
  // node's cold block begins among all bytes of cold blocks. kStringLengths: the
  // same among the bytes of strings. kGaps: the node of the first gap. Else 0.
  uint64_t first_item = 0;
  // kNodes: over its nodes with known times, the earliest start and the latest
  // end (start + recorded duration). kUnknownNs, both, when no node has a time.
  int64_t min_start_ns = -1;
  int64_t max_end_ns = -1;
  friend bool operator==(const ChunkSpan&, const ChunkSpan&) = default;
};

struct ChunkRef {
  std::string hash;  // SHA-256 of the chunk as stored: 32 raw bytes.
  ChunkSpan span;
  friend bool operator==(const ChunkRef&, const ChunkRef&) = default;
};

struct RankIndex {
  RankHeader header;
  // In reading order.
  std::vector<ChunkRef> hot;
  std::vector<ChunkRef> cold;
  // Whether spans are known; an index that an older daemon stored has none.
  bool has_spans = false;
  friend bool operator==(const RankIndex&, const RankIndex&) = default;
};

void RankIndexToProto(const RankIndex& index, codec::RankIndexRecord* record);
// INVALID_ARGUMENT: a hash has not 32 bytes, or spans and chunks differ in number.
// Spans themselves are claims: a reader checks each against its chunk.
absl::Status RankIndexFromProto(const codec::RankIndexRecord& record, RankIndex* index);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_RANK_INDEX_H_
