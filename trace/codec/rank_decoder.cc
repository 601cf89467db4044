// RankDecoder: chunks to columns. Nothing in a chunk is trusted: each index,
// count and sum is checked here or by CheckRankColumns.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/codec/chunk.pb.h"
#include "trace/codec/column_coding.h"
#include "trace/codec/rank_check.h"
#include "trace/codec/rank_codec.h"

namespace chakrad {
namespace {

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("chunk: ", what));
}

// Whether every size equals the first.
template <typename... Sizes>
bool AllEqual(size_t first, Sizes... sizes) {
  return ((static_cast<size_t>(sizes) == first) && ...);
}

template <typename Enum>
void AppendEnums(absl::string_view bytes, std::vector<Enum>* column) {
  for (char byte : bytes) column->push_back(static_cast<Enum>(static_cast<uint8_t>(byte)));
}

}  // namespace

struct RankDecoder::State {
  RankHeader header;
  RankTrace trace;
  ChunkFramer framer;
  uint32_t edge_node = 0;  // The node whose dependencies are being read.
  std::vector<uint64_t> string_lengths, cold_lengths;
  std::string string_bytes;

  absl::Status AddNodes(absl::string_view raw);
  absl::Status AddSides(const codec::NodeWindow& window, size_t first);
  absl::Status AddEdges(absl::string_view raw);
  absl::Status AddGaps(absl::string_view raw);
  absl::Status AddQueues(absl::string_view raw);
  absl::Status AddComm(absl::string_view raw);
  absl::Status AddWorkSizes(absl::string_view raw);
  absl::Status AddGroups(absl::string_view raw);
  absl::Status AddLengths(absl::string_view raw, std::vector<uint64_t>* lengths);
  absl::Status FinishStrings();
  absl::Status FinishCold();

 private:
  template <typename Message>
  static absl::Status Parse(absl::string_view raw, Message* message) {
    // raw is below kMaxChunkRawBytes, so its size fits.
    if (message->ParseFromArray(raw.data(), static_cast<int>(raw.size()))) return absl::OkStatus();
    return Damaged("its message does not parse");
  }
};

absl::Status RankDecoder::State::AddNodes(absl::string_view raw) {
  codec::NodeWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  const size_t n = window.type().size(), first = trace.id.size();
  if (!AllEqual(n, window.id_delta_size(), window.flags().size(), window.queue_size(),
                window.name_size(), window.start_delta_ns_size(), window.dur_ns_size(),
                window.work_minus_dur_ns_size(), window.side_size(), window.deps_count_size())) {
    return Damaged("columns of nodes differ in length");
  }
  if (window.first_node() != first || n > header.nodes_count - first) {
    return Damaged("nodes are out of order or too many");
  }
  uint64_t id = 0;
  int64_t start_ns = 0;
  for (size_t i = 0; i < n; ++i) {
    const int row = static_cast<int>(i);
    id += static_cast<uint64_t>(window.id_delta(row));
    trace.id.push_back(id);
    if (window.queue(row) > UINT16_MAX) return Damaged("queue is above 65535");
    trace.queue.push_back(static_cast<uint16_t>(window.queue(row)));
    trace.name.push_back(window.name(row));
    start_ns = WrapAdd(start_ns, window.start_delta_ns(row));
    trace.start_ns.push_back(start_ns);
    trace.dur_ns.push_back(window.dur_ns(row));
    trace.work_ns.push_back(WrapAdd(window.dur_ns(row), window.work_minus_dur_ns(row)));
    const uint32_t begin = trace.dep_begin.back();
    if (window.deps_count(row) > header.edges_count - begin) return Damaged("too many edges");
    trace.dep_begin.push_back(begin + window.deps_count(row));
  }
  AppendEnums(window.type(), &trace.type);
  AppendEnums(window.flags(), &trace.flags);
  return AddSides(window, first);
}

