#include "trace/codec/rank_reader.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/codec/chunk_cache.h"
#include "trace/codec/chunk_decoding.h"
#include "trace/codec/rank_check.h"
#include "trace/codec/rank_spans.h"

namespace chakrad {
namespace {

using Chunk = std::shared_ptr<const DecodedChunk>;

// Walks rows of one kind, mostly forwards.
class Cursor {
 public:
  Cursor(ChunkKind kind, const std::vector<ChunkRef>* hot, const ChunkTables* tables,
         ChunkCache* cache)
      : kind_(kind), hot_(hot), tables_(tables), cache_(cache) {}

  // Makes chunk() the one that holds the row. DATA_LOSS: there is no such row.
  absl::Status Seek(uint64_t row) {
    if (chunk_ != nullptr && row - chunk_->span.first < chunk_->span.count) {
      return absl::OkStatus();
    }
    const std::vector<size_t>& chunks = tables_->Of(kind_);
    if (chunks.empty() || row - (*hot_)[chunks[0]].span.first >= tables_->RowsCount(kind_)) {
      return DamagedChunk(absl::StrCat("row ", row, " of kind ", static_cast<int>(kind_),
                                       " is beyond ", tables_->RowsCount(kind_)));
    }
    ASSIGN_OR_RETURN(chunk_, cache_->Get(chunks[tables_->EntryOf(*hot_, kind_, row)]));
    return absl::OkStatus();
  }
  const DecodedChunk& chunk() const { return *chunk_; }
  // Of a row that Seek found: its place in the chunk.
  size_t Local(uint64_t row) const { return static_cast<size_t>(row - chunk_->span.first); }

 private:
  const ChunkKind kind_;
  const std::vector<ChunkRef>* hot_;
  const ChunkTables* tables_;
  ChunkCache* cache_;
  Chunk chunk_;
};

// Whether a chunk can hold nodes of the range's time.
bool MayRunWithin(const ChunkSpan& span, const NodeRange& range) {
  if (!range.from_ns.has_value() && !range.to_ns.has_value()) return true;
  if (span.min_start_ns == kUnknownNs && span.max_end_ns == kUnknownNs) return false;
  if (range.to_ns.has_value() && span.min_start_ns >= *range.to_ns) return false;
  // Ends beyond all times are kept as the last one.
  return !range.from_ns.has_value() || span.max_end_ns >= *range.from_ns ||
         span.max_end_ns >= INT64_MAX - 1;
}

bool RunsWithin(int64_t start_ns, int64_t recorded_dur_ns, const NodeRange& range) {
  if (!range.from_ns.has_value() && !range.to_ns.has_value()) return true;
  if (start_ns == kUnknownNs) return false;
  const int64_t dur_ns = std::max<int64_t>(recorded_dur_ns, 0);
  if (range.to_ns.has_value() && start_ns >= *range.to_ns) return false;
  return !range.from_ns.has_value() || start_ns >= *range.from_ns ||
         start_ns > INT64_MAX - dur_ns || start_ns + dur_ns > *range.from_ns;
}

absl::Status CheckRange(const RankHeader& header, const NodeRange& range) {
  if (range.first > header.nodes_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("first_node: ", range.first, " is not in [0, ", header.nodes_count, "]"));
  }
  if (range.from_ns.has_value() && range.to_ns.has_value() && *range.to_ns <= *range.from_ns) {
    return absl::InvalidArgumentError(
        absl::StrCat("to_ns: ", *range.to_ns, " is not after from_ns ", *range.from_ns));
  }
  return absl::OkStatus();
}

}  // namespace

struct RankReader::State {
  State(RankIndex index, ChunkTables chunk_tables, ChunkSource source,
        const RankReaderOptions& reader_options)
      : header(index.header),
        hot(index.hot),
        tables(std::move(chunk_tables)),
        options(reader_options),
        cache(header, std::move(index.hot), std::move(source), options.cache_bytes) {}

