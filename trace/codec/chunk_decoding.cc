#include "trace/codec/chunk_decoding.h"

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/codec/chunk.pb.h"
#include "trace/codec/column_coding.h"
#include "trace/codec/wire_columns.h"

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
  const auto* begin = reinterpret_cast<const Enum*>(bytes.data());
  static_assert(sizeof(Enum) == 1);
  column->insert(column->end(), begin, begin + bytes.size());
}

// `count` more rows, to be filled in: the first of them.
template <typename T>
T* Extend(size_t count, std::vector<T>* column) {
  column->resize(column->size() + count);
  return column->data() + (column->size() - count);
}

using Nodes = codec::NodeWindow;

absl::Status AppendSides(const WireMessage& window, size_t rows, RankTrace* trace) {
  const NodeType* type = trace->type.data() + (trace->type.size() - rows);
  uint32_t* const side = Extend(rows, &trace->side);
  auto next_comm = static_cast<uint32_t>(window.Number(Nodes::kFirstCommFieldNumber));
  auto next_work_size = static_cast<uint32_t>(window.Number(Nodes::kFirstWorkSizeFieldNumber));
  bool in_range = true;
  const auto take = [&](size_t row, uint64_t value) {
    if (value == 0) {
      side[row] = kNone;
      return;
    }
    uint32_t& expected = IsComm(type[row]) ? next_comm : next_work_size;
    const int64_t index = WrapAdd(expected, UnZigZag(value - 1));
    in_range = in_range && index >= 0 && index < kNone;
    side[row] = static_cast<uint32_t>(index);
    expected = side[row] + 1;
  };
  if (!ForEachRow(window.Bytes(Nodes::kSideFieldNumber), rows, take)) {
    return DamagedChunk("columns of nodes differ in length");
  }
  return in_range ? absl::OkStatus() : DamagedChunk("side index is out of range");
}

// Times, names and ids.
bool AppendRecorded(const WireMessage& window, size_t rows, RankTrace* trace) {
  uint64_t last_id = 0;
  uint64_t* const id = Extend(rows, &trace->id);
  int64_t last_ns = 0;
  int64_t* const start_ns = Extend(rows, &trace->start_ns);
  int64_t* const dur_ns = Extend(rows, &trace->dur_ns);
  int64_t* const work_ns = Extend(rows, &trace->work_ns);
  uint32_t* const name = Extend(rows, &trace->name);
  return ForEachRow(window.Bytes(Nodes::kIdDeltaFieldNumber), rows,
                    [&](size_t row, uint64_t value) {
                      last_id += static_cast<uint64_t>(UnZigZag(value));
                      id[row] = last_id;
                    }) &&
         ForEachRow(window.Bytes(Nodes::kStartDeltaNsFieldNumber), rows,
                    [&](size_t row, uint64_t value) {
                      last_ns = WrapAdd(last_ns, UnZigZag(value));
                      start_ns[row] = last_ns;
                    }) &&
         ForEachRow(window.Bytes(Nodes::kDurNsFieldNumber), rows,
                    [&](size_t row, uint64_t value) { dur_ns[row] = UnZigZag(value); }) &&
         ForEachRow(window.Bytes(Nodes::kWorkMinusDurNsFieldNumber), rows,
                    [&](size_t row, uint64_t value) {
                      work_ns[row] = WrapAdd(dur_ns[row], UnZigZag(value));
                    }) &&
         ForEachRow(window.Bytes(Nodes::kNameFieldNumber), rows,
                    [&](size_t row, uint64_t value) { name[row] = static_cast<uint32_t>(value); });
}

}  // namespace

absl::Status DamagedChunk(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("chunk: ", what));
}

