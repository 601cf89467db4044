// Collects nodes and edges in any order and turns them into a RankTrace.
#ifndef CHAKRAD_TRACE_MODEL_RANK_TRACE_BUILDER_H_
#define CHAKRAD_TRACE_MODEL_RANK_TRACE_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/status.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// One node as a reader hands it over; defaults mean "not known".
struct NodeSpec {
  uint64_t id = 0;
  NodeType type = NodeType::kInvalid;
  uint8_t flags = 0;
  absl::string_view name;
  Queue queue;
  int64_t start_ns = kUnknownNs;
  int64_t dur_ns = kUnknownNs;
  int64_t work_ns = kUnknownNs;
  int64_t gap_ns = 0;
  const CommOp* comm = nullptr;         // For communication nodes.
  const WorkSize* work_size = nullptr;  // For compute and memory nodes.
  absl::string_view cold;               // See RankTrace::cold.
};

// Not thread-safe. Strings and side records are copied.
class RankTraceBuilder {
 public:
  RankTraceBuilder();

  // Header fields (rank, base_unix_ns, schema, groups) may be set directly.
  RankTrace& header() { return trace_; }

  // Returns the new node's index: nodes keep the order in which they were added.
  uint32_t AddNode(const NodeSpec& spec);
  // `node` waits for `dependency`; both are indices of nodes already added.
  void AddEdge(uint32_t node, uint32_t dependency, EdgeKind kind);
  // The same, with the dependency's id, which may be added later.
  void AddEdgeById(uint32_t node, uint64_t dependency_id, EdgeKind kind);
  uint32_t size() const { return trace_.size(); }

  struct Dangling {
    uint32_t node;
    uint64_t dependency_id;
    EdgeKind kind;
  };
  // Resolves ids and sorts the edges of each node by (kind, dependency index),
  // equal ones once. INVALID_ARGUMENT when two nodes share an id, or when a
  // dependency names no node and `dangling` is null; else those are left out
  // and listed in `*dangling`. Call once. O(nodes + edges log edges of a node).
  absl::StatusOr<RankTrace> Build(std::vector<Dangling>* dangling);

 private:
  struct Edge {
    uint32_t node;
    uint32_t dependency;
    EdgeKind kind;
  };
  uint16_t FindQueue(const Queue& queue);

  RankTrace trace_;
  StringInterner interner_;
  std::vector<Edge> edges_;
  std::vector<Dangling> edges_by_id_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_RANK_TRACE_BUILDER_H_