  Cursor CursorOf(ChunkKind kind) { return Cursor(kind, &hot, &tables, &cache); }
  absl::Status LoadQueues();
  // Appends the edges [begin, end) of the chunk of nodes to `deps` (and `kinds`, unless null).
  absl::Status AddEdges(const DecodedChunk& nodes, size_t row, Cursor* edges,
                        std::vector<uint32_t>* deps, std::vector<EdgeKind>* kinds);
  absl::Status AddRow(const DecodedChunk& nodes, size_t row, Cursor* edges, RankPart* part);
  absl::Status AddSides(RankPart* part);
  absl::Status AddGaps(RankPart* part);
  absl::Status AddNames(RankPart* part);
  absl::StatusOr<std::string> LongString(uint32_t string, Cursor* lengths, Cursor* bytes);

  const RankHeader header;
  const std::vector<ChunkRef> hot;
  const ChunkTables tables;
  const RankReaderOptions options;
  ChunkCache cache;
  std::vector<Queue> queues;
  bool has_queues = false;
};

absl::Status RankReader::State::LoadQueues() {
  if (has_queues) return absl::OkStatus();
  std::vector<Queue> read;
  for (const size_t i : tables.Of(ChunkKind::kQueues)) {
    ASSIGN_OR_RETURN(const Chunk chunk, cache.Get(i));
    read.insert(read.end(), chunk->columns.queues.begin(), chunk->columns.queues.end());
  }
  queues = std::move(read);
  has_queues = true;
  return absl::OkStatus();
}

absl::Status RankReader::State::AddEdges(const DecodedChunk& nodes, size_t row, Cursor* edges,
                                         std::vector<uint32_t>* deps,
                                         std::vector<EdgeKind>* kinds) {
  const uint64_t node = nodes.span.first + row;
  const uint64_t end = nodes.span.first_item + nodes.columns.dep_begin[row + 1];
  for (uint64_t edge = nodes.span.first_item + nodes.columns.dep_begin[row]; edge < end; ++edge) {
    RETURN_IF_ERROR(edges->Seek(edge));
    const size_t local = edges->Local(edge);
    uint32_t dep = 0;
    if (!DependencyAt(node, edges->chunk().node_minus_dep[local], header.nodes_count, &dep)) {
      return DamagedChunk(absl::StrCat("node at position ", node, ": a dependency is not in [0, ",
                                       header.nodes_count, ")"));
    }
    deps->push_back(dep);
    if (kinds != nullptr) kinds->push_back(edges->chunk().columns.dep_kind[local]);
  }
  return absl::OkStatus();
}

// Names and side records are still the rank's numbers.
absl::Status RankReader::State::AddRow(const DecodedChunk& nodes, size_t row, Cursor* edges,
                                       RankPart* part) {
  const RankTrace& from = nodes.columns;
  RankTrace& rows = part->rows;
  part->position.push_back(static_cast<uint32_t>(nodes.span.first + row));
  rows.id.push_back(from.id[row]);
  rows.type.push_back(from.type[row]);
  rows.flags.push_back(from.flags[row]);
  rows.queue.push_back(from.queue[row]);
  rows.name.push_back(from.name[row]);
  rows.start_ns.push_back(from.start_ns[row]);
  rows.dur_ns.push_back(from.dur_ns[row]);
  rows.work_ns.push_back(from.work_ns[row]);
  rows.side.push_back(from.side[row]);
  RETURN_IF_ERROR(AddEdges(nodes, row, edges, &rows.dep_node, &rows.dep_kind));
  rows.dep_begin.push_back(static_cast<uint32_t>(rows.dep_node.size()));
  return absl::OkStatus();
}

