// EncodeRank: columns to chunks.
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/codec/chunk.pb.h"
#include "trace/codec/column_coding.h"
#include "trace/codec/limits.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_spans.h"

namespace chakrad {
namespace {

// Whether a run of strings may end behind `string`: its own bytes decide, and a long
// one is as likely to as many short ones.
bool IsCut(absl::string_view string) {
  const auto* bytes = reinterpret_cast<const Bytef*>(string.data());
  const uint64_t hash = crc32(0, bytes, static_cast<uInt>(string.size()));
  // Of 2^32 hashes string.size() / kStringRunCutBytes.
  return hash * kStringRunCutBytes < uint64_t{string.size()} << 32;
}

class RankEncoder {
 public:
  RankEncoder(const RankTrace& rank, const ChunkSink& sink) : rank_(rank), sink_(sink) {}

  absl::Status Run() {
    RETURN_IF_ERROR(EmitNodes());
    RETURN_IF_ERROR(EmitEdges());
    RETURN_IF_ERROR(EmitGaps());
    RETURN_IF_ERROR(EmitQueues());
    RETURN_IF_ERROR(EmitComm());
    RETURN_IF_ERROR(EmitWorkSizes());
    RETURN_IF_ERROR(EmitGroups());
    RETURN_IF_ERROR(EmitStrings());
    RETURN_IF_ERROR(EmitCold());
    return EmitBytes(ChunkKind::kFileCold, rank_.file_cold);
  }

 private:
  absl::Status Emit(const ChunkSpan& span, absl::string_view raw) {
    ASSIGN_OR_RETURN(const std::string stored, framer_.Pack(span.kind, raw));
    return sink_(span, stored);
  }
  template <typename Message>
  absl::Status EmitMessage(const ChunkSpan& span, const Message& message) {
    raw_.clear();
    message.SerializeToString(&raw_);
    return Emit(span, raw_);
  }
  absl::Status EmitBytes(ChunkKind kind, absl::string_view bytes) {
    for (size_t begin = 0; begin < bytes.size(); begin += kWindowBytes) {
      const absl::string_view part = bytes.substr(begin, kWindowBytes);
      RETURN_IF_ERROR(Emit({.kind = kind, .first = begin, .count = part.size()}, part));
    }
    return absl::OkStatus();
  }

  absl::Status EmitNodes();
  absl::Status EmitEdges();
  absl::Status EmitGaps();
  absl::Status EmitQueues();
  absl::Status EmitComm();
  absl::Status EmitWorkSizes();
  absl::Status EmitGroups();
  absl::Status EmitStrings();
  // As lengths, and bytes cut anywhere: for strings that do not fit into a run.
  absl::Status EmitLongStrings();
  absl::Status EmitCold();
  void FillSides(uint32_t begin, uint32_t end, codec::NodeWindow* window);
  ChunkSpan SpanOfNodes(uint32_t begin, uint32_t end) const;