absl::Status RankDecoder::State::AddSides(const codec::NodeWindow& window, size_t first) {
  uint32_t next_comm = window.first_comm(), next_work_size = window.first_work_size();
  for (int row = 0; row < window.side_size(); ++row) {
    if (window.side(row) == 0) {
      trace.side.push_back(kNone);
      continue;
    }
    uint32_t& expected = IsComm(trace.type[first + row]) ? next_comm : next_work_size;
    const int64_t side = WrapAdd(expected, UnZigZag(window.side(row) - 1));
    if (side < 0 || side >= kNone) return Damaged("side index is out of range");
    trace.side.push_back(static_cast<uint32_t>(side));
    expected = static_cast<uint32_t>(side) + 1;
  }
  return absl::OkStatus();
}

absl::Status RankDecoder::State::AddEdges(absl::string_view raw) {
  codec::EdgeWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  const size_t n = window.kind().size(), first = trace.dep_node.size();
  if (!AllEqual(n, window.node_minus_dep_size())) {
    return Damaged("columns of edges differ in length");
  }
  if (trace.id.size() != header.nodes_count || trace.dep_begin.back() != header.edges_count ||
      window.first_edge() != first || n > header.edges_count - first) {
    return Damaged("edges are out of order or too many");
  }
  for (size_t i = 0; i < n; ++i) {
    // Ends: the last entry of dep_begin is edges_count, which is above first + i.
    while (trace.dep_begin[edge_node + 1] <= first + i) ++edge_node;
    const int64_t dep = WrapSub(edge_node, window.node_minus_dep(static_cast<int>(i)));
    if (dep < 0 || dep >= header.nodes_count) return Damaged("dependency is out of range");
    trace.dep_node.push_back(static_cast<uint32_t>(dep));
  }
  AppendEnums(window.kind(), &trace.dep_kind);
  return absl::OkStatus();
}

absl::Status RankDecoder::State::AddGaps(absl::string_view raw) {
  codec::GapWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  if (!AllEqual(window.gap_ns_size(), window.node_delta_size())) {
    return Damaged("columns of gaps differ in length");
  }
  uint32_t node = 0;  // Overflow shows as a node that does not ascend.
  for (int row = 0; row < window.gap_ns_size(); ++row) {
    node += window.node_delta(row);
    trace.gap_node.push_back(node);
    trace.gap_ns.push_back(window.gap_ns(row));
  }
  return absl::OkStatus();
}

absl::Status RankDecoder::State::AddQueues(absl::string_view raw) {
  codec::QueueTable table;
  RETURN_IF_ERROR(Parse(raw, &table));
  if (!AllEqual(table.kind().size(), table.device_size(), table.raw_id_size())) {
    return Damaged("columns of queues differ in length");
  }
  for (int row = 0; row < table.device_size(); ++row) {
    trace.queues.push_back({static_cast<Queue::Kind>(static_cast<uint8_t>(table.kind()[row])),
                            table.device(row), table.raw_id(row)});
  }
  return absl::OkStatus();
}

absl::Status RankDecoder::State::AddComm(absl::string_view raw) {
  codec::CommWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  if (!AllEqual(window.collective().size(), window.comm_bytes_size(), window.group_plus_1_size(),
                window.peer_size(), window.root_size(), window.priority_size(), window.tag_size(),
                window.excluded_dims_size())) {
    return Damaged("columns of communication differ in length");
  }
  for (int row = 0; row < window.peer_size(); ++row) {
    CommOp op;
    op.collective = static_cast<CollectiveType>(static_cast<uint8_t>(window.collective()[row]));
    op.bytes = window.comm_bytes(row);
    op.group = window.group_plus_1(row) - 1;
    if (window.peer(row) != 0) {
      const int64_t peer = WrapAdd(header.rank, UnZigZag(window.peer(row) - 1));
      if (peer < INT32_MIN || peer > INT32_MAX) return Damaged("peer is out of range");
      op.peer = static_cast<int32_t>(peer);
    }
    op.root = window.root(row);
    op.priority = window.priority(row);
    op.tag = window.tag(row);
    op.involved_dims = ~window.excluded_dims(row);
    trace.comm.push_back(op);
  }
  return absl::OkStatus();
}

absl::Status RankDecoder::State::AddWorkSizes(absl::string_view raw) {
  codec::WorkSizeWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  if (!AllEqual(window.num_ops_size(), window.tensor_bytes_size())) {
    return Damaged("columns of work sizes differ in length");
  }
  for (int row = 0; row < window.num_ops_size(); ++row) {
    trace.work_size.push_back({window.num_ops(row), window.tensor_bytes(row)});
  }
  return absl::OkStatus();
}

