// What a picture of a rank's graph shows: which nodes, and which edges are left
// between them when the others are taken out.
#ifndef CHAKRAD_TRACE_WRITERS_GRAPH_VIEW_H_
#define CHAKRAD_TRACE_WRITERS_GRAPH_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/model/rank_trace.h"
#include "trace/writers/limits.h"

namespace chakrad {

struct GraphOptions {
  // Reduced: device compute (host operations where the rank has no device
  // compute), memory and communication; no annotations, no metadata, nothing that
  // is known to take no time and do no work. Full: every node, every edge.
  bool full = false;
  // Only nodes at most `depth` edges away, either way, from the node of this id.
  std::optional<uint64_t> around_id;
  int depth = 3;
  // Only nodes that run at some time in [from_ns, to_ns), counted like
  // RankTrace::start_ns. Nodes without a start are out.
  std::optional<int64_t> from_ns;
  std::optional<int64_t> to_ns;
  int64_t max_nodes = kMaxGraphNodes;
};

struct GraphEdge {
  // Instead of an EdgeKind: a path through nodes that are not shown.
  static constexpr uint8_t kThroughHidden = 0xff;
  uint32_t node = 0;        // Waits ...
  uint32_t dependency = 0;  // ... for this.
  uint8_t kind = 0;         // EdgeKind, or kThroughHidden.
  friend bool operator==(const GraphEdge&, const GraphEdge&) = default;
};

struct GraphView {
  std::vector<uint32_t> nodes;  // Ascending indices of the rank's nodes, junctions too.
  // Sorted by node, dependency, kind. A pair has an edge for each kind; one
  // through hidden nodes only where it has no other.
  std::vector<GraphEdge> edges;
  // Hidden nodes that stay as a mere point, ascending: without them n nodes before
  // and m behind would make n * m edges.
  std::vector<uint32_t> junctions;
  int64_t hidden_host = 0;       // Host operations of a rank with a device.
  int64_t hidden_zero_work = 0;  // Compute that takes no time.
  int64_t hidden_other = 0;      // Metadata, annotations, nodes without a type.
  int64_t outside_window = 0;

  int64_t hidden_count() const {
    return hidden_host + hidden_zero_work + hidden_other + outside_window;
  }
};

// There is a path from one shown node to another exactly where the whole rank has
// one; edges are never more than the rank's. INVALID_ARGUMENT: too many nodes
// (count, limit, what helps), an unknown or hidden around_id, an empty time
// range, a dependency cycle when nodes are hidden. O(nodes + edges log nodes).
absl::StatusOr<GraphView> ViewGraph(const RankTrace& rank, const GraphOptions& options);

// "rank 3: 120 of 14390 nodes; not shown: 14000 host operations, 270 without work".
std::string DescribeView(const RankTrace& rank, const GraphView& view);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_GRAPH_VIEW_H_
