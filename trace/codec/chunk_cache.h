// A rank's hot chunks, decoded one by one: each checked against what the index says
// of it, the ones used last kept.
#ifndef CHAKRAD_TRACE_CODEC_CHUNK_CACHE_H_
#define CHAKRAD_TRACE_CODEC_CHUNK_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/codec/chunk_frame.h"
#include "trace/codec/rank_index.h"
#include "trace/codec/rank_reader.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// What one chunk holds; the columns of its kind are filled, the others empty.
struct DecodedChunk {
  ChunkSpan span;
  // Rows are the chunk's own; dep_begin counts from the chunk's first edge, gap_node
  // is the rank's, strings begin at 1.
  RankTrace columns;
  std::vector<int64_t> node_minus_dep;  // kEdges; the kinds are in `columns`.
  // kStringLengths: where each string begins among all bytes, and where the last ends.
  std::vector<uint64_t> string_begin;
  std::string bytes;  // kStringBytes.

  size_t MemoryBytes() const;
};

// Decodes the chunk that begins at row `first` with item `first_item`, and says in
// out->span what it holds. DATA_LOSS: it does not decode, has more rows than a window,
// or none. Values are checked as far as chunk_decoding.h says.
absl::Status DecodeChunk(const RankHeader& header, absl::string_view stored, uint64_t first,
                         uint64_t first_item, ChunkFramer* framer, DecodedChunk* out);

// Fills in the spans of an index that has none, by reading each hot chunk once, one at
// a time in memory. DATA_LOSS as DecodeChunk.
absl::Status ScanSpans(const ChunkSource& source, RankIndex* index);

// Not thread-safe. What it hands out stays good after it was dropped here.
class ChunkCache {
 public:
  // Keeps at most `bytes` of decoded chunks, and the one used last whatever its size.
  ChunkCache(RankHeader header, std::vector<ChunkRef> chunks, ChunkSource source, size_t bytes);
  // DATA_LOSS: the chunk is not what its span says. O(1) when it is kept.
  absl::StatusOr<std::shared_ptr<const DecodedChunk>> Get(size_t chunk);

 private:
  struct Entry {
    size_t chunk = 0;
    std::shared_ptr<const DecodedChunk> decoded;
    size_t bytes = 0;
  };
  const RankHeader header_;
  const std::vector<ChunkRef> chunks_;
  const ChunkSource source_;
  const size_t bytes_max_;
  ChunkFramer framer_;
  std::list<Entry> entries_;  // The one used last first; a few dozen.
  size_t bytes_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_CHUNK_CACHE_H_