  const RankTrace& rank_;
  const ChunkSink& sink_;
  ChunkFramer framer_;
  std::string raw_;
  // Where the side records of the next window begin.
  uint32_t next_comm_ = 0;
  uint32_t next_work_size_ = 0;
};

void RankEncoder::FillSides(uint32_t begin, uint32_t end, codec::NodeWindow* window) {
  window->set_first_comm(next_comm_);
  window->set_first_work_size(next_work_size_);
  for (uint32_t node = begin; node < end; ++node) {
    const uint32_t side = rank_.side[node];
    uint32_t& expected = IsComm(rank_.type[node]) ? next_comm_ : next_work_size_;
    if (side == kNone) {
      window->add_side(0);
      continue;
    }
    window->add_side(1 + ZigZag(int64_t{side} - int64_t{expected}));
    expected = side + 1;
  }
}

ChunkSpan RankEncoder::SpanOfNodes(uint32_t begin, uint32_t end) const {
  ChunkSpan span{.kind = ChunkKind::kNodes,
                 .first = begin,
                 .count = end - begin,
                 .first_item = rank_.dep_begin[begin]};
  AddTimes(rank_, begin, end, &span);
  return span;
}

absl::Status RankEncoder::EmitNodes() {
  codec::NodeWindow window;
  for (uint32_t begin = 0; begin < rank_.size(); begin += kWindowRows) {
    const auto end = static_cast<uint32_t>(std::min<size_t>(begin + kWindowRows, rank_.size()));
    window.Clear();
    window.set_first_node(begin);
    uint64_t last_id = 0;
    int64_t last_start_ns = 0;
    for (uint32_t node = begin; node < end; ++node) {
      window.add_id_delta(static_cast<int64_t>(rank_.id[node] - last_id));
      last_id = rank_.id[node];
      window.add_queue(rank_.queue[node]);
      window.add_name(rank_.name[node]);
      window.add_start_delta_ns(WrapSub(rank_.start_ns[node], last_start_ns));
      last_start_ns = rank_.start_ns[node];
      window.add_dur_ns(rank_.dur_ns[node]);
      window.add_work_minus_dur_ns(WrapSub(rank_.work_ns[node], rank_.dur_ns[node]));
      window.add_deps_count(rank_.dep_begin[node + 1] - rank_.dep_begin[node]);
    }
    window.set_type(reinterpret_cast<const char*>(&rank_.type[begin]), end - begin);
    window.set_flags(reinterpret_cast<const char*>(&rank_.flags[begin]), end - begin);
    FillSides(begin, end, &window);
    RETURN_IF_ERROR(EmitMessage(SpanOfNodes(begin, end), window));
  }
  return absl::OkStatus();
}

absl::Status RankEncoder::EmitEdges() {
  codec::EdgeWindow window;
  uint32_t node = 0;
  for (size_t begin = 0; begin < rank_.dep_node.size(); begin += kWindowRows) {
    const size_t end = std::min(begin + kWindowRows, rank_.dep_node.size());
    window.Clear();
    window.set_first_edge(static_cast<uint32_t>(begin));
    for (size_t edge = begin; edge < end; ++edge) {
      while (rank_.dep_begin[node + 1] <= edge) ++node;
      window.add_node_minus_dep(int64_t{node} - int64_t{rank_.dep_node[edge]});
    }
    window.set_kind(reinterpret_cast<const char*>(&rank_.dep_kind[begin]), end - begin);
    RETURN_IF_ERROR(
        EmitMessage({.kind = ChunkKind::kEdges, .first = begin, .count = end - begin}, window));
  }
  return absl::OkStatus();
}

absl::Status RankEncoder::EmitGaps() {
  codec::GapWindow window;
  for (size_t begin = 0; begin < rank_.gap_node.size(); begin += kWindowRows) {
    const size_t end = std::min(begin + kWindowRows, rank_.gap_node.size());
    window.Clear();
    uint32_t last_node = 0;
    for (size_t i = begin; i < end; ++i) {
      window.add_node_delta(rank_.gap_node[i] - last_node);
      last_node = rank_.gap_node[i];
      window.add_gap_ns(rank_.gap_ns[i]);
    }
    RETURN_IF_ERROR(EmitMessage({.kind = ChunkKind::kGaps,
                                 .first = begin,
                                 .count = end - begin,
                                 .first_item = rank_.gap_node[begin]},
                                window));
  }
  return absl::OkStatus();
}

absl::Status RankEncoder::EmitQueues() {
  if (rank_.queues.empty()) return absl::OkStatus();
  codec::QueueTable table;
  for (const Queue& queue : rank_.queues) {
    table.mutable_kind()->push_back(static_cast<char>(queue.kind));
    table.add_device(queue.device);
    table.add_raw_id(queue.raw_id);
  }
  return EmitMessage({.kind = ChunkKind::kQueues, .count = rank_.queues.size()}, table);
}

absl::Status RankEncoder::EmitComm() {
  codec::CommWindow window;
  for (size_t begin = 0; begin < rank_.comm.size(); begin += kWindowRows) {
    const size_t end = std::min(begin + kWindowRows, rank_.comm.size());
    window.Clear();
    for (size_t i = begin; i < end; ++i) {
      const CommOp& op = rank_.comm[i];
      window.mutable_collective()->push_back(static_cast<char>(op.collective));
      window.add_comm_bytes(op.bytes);
      window.add_group_plus_1(op.group + 1);  // kNone + 1 is 0.
      window.add_peer(op.peer == kNoRank ? 0 : 1 + ZigZag(int64_t{op.peer} - rank_.rank));
      window.add_root(op.root);
      window.add_priority(op.priority);
      window.add_tag(op.tag);
      window.add_excluded_dims(~op.involved_dims);
    }
    RETURN_IF_ERROR(
        EmitMessage({.kind = ChunkKind::kComm, .first = begin, .count = end - begin}, window));
  }
  return absl::OkStatus();
}

absl::Status RankEncoder::EmitWorkSizes() {
  codec::WorkSizeWindow window;
  for (size_t begin = 0; begin < rank_.work_size.size(); begin += kWindowRows) {
    const size_t end = std::min(begin + kWindowRows, rank_.work_size.size());
    window.Clear();
    for (size_t i = begin; i < end; ++i) {
      window.add_num_ops(rank_.work_size[i].num_ops);
      window.add_tensor_bytes(rank_.work_size[i].tensor_bytes);
    }
    RETURN_IF_ERROR(
        EmitMessage({.kind = ChunkKind::kWorkSize, .first = begin, .count = end - begin}, window));
  }
  return absl::OkStatus();
}

absl::Status RankEncoder::EmitGroups() {
  codec::GroupWindow window;
  size_t window_bytes = 0;
  for (const ProcessGroup& group : rank_.groups) {
    codec::Group* record = window.add_groups();
    GroupToProto(group, record);
    window_bytes += record->ByteSizeLong();
    if (window_bytes < kWindowBytes) continue;
    RETURN_IF_ERROR(Annotate(EmitMessage({.kind = ChunkKind::kGroups}, window),
                             absl::StrCat("group ", group.name)));
    window.Clear();
    window_bytes = 0;
  }
  if (window.groups_size() == 0) return absl::OkStatus();
  return EmitMessage({.kind = ChunkKind::kGroups}, window);
}

absl::Status RankEncoder::EmitLongStrings() {
  codec::LengthWindow window;
  ChunkSpan span{.kind = ChunkKind::kStringLengths, .first = 1};
  std::string text;
  const auto emit = [&]() -> absl::Status {
    span.count = static_cast<uint64_t>(window.length_size());
    RETURN_IF_ERROR(EmitMessage(span, window));
    window.Clear();
    span.first += span.count;
    span.first_item = text.size();
    return absl::OkStatus();
  };
  for (uint32_t i = 1; i < rank_.strings.size(); ++i) {
    const absl::string_view string = rank_.strings.Get(i);
    window.add_length(string.size());
    text.append(string.data(), string.size());
    if (static_cast<size_t>(window.length_size()) == kWindowRows) RETURN_IF_ERROR(emit());
  }
  if (window.length_size() > 0) RETURN_IF_ERROR(emit());
  return EmitBytes(ChunkKind::kStringBytes, text);
}

absl::Status RankEncoder::EmitStrings() {
  for (uint32_t i = 1; i < rank_.strings.size(); ++i) {
    if (rank_.strings.Get(i).size() > kWindowBytes) return EmitLongStrings();
  }
  codec::StringWindow window;
  ChunkSpan span{.kind = ChunkKind::kStrings, .first = 1};
  for (uint32_t i = 1; i < rank_.strings.size(); ++i) {
    const absl::string_view string = rank_.strings.Get(i);
    window.add_length(string.size());
    window.mutable_text()->append(string.data(), string.size());
    const size_t rows = static_cast<size_t>(window.length_size());
    const size_t bytes = window.text().size() + rows;
    const bool cut = bytes >= kStringRunMinBytes && IsCut(string);
    if (!cut && bytes < kStringRunMaxBytes && rows < kWindowRows && i + 1 < rank_.strings.size()) {
      continue;
    }
    span.count = rows;
    RETURN_IF_ERROR(EmitMessage(span, window));
    span.first += rows;
    window.Clear();
  }
  return absl::OkStatus();
}

absl::Status RankEncoder::EmitCold() {
  if (rank_.cold_begin.empty()) return absl::OkStatus();
  codec::LengthWindow window;
  for (uint32_t begin = 0; begin < rank_.size(); begin += kWindowRows) {
    const size_t end = std::min<size_t>(begin + kWindowRows, rank_.size());
    window.Clear();
    for (size_t node = begin; node < end; ++node) {
      window.add_length(rank_.cold_begin[node + 1] - rank_.cold_begin[node]);
    }
    RETURN_IF_ERROR(EmitMessage({.kind = ChunkKind::kColdLengths,
                                 .first = begin,
                                 .count = end - begin,
                                 .first_item = rank_.cold_begin[begin]},
                                window));
  }
  return EmitBytes(ChunkKind::kColdBytes, rank_.cold);
}

}  // namespace

RankHeader HeaderOf(const RankTrace& rank) {
  return {rank.rank,
          rank.base_unix_ns,
          rank.schema,
          rank.size(),
          static_cast<uint32_t>(rank.dep_node.size()),
          !rank.cold_begin.empty(),
          rank.file_cold.size()};
}

absl::Status EncodeRank(const RankTrace& rank, const ChunkSink& sink) {
  return RankEncoder(rank, sink).Run();
}

}  // namespace chakrad
