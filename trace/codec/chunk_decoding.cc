#include "trace/codec/chunk_decoding.h"

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/codec/chunk.pb.h"
#include "trace/codec/column_coding.h"

namespace chakrad {
namespace {

template <typename Message>
absl::Status Parse(absl::string_view raw, Message* message) {
  // raw is below kMaxChunkRawBytes, so its size fits.
  if (message->ParseFromArray(raw.data(), static_cast<int>(raw.size()))) return absl::OkStatus();
  return DamagedChunk("its message does not parse");
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

absl::Status AppendSides(const codec::NodeWindow& window, size_t first, RankTrace* trace) {
  uint32_t next_comm = window.first_comm(), next_work_size = window.first_work_size();
  for (int row = 0; row < window.side_size(); ++row) {
    if (window.side(row) == 0) {
      trace->side.push_back(kNone);
      continue;
    }
    uint32_t& expected = IsComm(trace->type[first + row]) ? next_comm : next_work_size;
    const int64_t side = WrapAdd(expected, UnZigZag(window.side(row) - 1));
    if (side < 0 || side >= kNone) return DamagedChunk("side index is out of range");
    trace->side.push_back(static_cast<uint32_t>(side));
    expected = static_cast<uint32_t>(side) + 1;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DamagedChunk(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("chunk: ", what));
}

absl::Status AppendNodes(absl::string_view raw, const NodeBounds& bounds, RankTrace* trace) {
  codec::NodeWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  const size_t n = window.type().size(), row_before = trace->id.size();
  if (!AllEqual(n, window.id_delta_size(), window.flags().size(), window.queue_size(),
                window.name_size(), window.start_delta_ns_size(), window.dur_ns_size(),
                window.work_minus_dur_ns_size(), window.side_size(), window.deps_count_size())) {
    return DamagedChunk("columns of nodes differ in length");
  }
  if (window.first_node() != bounds.first_node || bounds.first_node > bounds.nodes_count ||
      n > bounds.nodes_count - bounds.first_node) {
    return DamagedChunk("nodes are out of order or too many");
  }
  uint64_t id = 0;
  int64_t start_ns = 0;
  for (size_t i = 0; i < n; ++i) {
    const int row = static_cast<int>(i);
    id += static_cast<uint64_t>(window.id_delta(row));
    trace->id.push_back(id);
    if (window.queue(row) > UINT16_MAX) return DamagedChunk("queue is above 65535");
    trace->queue.push_back(static_cast<uint16_t>(window.queue(row)));
    trace->name.push_back(window.name(row));
    start_ns = WrapAdd(start_ns, window.start_delta_ns(row));
    trace->start_ns.push_back(start_ns);
    trace->dur_ns.push_back(window.dur_ns(row));
    trace->work_ns.push_back(WrapAdd(window.dur_ns(row), window.work_minus_dur_ns(row)));
    const uint32_t begin = trace->dep_begin.back();
    if (window.deps_count(row) > bounds.edges_count - begin) return DamagedChunk("too many edges");
    trace->dep_begin.push_back(begin + window.deps_count(row));
  }
  AppendEnums(window.type(), &trace->type);
  AppendEnums(window.flags(), &trace->flags);
  return AppendSides(window, row_before, trace);
}

absl::Status ParseEdges(absl::string_view raw, uint64_t first_edge, uint64_t edges_count,
                        codec::EdgeWindow* window) {
  RETURN_IF_ERROR(Parse(raw, window));
  const size_t n = window->kind().size();
  if (!AllEqual(n, window->node_minus_dep_size())) {
    return DamagedChunk("columns of edges differ in length");
  }
  if (window->first_edge() != first_edge || first_edge > edges_count ||
      n > edges_count - first_edge) {
    return DamagedChunk("edges are out of order or too many");
  }
  return absl::OkStatus();
}

absl::Status AppendGaps(absl::string_view raw, RankTrace* trace) {
  codec::GapWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  if (!AllEqual(window.gap_ns_size(), window.node_delta_size())) {
    return DamagedChunk("columns of gaps differ in length");
  }
  uint32_t node = 0;  // Overflow shows as a node that does not ascend.
  for (int row = 0; row < window.gap_ns_size(); ++row) {
    node += window.node_delta(row);
    trace->gap_node.push_back(node);
    trace->gap_ns.push_back(window.gap_ns(row));
  }
  return absl::OkStatus();
}

absl::Status AppendQueues(absl::string_view raw, std::vector<Queue>* queues) {
  codec::QueueTable table;
  RETURN_IF_ERROR(Parse(raw, &table));
  if (!AllEqual(table.kind().size(), table.device_size(), table.raw_id_size())) {
    return DamagedChunk("columns of queues differ in length");
  }
  for (int row = 0; row < table.device_size(); ++row) {
    queues->push_back({static_cast<Queue::Kind>(static_cast<uint8_t>(table.kind()[row])),
                       table.device(row), table.raw_id(row)});
  }
  return absl::OkStatus();
}

absl::Status AppendComm(absl::string_view raw, int32_t rank, std::vector<CommOp>* comm) {
  codec::CommWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  if (!AllEqual(window.collective().size(), window.comm_bytes_size(), window.group_plus_1_size(),
                window.peer_size(), window.root_size(), window.priority_size(), window.tag_size(),
                window.excluded_dims_size())) {
    return DamagedChunk("columns of communication differ in length");
  }
  for (int row = 0; row < window.peer_size(); ++row) {
    CommOp op;
    op.collective = static_cast<CollectiveType>(static_cast<uint8_t>(window.collective()[row]));
    op.bytes = window.comm_bytes(row);
    op.group = window.group_plus_1(row) - 1;
    if (window.peer(row) != 0) {
      const int64_t peer = WrapAdd(rank, UnZigZag(window.peer(row) - 1));
      if (peer < INT32_MIN || peer > INT32_MAX) return DamagedChunk("peer is out of range");
      op.peer = static_cast<int32_t>(peer);
    }
    op.root = window.root(row);
    op.priority = window.priority(row);
    op.tag = window.tag(row);
    op.involved_dims = ~window.excluded_dims(row);
    comm->push_back(op);
  }
  return absl::OkStatus();
}

absl::Status AppendWorkSizes(absl::string_view raw, std::vector<WorkSize>* work_size) {
  codec::WorkSizeWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  if (!AllEqual(window.num_ops_size(), window.tensor_bytes_size())) {
    return DamagedChunk("columns of work sizes differ in length");
  }
  for (int row = 0; row < window.num_ops_size(); ++row) {
    work_size->push_back({window.num_ops(row), window.tensor_bytes(row)});
  }
  return absl::OkStatus();
}

absl::Status AppendGroups(absl::string_view raw, std::vector<ProcessGroup>* groups) {
  codec::GroupWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  for (const codec::Group& record : window.groups()) {
    RETURN_IF_ERROR(GroupFromProto(record, &groups->emplace_back()));
  }
  return absl::OkStatus();
}

absl::Status AppendLengths(absl::string_view raw, std::vector<uint64_t>* lengths) {
  codec::LengthWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  lengths->insert(lengths->end(), window.length().begin(), window.length().end());
  return absl::OkStatus();
}

absl::Status AppendStrings(absl::string_view raw, StringTable* strings) {
  codec::StringWindow window;
  RETURN_IF_ERROR(Parse(raw, &window));
  if (static_cast<size_t>(window.length_size()) >= kNone - strings->size()) {
    return DamagedChunk("too many strings");
  }
  absl::string_view rest = window.text();
  for (uint64_t length : window.length()) {
    if (length > rest.size()) return DamagedChunk("strings are longer than their bytes");
    strings->Append(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (!rest.empty()) return DamagedChunk("strings are shorter than their bytes");
  return absl::OkStatus();
}

}  // namespace chakrad