absl::Status AppendNodes(absl::string_view raw, const NodeBounds& bounds, RankTrace* trace) {
  WireMessage window;
  if (!window.Parse(raw)) return DamagedChunk("its message does not parse");
  const size_t n = window.Bytes(Nodes::kTypeFieldNumber).size();
  bool long_enough = window.Bytes(Nodes::kFlagsFieldNumber).size() == n;
  for (const int field :
       {Nodes::kIdDeltaFieldNumber, Nodes::kQueueFieldNumber, Nodes::kNameFieldNumber,
        Nodes::kStartDeltaNsFieldNumber, Nodes::kDurNsFieldNumber,
        Nodes::kWorkMinusDurNsFieldNumber, Nodes::kSideFieldNumber, Nodes::kDepsCountFieldNumber}) {
    long_enough = long_enough && window.Bytes(field).size() >= n;
  }
  if (!long_enough) return DamagedChunk("columns of nodes differ in length");
  if (window.Number(Nodes::kFirstNodeFieldNumber) != bounds.first_node ||
      bounds.first_node > bounds.nodes_count || n > bounds.nodes_count - bounds.first_node) {
    return DamagedChunk("nodes are out of order or too many");
  }
  AppendEnums(window.Bytes(Nodes::kTypeFieldNumber), &trace->type);
  AppendEnums(window.Bytes(Nodes::kFlagsFieldNumber), &trace->flags);
  bool narrow = true, few_edges = true;
  uint16_t* const queue = Extend(n, &trace->queue);
  uint64_t end = trace->dep_begin.back();
  uint32_t* const dep_end = Extend(n, &trace->dep_begin);
  const bool equal =
      AppendRecorded(window, n, trace) &&
      ForEachRow(window.Bytes(Nodes::kQueueFieldNumber), n,
                 [&](size_t row, uint64_t value) {
                   narrow = narrow && value <= UINT16_MAX;
                   queue[row] = static_cast<uint16_t>(value);
                 }) &&
      ForEachRow(window.Bytes(Nodes::kDepsCountFieldNumber), n, [&](size_t row, uint64_t value) {
        few_edges = few_edges && value <= bounds.edges_count - end;
        if (few_edges) end += value;
        dep_end[row] = static_cast<uint32_t>(end);
      });
  if (!equal) return DamagedChunk("columns of nodes differ in length");
  if (!narrow) return DamagedChunk("queue is above 65535");
  if (!few_edges) return DamagedChunk("too many edges");
  return AppendSides(window, n, trace);
}

absl::Status ParseEdges(absl::string_view raw, uint64_t first_edge, uint64_t edges_count,
                        EdgeRows* rows) {
  using Edges = codec::EdgeWindow;
  WireMessage window;
  if (!window.Parse(raw)) return DamagedChunk("its message does not parse");
  rows->kind = window.Bytes(Edges::kKindFieldNumber);
  const absl::string_view column = window.Bytes(Edges::kNodeMinusDepFieldNumber);
  const size_t n = rows->kind.size();
  if (window.Number(Edges::kFirstEdgeFieldNumber) != first_edge || first_edge > edges_count ||
      n > edges_count - first_edge) {
    return DamagedChunk("edges are out of order or too many");
  }
  if (column.size() < n) return DamagedChunk("columns of edges differ in length");
  rows->node_minus_dep.resize(n);
  int64_t* const out = rows->node_minus_dep.data();
  if (!ForEachRow(column, n, [&](size_t row, uint64_t value) { out[row] = UnZigZag(value); })) {
    return DamagedChunk("columns of edges differ in length");
  }
  return absl::OkStatus();
}

absl::Status AppendGaps(absl::string_view raw, RankTrace* trace) {
  using Gaps = codec::GapWindow;
  WireMessage window;
  if (!window.Parse(raw)) return DamagedChunk("its message does not parse");
  const absl::string_view nodes = window.Bytes(Gaps::kNodeDeltaFieldNumber);
  const size_t n = CountVarints(nodes);
  uint32_t last_node = 0;  // Overflow shows as a node that does not ascend.
  uint32_t* const node = Extend(n, &trace->gap_node);
  int64_t* const gap_ns = Extend(n, &trace->gap_ns);
  const bool equal = ForEachRow(nodes, n,
                                [&](size_t row, uint64_t value) {
                                  last_node += static_cast<uint32_t>(value);
                                  node[row] = last_node;
                                }) &&
                     ForEachRow(window.Bytes(Gaps::kGapNsFieldNumber), n,
                                [&](size_t row, uint64_t value) { gap_ns[row] = UnZigZag(value); });
  return equal ? absl::OkStatus() : DamagedChunk("columns of gaps differ in length");
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
  using Sizes = codec::WorkSizeWindow;
  WireMessage window;
  if (!window.Parse(raw)) return DamagedChunk("its message does not parse");
  const absl::string_view num_ops = window.Bytes(Sizes::kNumOpsFieldNumber);
  const size_t n = CountVarints(num_ops);
  WorkSize* const sizes = Extend(n, work_size);
  const bool equal =
      ForEachRow(num_ops, n,
                 [&](size_t row, uint64_t value) { sizes[row].num_ops = UnZigZag(value); }) &&
      ForEachRow(window.Bytes(Sizes::kTensorBytesFieldNumber), n,
                 [&](size_t row, uint64_t value) { sizes[row].tensor_bytes = UnZigZag(value); });
  return equal ? absl::OkStatus() : DamagedChunk("columns of work sizes differ in length");
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
  WireMessage window;
  if (!window.Parse(raw)) return DamagedChunk("its message does not parse");
  const absl::string_view column = window.Bytes(codec::LengthWindow::kLengthFieldNumber);
  const size_t n = CountVarints(column);
  uint64_t* const out = Extend(n, lengths);
  if (ForEachRow(column, n, [&](size_t row, uint64_t value) { out[row] = value; })) {
    return absl::OkStatus();
  }
  return DamagedChunk("its message does not parse");
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
