// RankDecoder: all chunks of a rank to its columns. Nothing in a chunk is trusted:
// each index, count and sum is checked here, by chunk_decoding.h or by
// CheckRankColumns.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status.h"
#include "trace/codec/chunk_decoding.h"
#include "trace/codec/limits.h"
#include "trace/codec/rank_check.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_spans.h"

namespace chakrad {
namespace {

// Whether the chunk is one that RankReader takes.
absl::Status CheckWindow(const ChunkSpan& span) {
  if (span.kind == ChunkKind::kGroups) return absl::OkStatus();
  const bool bytes = span.kind == ChunkKind::kStringBytes || span.kind == ChunkKind::kColdBytes ||
                     span.kind == ChunkKind::kFileCold;
  if (span.count > 0 && (bytes || span.count <= kWindowRows)) return absl::OkStatus();
  return DamagedChunk(
      absl::StrCat("has ", span.count, " rows, which is not in [1, ", kWindowRows, "]"));
}

}  // namespace

struct RankDecoder::State {
  RankHeader header;
  RankTrace trace;
  ChunkFramer framer;
  uint32_t edge_node = 0;  // The node whose dependencies are being read.
  EdgeRows edges;          // Of the chunk being read.
  std::vector<uint64_t> string_lengths, cold_lengths;
  std::string string_bytes;
  // Of a growing list of lengths: each is added once.
  struct Sum {
    uint64_t Advance(const std::vector<uint64_t>& lengths) {
      for (; count < lengths.size(); ++count) bytes += lengths[count];
      return bytes;
    }
    size_t count = 0;
    uint64_t bytes = 0;
  };
  Sum string_sum, cold_sum;
  uint64_t cold_bytes = 0, file_cold_bytes = 0;  // That came, whether or not they are kept.
  // Which cold blocks are kept; null: all.
  ColdFilter cold_filter;
  bool cold_filtered = false;  // The next two are there.
  struct Range {
    uint64_t begin, end;
  };
  std::vector<Range> kept_cold;  // Among all bytes of cold blocks, ascending.
  size_t next_kept = 0;          // The first of these of which bytes are still to come.

