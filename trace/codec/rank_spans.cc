#include "trace/codec/rank_spans.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/codec/limits.h"

namespace chakrad {
namespace {

absl::Status Wrong(size_t chunk, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("rank index: chunk ", chunk, ": ", what));
}

bool IsBytes(ChunkKind kind) { return kind == ChunkKind::kStringBytes; }

// The number of the first row of a kind: string 0 is always there.
uint64_t FirstRow(ChunkKind kind) {
  return kind == ChunkKind::kStrings || kind == ChunkKind::kStringLengths ? 1 : 0;
}

bool IsHot(ChunkKind kind) {
  return kind >= ChunkKind::kNodes && kind <= kLastChunkKind && !IsCold(kind);
}

// Of spans whose first_item must not fall: what it must stay below or at.
uint64_t ItemLimit(const RankHeader& header, ChunkKind kind) {
  if (kind == ChunkKind::kNodes) return header.edges_count;
  if (kind == ChunkKind::kGaps) return header.nodes_count;
  return UINT64_MAX;
}

}  // namespace

void AddTimes(const RankTrace& rank, size_t begin, size_t end, ChunkSpan* span) {
  bool any = false;
  for (size_t node = begin; node < end; ++node) {
    const int64_t start_ns = rank.start_ns[node];
    if (start_ns == kUnknownNs) continue;
    const int64_t dur_ns = std::max<int64_t>(rank.dur_ns[node], 0);
    // The record keeps it plus one.
    const int64_t end_ns = start_ns >= INT64_MAX - dur_ns ? INT64_MAX - 1 : start_ns + dur_ns;
    if (!any || start_ns < span->min_start_ns) span->min_start_ns = start_ns;
    if (!any || end_ns > span->max_end_ns) span->max_end_ns = end_ns;
    any = true;
  }
}

absl::Status ChunkTables::Build(const RankHeader& header, const std::vector<ChunkRef>& hot,
                                ChunkTables* tables) {
  *tables = ChunkTables();
  for (size_t i = 0; i < hot.size(); ++i) {
    const ChunkSpan& span = hot[i].span;
    if (!IsHot(span.kind)) {
      return Wrong(i, absl::StrCat("kind ", static_cast<int>(span.kind), " is no hot one"));
    }
    const auto kind = static_cast<size_t>(span.kind);
    std::vector<size_t>& chunks = tables->by_kind_[kind];
    const bool first = chunks.empty();
    if (span.kind != ChunkKind::kGroups) {
      const uint64_t rows_max = IsBytes(span.kind) ? kMaxChunkRawBytes : kWindowRows;
      if (span.count == 0 || span.count > rows_max) {
        return Wrong(i, absl::StrCat("count: ", span.count, " is not in [1, ", rows_max, "]"));
      }
      const uint64_t wanted = FirstRow(span.kind) + tables->rows_count_[kind];
      if (span.first != wanted) {
        return Wrong(i, absl::StrCat("first: ", span.first, " does not follow ", wanted));
      }
    }
    const uint64_t item_min = first ? 0 : hot[chunks.back()].span.first_item;
    const uint64_t item_max = ItemLimit(header, span.kind);
    if (span.first_item < item_min || span.first_item > item_max) {
      return Wrong(i, absl::StrCat("first_item: ", span.first_item, " is not in [", item_min, ", ",
                                   item_max, "]"));
    }
    if (first && span.first_item != 0 && span.kind != ChunkKind::kGaps) {
      return Wrong(i, "first_item: the first of a kind is not 0");
    }
    tables->rows_count_[kind] += span.count;
    chunks.push_back(i);
  }
  const uint64_t nodes = tables->RowsCount(ChunkKind::kNodes);
  const uint64_t edges = tables->RowsCount(ChunkKind::kEdges);
  if (nodes != header.nodes_count || edges != header.edges_count) {
    return absl::InvalidArgumentError(absl::StrCat("rank index: spans hold ", nodes, " of ",
                                                   header.nodes_count, " nodes and ", edges, " of ",
                                                   header.edges_count, " edges"));
  }
  if (!tables->Of(ChunkKind::kStrings).empty() && !tables->Of(ChunkKind::kStringLengths).empty()) {
    return absl::InvalidArgumentError("rank index: strings are kept in two ways");
  }
  return absl::OkStatus();
}

size_t ChunkTables::EntryOf(const std::vector<ChunkRef>& hot, ChunkKind kind, uint64_t row) const {
  const std::vector<size_t>& chunks = Of(kind);
  const auto after = std::upper_bound(
      chunks.begin(), chunks.end(), row,
      [&hot](uint64_t wanted, size_t chunk) { return wanted < hot[chunk].span.first; });
  return static_cast<size_t>(after - chunks.begin()) - 1;
}

}  // namespace chakrad