absl::Status RankReader::State::AddSides(RankPart* part) {
  RankTrace& rows = part->rows;
  Cursor comm = CursorOf(ChunkKind::kComm), work_size = CursorOf(ChunkKind::kWorkSize);
  for (size_t row = 0; row < rows.side.size(); ++row) {
    const uint32_t side = rows.side[row];
    if (side == kNone) continue;
    if (IsComm(rows.type[row])) {
      RETURN_IF_ERROR(comm.Seek(side));
      rows.side[row] = static_cast<uint32_t>(rows.comm.size());
      rows.comm.push_back(comm.chunk().columns.comm[comm.Local(side)]);
    } else {
      RETURN_IF_ERROR(work_size.Seek(side));
      rows.side[row] = static_cast<uint32_t>(rows.work_size.size());
      rows.work_size.push_back(work_size.chunk().columns.work_size[work_size.Local(side)]);
    }
  }
  return absl::OkStatus();
}

absl::Status RankReader::State::AddGaps(RankPart* part) {
  const std::vector<size_t>& chunks = tables.Of(ChunkKind::kGaps);
  const std::vector<uint32_t>& position = part->position;
  size_t row = 0;
  for (size_t i = 0; i < chunks.size() && row < position.size(); ++i) {
    const uint64_t begin = hot[chunks[i]].span.first_item;
    const uint64_t end =
        i + 1 < chunks.size() ? hot[chunks[i + 1]].span.first_item : header.nodes_count;
    while (row < position.size() && position[row] < begin) ++row;
    if (row == position.size() || position[row] >= end) continue;
    ASSIGN_OR_RETURN(const Chunk chunk, cache.Get(chunks[i]));
    const std::vector<uint32_t>& gap_node = chunk->columns.gap_node;
    for (auto gap = std::lower_bound(gap_node.begin(), gap_node.end(), position[row]);
         gap != gap_node.end(); ++gap) {
      while (row < position.size() && position[row] < *gap) ++row;
      if (row == position.size()) break;
      if (position[row] != *gap) continue;
      part->rows.gap_node.push_back(static_cast<uint32_t>(row));
      part->rows.gap_ns.push_back(chunk->columns.gap_ns[gap - gap_node.begin()]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> RankReader::State::LongString(uint32_t string, Cursor* lengths,
                                                          Cursor* bytes) {
  RETURN_IF_ERROR(lengths->Seek(string));
  const size_t local = lengths->Local(string);
  uint64_t at = lengths->chunk().string_begin[local];
  const uint64_t end = lengths->chunk().string_begin[local + 1];
  if (end > tables.RowsCount(ChunkKind::kStringBytes)) {
    return DamagedChunk("strings are longer than their bytes");
  }
  std::string text;
  while (at < end) {
    RETURN_IF_ERROR(bytes->Seek(at));
    const size_t begin = bytes->Local(at);
    const size_t count =
        static_cast<size_t>(std::min<uint64_t>(end - at, bytes->chunk().bytes.size() - begin));
    text.append(bytes->chunk().bytes, begin, count);
    at += count;
  }
  return text;
}

absl::Status RankReader::State::AddNames(RankPart* part) {
  RankTrace& rows = part->rows;
  absl::flat_hash_map<uint32_t, uint32_t> local{{0, 0}};
  std::vector<uint32_t> used;
  for (const uint32_t name : rows.name) {
    if (local.emplace(name, 0).second) used.push_back(name);
  }
  std::sort(used.begin(), used.end());  // So that each run of strings is opened once.
  const bool runs = tables.Of(ChunkKind::kStringLengths).empty();
  Cursor strings = CursorOf(runs ? ChunkKind::kStrings : ChunkKind::kStringLengths);
  Cursor bytes = CursorOf(ChunkKind::kStringBytes);
  for (const uint32_t string : used) {
    if (runs) {
      RETURN_IF_ERROR(strings.Seek(string));
      // String 0 of a run is the empty one that every table has.
      const auto in_run = static_cast<uint32_t>(strings.Local(string) + 1);
      local[string] = rows.strings.Append(strings.chunk().columns.strings.Get(in_run));
    } else {
      ASSIGN_OR_RETURN(const std::string text, LongString(string, &strings, &bytes));
      local[string] = rows.strings.Append(text);
    }
  }
  for (uint32_t& name : rows.name) name = local[name];
  return absl::OkStatus();
}

RankReader::RankReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RankReader::~RankReader() = default;

absl::StatusOr<std::unique_ptr<RankReader>> RankReader::Open(RankIndex index, ChunkSource source,
                                                             RankReaderOptions options) {
  if (!index.has_spans) RETURN_IF_ERROR(ScanSpans(source, &index));
  ChunkTables tables;
  const absl::Status built = ChunkTables::Build(index.header, index.hot, &tables);
  // Spans that were read from the chunks are the chunks' fault.
  if (!built.ok() && !index.has_spans) return absl::DataLossError(built.message());
  RETURN_IF_ERROR(built);
  return std::unique_ptr<RankReader>(new RankReader(
      std::make_unique<State>(std::move(index), std::move(tables), std::move(source), options)));
}

const RankHeader& RankReader::header() const { return state_->header; }

absl::StatusOr<RankPart> RankReader::Read(const NodeRange& range) {
  State& state = *state_;
  const RankHeader& header = state.header;
  RETURN_IF_ERROR(CheckRange(header, range));
  const uint64_t end = range.first + std::min(range.count, header.nodes_count - range.first);
  RankPart part;
  Cursor edges = state.CursorOf(ChunkKind::kEdges);
  for (uint64_t node = range.first; node < end;) {
    const size_t entry = state.tables.EntryOf(state.hot, ChunkKind::kNodes, node);
    const size_t i = state.tables.Of(ChunkKind::kNodes)[entry];
    const ChunkSpan& span = state.hot[i].span;
    const uint64_t chunk_end = std::min(end, span.first + span.count);
    if (!MayRunWithin(span, range)) {
      node = chunk_end;
      continue;
    }
    ASSIGN_OR_RETURN(const Chunk nodes, state.cache.Get(i));
    for (; node < chunk_end; ++node) {
      const auto row = static_cast<size_t>(node - span.first);
      if (!RunsWithin(nodes->columns.start_ns[row], nodes->columns.dur_ns[row], range)) continue;
      RETURN_IF_ERROR(state.AddRow(*nodes, row, &edges, &part));
    }
  }
  RankTrace& rows = part.rows;
  rows.rank = header.rank;
  rows.base_unix_ns = header.base_unix_ns;
  rows.schema = header.schema;
  if (part.position.empty()) return part;
  RETURN_IF_ERROR(state.LoadQueues());
  rows.queues = state.queues;
  RETURN_IF_ERROR(state.AddSides(&part));
  RETURN_IF_ERROR(state.AddGaps(&part));
  RETURN_IF_ERROR(state.AddNames(&part));
  const absl::Status fits = CheckPartColumns(rows, state.options.groups_count, header.nodes_count);
  if (!fits.ok()) return absl::DataLossError(fits.message());
  return part;
}

absl::StatusOr<DependencyRun> RankReader::ReadDependencies(uint64_t first, uint64_t count) {
  State& state = *state_;
  RETURN_IF_ERROR(CheckRange(state.header, {.first = first}));
  const uint64_t end = first + std::min(count, state.header.nodes_count - first);
  DependencyRun run;
  run.first = static_cast<uint32_t>(first);
  run.begin.reserve(end - first + 1);
  run.begin.push_back(0);
  Cursor nodes = state.CursorOf(ChunkKind::kNodes), edges = state.CursorOf(ChunkKind::kEdges);
  for (uint64_t node = first; node < end; ++node) {
    RETURN_IF_ERROR(nodes.Seek(node));
    RETURN_IF_ERROR(
        state.AddEdges(nodes.chunk(), nodes.Local(node), &edges, &run.dep_node, nullptr));
    run.begin.push_back(static_cast<uint32_t>(run.dep_node.size()));
  }
  return run;
}

}  // namespace chakrad