  // What the next chunk of a kind begins with, as EncodeRank would say it.
  ChunkSpan NextSpan(ChunkKind kind);
  // Completes it from what was added since.
  void FinishSpan(ChunkSpan* span) const;
  // The number of rows (bytes) of the chunks of a kind so far.
  uint64_t RowsOf(ChunkKind kind) const;
  void ReserveColumns();
  absl::Status AddRaw(ChunkKind kind, absl::string_view raw);
  absl::Status AddEdges(absl::string_view raw);
  absl::Status FinishStrings();
  absl::Status CheckNodesAndEdges() const;
  absl::Status FilterCold();
  absl::Status AddColdBytes(absl::string_view raw);
  absl::Status FinishCold();
};

uint64_t RankDecoder::State::RowsOf(ChunkKind kind) const {
  switch (kind) {
    case ChunkKind::kNodes:
      return trace.id.size();
    case ChunkKind::kEdges:
      return trace.dep_node.size();
    case ChunkKind::kGaps:
      return trace.gap_node.size();
    case ChunkKind::kQueues:
      return trace.queues.size();
    case ChunkKind::kComm:
      return trace.comm.size();
    case ChunkKind::kWorkSize:
      return trace.work_size.size();
    case ChunkKind::kGroups:
      return 0;
    case ChunkKind::kStrings:
      return trace.strings.size();
    case ChunkKind::kStringLengths:
      return string_lengths.size() + 1;  // String 0 is not among them.
    case ChunkKind::kStringBytes:
      return string_bytes.size();
    case ChunkKind::kColdLengths:
      return cold_lengths.size();
    case ChunkKind::kColdBytes:
      return cold_bytes;
    case ChunkKind::kFileCold:
      return file_cold_bytes;
  }
  return 0;
}

ChunkSpan RankDecoder::State::NextSpan(ChunkKind kind) {
  ChunkSpan span{.kind = kind, .first = RowsOf(kind)};
  if (kind == ChunkKind::kNodes) span.first_item = trace.dep_begin.back();
  if (kind == ChunkKind::kStringLengths) span.first_item = string_sum.Advance(string_lengths);
  if (kind == ChunkKind::kColdLengths) span.first_item = cold_sum.Advance(cold_lengths);
  return span;
}

void RankDecoder::State::FinishSpan(ChunkSpan* span) const {
  span->count = RowsOf(span->kind) - span->first;
  if (span->count == 0) return;
  if (span->kind == ChunkKind::kNodes) AddTimes(trace, span->first, trace.id.size(), span);
  if (span->kind == ChunkKind::kGaps) span->first_item = trace.gap_node[span->first];
}

absl::Status RankDecoder::State::AddEdges(absl::string_view raw) {
  const size_t first = trace.dep_node.size();
  if (trace.id.size() != header.nodes_count || trace.dep_begin.back() != header.edges_count) {
    return DamagedChunk("edges are out of order or too many");
  }
  RETURN_IF_ERROR(ParseEdges(raw, first, header.edges_count, &edges));
  const size_t count = edges.kind.size();
  trace.dep_node.resize(first + count);
  trace.dep_kind.resize(first + count);
  const uint32_t* const dep_begin = trace.dep_begin.data();
  for (size_t i = 0; i < count; ++i) {
    // Ends: the last entry of dep_begin is edges_count, which is above first + i.
    while (dep_begin[edge_node + 1] <= first + i) ++edge_node;
    if (!DependencyAt(edge_node, edges.node_minus_dep[i], header.nodes_count,
                      &trace.dep_node[first + i])) {
      return DamagedChunk("dependency is out of range");
    }
    trace.dep_kind[first + i] = static_cast<EdgeKind>(static_cast<uint8_t>(edges.kind[i]));
  }
  return absl::OkStatus();
}

absl::Status RankDecoder::State::FinishStrings() {
  if (!string_lengths.empty() && trace.strings.size() > 1) {
    return DamagedChunk("strings are kept in two ways");
  }
  if (string_lengths.size() >= kNone - 1) return DamagedChunk("too many strings");
  absl::string_view rest = string_bytes;
  for (uint64_t length : string_lengths) {
    if (length > rest.size()) return DamagedChunk("strings are longer than their bytes");
    trace.strings.Append(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (!rest.empty()) return DamagedChunk("strings are shorter than their bytes");
  return absl::OkStatus();
}

absl::Status RankDecoder::State::CheckNodesAndEdges() const {
  if (trace.id.size() == header.nodes_count && trace.dep_node.size() == header.edges_count) {
    return absl::OkStatus();
  }
  return DamagedChunk(absl::StrCat("nodes or edges are missing: ", trace.id.size(), " of ",
                                   header.nodes_count, " and ", trace.dep_node.size(), " of ",
                                   header.edges_count));
}

// From all lengths: where those blocks will come that are kept, and cold_begin.
absl::Status RankDecoder::State::FilterCold() {
  RETURN_IF_ERROR(CheckNodesAndEdges());
  if (!header.has_cold) return DamagedChunk("cold blocks of a rank that has none");
  if (cold_lengths.size() != header.nodes_count) {
    return DamagedChunk("cold blocks and nodes differ in number, or come before their lengths");
  }
  const std::vector<bool> wanted = cold_filter(trace);
  CHECK(wanted.size() == cold_lengths.size()) << wanted.size();
  trace.cold_begin.reserve(cold_lengths.size() + 1);
  trace.cold_begin.push_back(0);
  uint64_t end = 0, kept = 0;
  for (size_t node = 0; node < cold_lengths.size(); ++node) {
    const uint64_t length = cold_lengths[node];
    if (length > UINT64_MAX - end) return DamagedChunk("cold blocks are longer than their bytes");
    if (wanted[node] && length > 0) {
      kept_cold.push_back({end, end + length});
      kept += length;
    }
    end += length;
    trace.cold_begin.push_back(kept);
  }
  cold_filtered = true;
  return absl::OkStatus();
}

absl::Status RankDecoder::State::AddColdBytes(absl::string_view raw) {
  const uint64_t begin = cold_bytes;
  cold_bytes += raw.size();
  if (cold_filter == nullptr) {
    trace.cold.append(raw.data(), raw.size());
    return absl::OkStatus();
  }
  if (!cold_filtered) RETURN_IF_ERROR(FilterCold());
  for (; next_kept < kept_cold.size(); ++next_kept) {
    const Range& range = kept_cold[next_kept];
    if (range.begin >= cold_bytes) break;
    const uint64_t from = std::max(range.begin, begin), to = std::min(range.end, cold_bytes);
    trace.cold.append(raw.data() + (from - begin), to - from);
    if (range.end > cold_bytes) break;  // The rest comes with the next chunk.
  }
  return absl::OkStatus();
}

absl::Status RankDecoder::State::FinishCold() {
  if (cold_filter != nullptr) {
    if (!cold_filtered) RETURN_IF_ERROR(FilterCold());
    const uint64_t lengths_sum = cold_sum.Advance(cold_lengths);
    if (lengths_sum > cold_bytes) return DamagedChunk("cold blocks are longer than their bytes");
    if (lengths_sum < cold_bytes) return DamagedChunk("cold blocks are shorter than their bytes");
    return absl::OkStatus();
  }
  if (cold_lengths.size() != header.nodes_count) {
    return DamagedChunk("cold blocks and nodes differ in number");
  }
  trace.cold_begin.reserve(cold_lengths.size() + 1);
  trace.cold_begin.push_back(0);
  for (uint64_t length : cold_lengths) {
    if (length > trace.cold.size() - trace.cold_begin.back()) {
      return DamagedChunk("cold blocks are longer than their bytes");
    }
    trace.cold_begin.push_back(trace.cold_begin.back() + length);
  }
  return absl::OkStatus();
}

// Columns that grow move several times, each time onto new pages.
void RankDecoder::State::ReserveColumns() {
  const size_t nodes = std::min<size_t>(header.nodes_count, kReservedRows);
  const size_t edges = std::min<size_t>(header.edges_count, 2 * kReservedRows);
  trace.id.reserve(nodes);
  trace.type.reserve(nodes);
  trace.flags.reserve(nodes);
  trace.queue.reserve(nodes);
  trace.name.reserve(nodes);
  trace.start_ns.reserve(nodes);
  trace.dur_ns.reserve(nodes);
  trace.work_ns.reserve(nodes);
  trace.side.reserve(nodes);
  trace.dep_begin.reserve(nodes + 1);
  trace.dep_node.reserve(edges);
  trace.dep_kind.reserve(edges);
}

RankDecoder::RankDecoder(RankHeader header) : state_(std::make_unique<State>()) {
  state_->header = std::move(header);
}

RankDecoder::~RankDecoder() = default;

absl::Status RankDecoder::State::AddRaw(ChunkKind kind, absl::string_view raw) {
  switch (kind) {
    case ChunkKind::kNodes:
      if (trace.id.empty()) ReserveColumns();
      return AppendNodes(raw, {trace.id.size(), header.nodes_count, header.edges_count}, &trace);
    case ChunkKind::kEdges:
      return AddEdges(raw);
    case ChunkKind::kGaps:
      return AppendGaps(raw, &trace);
    case ChunkKind::kQueues:
      return AppendQueues(raw, &trace.queues);
    case ChunkKind::kComm:
      return AppendComm(raw, header.rank, &trace.comm);
    case ChunkKind::kWorkSize:
      return AppendWorkSizes(raw, &trace.work_size);
    case ChunkKind::kGroups:
      return AppendGroups(raw, &trace.groups);
    case ChunkKind::kStringLengths:
      return AppendLengths(raw, &string_lengths);
    case ChunkKind::kStringBytes:
      string_bytes.append(raw.data(), raw.size());
      return absl::OkStatus();
    case ChunkKind::kStrings:
      return AppendStrings(raw, &trace.strings);
    case ChunkKind::kColdLengths:
      return AppendLengths(raw, &cold_lengths);
    case ChunkKind::kColdBytes:
      return AddColdBytes(raw);
    case ChunkKind::kFileCold:
      file_cold_bytes += raw.size();
      if (cold_filter == nullptr) trace.file_cold.append(raw.data(), raw.size());
      return absl::OkStatus();
  }
  return DamagedChunk("its kind is unknown");
}

absl::Status RankDecoder::Add(absl::string_view stored) {
  ASSIGN_OR_RETURN(const ChunkFramer::Unpacked chunk, state_->framer.Unpack(stored));
  return state_->AddRaw(chunk.kind, chunk.raw);
}

absl::Status RankDecoder::Add(absl::string_view stored, const ChunkSpan& claimed) {
  ASSIGN_OR_RETURN(const ChunkFramer::Unpacked chunk, state_->framer.Unpack(stored));
  ChunkSpan span = state_->NextSpan(chunk.kind);
  RETURN_IF_ERROR(state_->AddRaw(chunk.kind, chunk.raw));
  state_->FinishSpan(&span);
  if (span != claimed) return DamagedChunk("is not what its span says");
  return CheckWindow(span);
}

void RankDecoder::KeepCold(ColdFilter wanted) { state_->cold_filter = std::move(wanted); }

absl::StatusOr<RankTrace> RankDecoder::Finish(bool with_cold, size_t groups_count) {
  RankTrace& trace = state_->trace;
  const RankHeader& header = state_->header;
  RETURN_IF_ERROR(state_->CheckNodesAndEdges());
  RETURN_IF_ERROR(state_->FinishStrings());
  if (with_cold && header.has_cold) RETURN_IF_ERROR(state_->FinishCold());
  if (with_cold && state_->file_cold_bytes != header.file_cold_bytes) {
    return DamagedChunk("the file's cold block is not as long as it was");
  }
  if (!with_cold) {
    trace.cold.clear();
    trace.cold_begin.clear();
    trace.file_cold.clear();
  }
  trace.rank = header.rank;
  trace.base_unix_ns = header.base_unix_ns;
  trace.schema = header.schema;
  const absl::Status fits = CheckRankColumns(trace, groups_count);
  if (!fits.ok()) return absl::DataLossError(fits.message());
  return std::move(trace);
}

}  // namespace chakrad