absl::Status RankDecoder::State::AddGroups(absl::string_view raw) {
  codec::GroupWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  for (const codec::Group& record : window.groups()) {
    RETURN_IF_ERROR(GroupFromProto(record, &trace.groups.emplace_back()));
  }
  return absl::OkStatus();
}

absl::Status RankDecoder::State::AddLengths(absl::string_view raw, std::vector<uint64_t>* lengths) {
  codec::LengthWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  lengths->insert(lengths->end(), window.length().begin(), window.length().end());
  return absl::OkStatus();
}

absl::Status RankDecoder::State::FinishStrings() {
  if (string_lengths.size() >= kNone - 1) return Damaged("too many strings");
  absl::string_view rest = string_bytes;
  for (uint64_t length : string_lengths) {
    if (length > rest.size()) return Damaged("strings are longer than their bytes");
    trace.strings.Append(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (!rest.empty()) return Damaged("strings are shorter than their bytes");
  return absl::OkStatus();
}

absl::Status RankDecoder::State::FinishCold() {
  if (cold_lengths.size() != header.nodes_count) {
    return Damaged("cold blocks and nodes differ in number");
  }
  trace.cold_begin.reserve(cold_lengths.size() + 1);
  trace.cold_begin.push_back(0);
  for (uint64_t length : cold_lengths) {
    if (length > trace.cold.size() - trace.cold_begin.back()) {
      return Damaged("cold blocks are longer than their bytes");
    }
    trace.cold_begin.push_back(trace.cold_begin.back() + length);
  }
  return absl::OkStatus();
}

RankDecoder::RankDecoder(RankHeader header) : state_(std::make_unique<State>()) {
  state_->header = std::move(header);
}

RankDecoder::~RankDecoder() = default;

absl::Status RankDecoder::Add(absl::string_view stored) {
  ASSIGN_OR_RETURN(const ChunkFramer::Unpacked chunk, state_->framer.Unpack(stored));
  switch (chunk.kind) {
    case ChunkKind::kNodes:
      return state_->AddNodes(chunk.raw);
    case ChunkKind::kEdges:
      return state_->AddEdges(chunk.raw);
    case ChunkKind::kGaps:
      return state_->AddGaps(chunk.raw);
    case ChunkKind::kQueues:
      return state_->AddQueues(chunk.raw);
    case ChunkKind::kComm:
      return state_->AddComm(chunk.raw);
    case ChunkKind::kWorkSize:
      return state_->AddWorkSizes(chunk.raw);
    case ChunkKind::kGroups:
      return state_->AddGroups(chunk.raw);
    case ChunkKind::kStringLengths:
      return state_->AddLengths(chunk.raw, &state_->string_lengths);
    case ChunkKind::kStringBytes:
      state_->string_bytes += chunk.raw;
      return absl::OkStatus();
    case ChunkKind::kColdLengths:
      return state_->AddLengths(chunk.raw, &state_->cold_lengths);
    case ChunkKind::kColdBytes:
      state_->trace.cold += chunk.raw;
      return absl::OkStatus();
    case ChunkKind::kFileCold:
      state_->trace.file_cold += chunk.raw;
      return absl::OkStatus();
  }
  return Damaged("its kind is unknown");
}

absl::StatusOr<RankTrace> RankDecoder::Finish(bool with_cold, size_t groups_count) {
  RankTrace& trace = state_->trace;
  const RankHeader& header = state_->header;
  if (trace.id.size() != header.nodes_count || trace.dep_node.size() != header.edges_count) {
    return Damaged(absl::StrCat("nodes or edges are missing: ", trace.id.size(), " of ",
                                header.nodes_count, " and ", trace.dep_node.size(), " of ",
                                header.edges_count));
  }
  RETURN_IF_ERROR(state_->FinishStrings());
  if (with_cold && header.has_cold) RETURN_IF_ERROR(state_->FinishCold());
  if (with_cold && trace.file_cold.size() != header.file_cold_bytes) {
    return Damaged("the file's cold block is not as long as it was");
  }
  if (!with_cold) {
    trace.cold.clear();
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
