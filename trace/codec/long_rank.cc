#include "trace/codec/long_rank.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/codec/chunk.pb.h"
#include "trace/codec/limits.h"

namespace chakrad {
namespace {

constexpr uint32_t kNames = 300;

// Spread over all 32 bits, and the same everywhere.
uint32_t Mix(uint32_t value) {
  value = (value ^ (value >> 16)) * 0x7feb352d;
  value = (value ^ (value >> 15)) * 0x846ca68b;
  return value ^ (value >> 16);
}

class LongRank {
 public:
  LongRank(LongRankOrder order, uint32_t nodes_count) : order_(order), nodes_count_(nodes_count) {
    // Node i is at place i * step of the permutation, modulo their number.
    while (std::gcd(step_, nodes_count_) != 1) ++step_;
  }

  struct Edges {
    uint32_t count = 0;
    uint32_t node[3] = {};
    EdgeKind kind[3] = {};
    void Add(uint32_t dependency, EdgeKind edge_kind) {
      node[count] = dependency;
      kind[count++] = edge_kind;
    }
  };
  Edges EdgesOf(uint32_t node) const {
    Edges edges;
    if (order_ == LongRankOrder::kBackwards) {
      if (node + 1 < nodes_count_) edges.Add(node + 1, EdgeKind::kData);
      return edges;
    }
    if (order_ == LongRankOrder::kScattered) {
      // From the place before it in the permutation; place 0 waits for nobody.
      if (node != 0) edges.Add((node + step_) % nodes_count_, EdgeKind::kData);
      return edges;
    }
    const bool host = node % 2 == 0;
    if (!host) edges.Add(node - 1, EdgeKind::kLaunch);
    if (node >= 2) edges.Add(node - 2, host ? EdgeKind::kThreadOrder : EdgeKind::kStreamOrder);
    const uint32_t distance = 1 + Mix(node) % 50;
    if (node % 3 == 0 && node >= distance) edges.Add(node - distance, EdgeKind::kData);
    return edges;
  }

  absl::Status Encode(const ChunkSink& sink) {
    RETURN_IF_ERROR(EncodeNodes(sink));
    RETURN_IF_ERROR(EncodeEdges(sink));
    codec::QueueTable queues;
    queues.set_kind(std::string("\0\1", 2));
    for (const int device : {-1, 0}) queues.add_device(device);
    for (const int raw_id : {4711, 7}) queues.add_raw_id(raw_id);
    RETURN_IF_ERROR(Emit({.kind = ChunkKind::kQueues, .count = 2}, queues, sink));
    codec::StringWindow strings;
    for (uint32_t i = 0; i < kNames; ++i) {
      const std::string name = absl::StrCat("aten::operation_", i);
      strings.add_length(name.size());
      *strings.mutable_text() += name;
    }
    return Emit({.kind = ChunkKind::kStrings, .first = 1, .count = kNames}, strings, sink);
  }

 private:
  template <typename Message>
  absl::Status Emit(const ChunkSpan& span, const Message& message, const ChunkSink& sink) {
    ASSIGN_OR_RETURN(const std::string stored,
                     framer_.Pack(span.kind, message.SerializeAsString()));
    return sink(span, stored);
  }

  absl::Status EncodeNodes(const ChunkSink& sink) {
    constexpr int64_t kStepNs = 10'000, kDurNs = 8'000;
    uint64_t first_edge = 0;
    for (uint64_t begin = 0; begin < nodes_count_; begin += kWindowRows) {
      const uint64_t end = std::min<uint64_t>(begin + kWindowRows, nodes_count_);
      codec::NodeWindow window;
      window.set_first_node(static_cast<uint32_t>(begin));
      ChunkSpan span{.kind = ChunkKind::kNodes,
                     .first = begin,
                     .count = end - begin,
                     .first_item = first_edge};
      for (uint64_t i = begin; i < end; ++i) {
        const auto node = static_cast<uint32_t>(i);
        window.add_id_delta(static_cast<int64_t>(i == begin ? begin : 1));
        window.mutable_type()->push_back(static_cast<char>(NodeType::kComp));
        window.mutable_flags()->push_back(node % 2 == 0 ? RankTrace::kHostOp : 0);
        window.add_queue(node % 2);
        window.add_name(1 + Mix(node) % kNames);
        window.add_start_delta_ns(i == begin ? static_cast<int64_t>(begin) * kStepNs : kStepNs);
        window.add_dur_ns(kDurNs);
        window.add_work_minus_dur_ns(0);
        window.add_side(0);
        const uint32_t edges = EdgesOf(node).count;
        window.add_deps_count(edges);
        first_edge += edges;
      }
      span.min_start_ns = static_cast<int64_t>(begin) * kStepNs;
      span.max_end_ns = static_cast<int64_t>(end - 1) * kStepNs + kDurNs;
      RETURN_IF_ERROR(Emit(span, window, sink));
    }
    return absl::OkStatus();
  }

  absl::Status EncodeEdges(const ChunkSink& sink) {
    codec::EdgeWindow window;
    ChunkSpan span{.kind = ChunkKind::kEdges};
    const auto emit = [&]() -> absl::Status {
      span.count = window.kind().size();
      window.set_first_edge(static_cast<uint32_t>(span.first));
      RETURN_IF_ERROR(Emit(span, window, sink));
      window.Clear();
      span.first += span.count;
      return absl::OkStatus();
    };
    for (uint32_t node = 0; node < nodes_count_; ++node) {
      const Edges edges = EdgesOf(node);
      for (uint32_t i = 0; i < edges.count; ++i) {
        window.add_node_minus_dep(int64_t{node} - int64_t{edges.node[i]});
        window.mutable_kind()->push_back(static_cast<char>(edges.kind[i]));
        if (window.kind().size() == kWindowRows) RETURN_IF_ERROR(emit());
      }
    }
    return window.kind().empty() ? absl::OkStatus() : emit();
  }

  const LongRankOrder order_;
  const uint32_t nodes_count_;
  uint64_t step_ = 7'368'787;  // A prime.
  ChunkFramer framer_;
};

}  // namespace

RankHeader LongRankHeader(LongRankOrder order, uint32_t nodes_count) {
  RankHeader header;
  header.nodes_count = nodes_count;
  const LongRank rank(order, nodes_count);
  for (uint32_t node = 0; node < nodes_count; ++node) {
    header.edges_count += rank.EdgesOf(node).count;
  }
  return header;
}

absl::Status EncodeLongRank(LongRankOrder order, uint32_t nodes_count, const ChunkSink& sink) {
  return LongRank(order, nodes_count).Encode(sink);
}

}  // namespace chakrad
