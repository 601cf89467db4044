// What a rank's index says of its chunks, checked and made searchable.
#ifndef CHAKRAD_TRACE_CODEC_RANK_SPANS_H_
#define CHAKRAD_TRACE_CODEC_RANK_SPANS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "trace/codec/chunk_frame.h"
#include "trace/codec/rank_index.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// Fills in min_start_ns and max_end_ns from the nodes [begin, end) of `rank`.
void AddTimes(const RankTrace& rank, size_t begin, size_t end, ChunkSpan* span);

// The chunks of each kind, in order of their rows.
class ChunkTables {
 public:
  // INVALID_ARGUMENT naming the chunk: spans of a kind leave rows out, overlap or are
  // larger than a window, do not add up to the header's counts, or a kind has no place
  // among hot chunks. Whether chunks hold what spans say is for whoever reads them.
  static absl::Status Build(const RankHeader& header, const std::vector<ChunkRef>& hot,
                            ChunkTables* tables);

  // Positions in `hot` of the chunks of a kind.
  const std::vector<size_t>& Of(ChunkKind kind) const {
    return by_kind_[static_cast<size_t>(kind)];
  }
  // Of all chunks of the kind.
  uint64_t RowsCount(ChunkKind kind) const { return rows_count_[static_cast<size_t>(kind)]; }
  // Which entry of Of(kind) holds the row, which must be below first row + RowsCount.
  size_t EntryOf(const std::vector<ChunkRef>& hot, ChunkKind kind, uint64_t row) const;

 private:
  static constexpr size_t kKinds = static_cast<size_t>(kLastChunkKind) + 1;
  std::vector<size_t> by_kind_[kKinds];
  uint64_t rows_count_[kKinds] = {};
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_RANK_SPANS_H_
