// The feeder: hands out the nodes of a rank whose dependencies are done, as a
// simulator asks for them. docs/feeder.md is its manual, with a whole example.
#ifndef CHAKRAD_TRACE_FEED_FEEDER_H_
#define CHAKRAD_TRACE_FEED_FEEDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "trace/feed/node_source.h"
#include "trace/feed/node_states.h"

namespace chakrad {

struct FeederOptions {
  // Nodes this far behind the lowest one that is not done are not handed out while
  // anything is being worked on. Bounds the memory to about 9 bytes for each of them where
  // a simulator asks for more nodes than are free. No bound: exactly the free ones.
  uint32_t lookahead_nodes = UINT32_MAX;
};

// Nodes are named by their position in the rank. The order is a function of the
// dependencies and of the calls: of the free nodes the lowest position comes first.
// Not thread-safe. `source` must outlive the feeder.
//
// Memory, apart from the source's: 8.5 bytes a node in pages of 4,096 that hold a node
// which was looked at and is not done, or one that somebody waits for; a few
// bytes for each node of more than 64 dependencies that waits. Nodes are looked at
// from the first on, and only as far as a call needs.
class Feeder {
 public:
  explicit Feeder(NodeSource* source, FeederOptions options = {});

  // At most `count` nodes that are free: each dependency is done, and they were not handed
  // out before. Fewer when no more are free; none when all others wait for nodes
  // that were handed out, or when all are done().
  // INVALID_ARGUMENT: a node depends on one that does not exist ("node 17 (aten::mm):
  // depends on position 900, which is not in [0, 500)"), found when that node is looked at; or
  // nothing is free nor being worked on, because nodes wait for each other: names one cycle
  // ("dependency cycle: node 3 (aten::mm) -> node 7 (aten::add) -> node 3 (aten::mm)": each
  // waits for the next; at most twenty are written out). Errors of the source are
  // passed on. After an error every call returns it.
  // O(count) amortised, and the dependencies of what is looked at.
  absl::StatusOr<std::vector<uint32_t>> Next(size_t count);

  // Says that a node that Next handed out is done. INVALID_ARGUMENT, and nothing changes, when it
  // was not handed out or is done already. O(nodes that waited for it), amortised over their
  // dependencies.
  absl::Status Complete(uint32_t node);

  // What a node is. See NodeSource::Read.
  absl::StatusOr<FeedNode> Read(uint32_t node) { return source_->Read(node); }

  bool done() const { return done_count_ == nodes_count_; }
  uint64_t done_count() const { return done_count_; }
  // Handed out and not done.
  uint64_t outstanding_count() const { return outstanding_count_; }

 private:
  // Whether a free node may be handed out now.
  bool MayIssue(uint32_t node);
  void Issue(uint32_t node, std::vector<uint32_t>* issued);
  // Looks at the next node. Whether it is free.
  absl::StatusOr<bool> Look();
  // Lets a node wait for one of its unfinished dependencies. False when it has none.
  bool WaitForNext(uint32_t node, absl::Span<const uint32_t> dependencies);
  absl::Status Missing(uint32_t node, uint32_t dependency);
  absl::Status Cycle();
  // "node 3 (aten::mm)".
  absl::StatusOr<std::string> Describe(uint32_t node);
  absl::Status Fail(absl::Status status);

  NodeSource* const source_;
  const FeederOptions options_;
  const uint32_t nodes_count_;
  NodeStates states_;
  uint32_t looked_ = 0;       // Nodes below were looked at.
  uint32_t lowest_open_ = 0;  // Nodes below are done.
  uint64_t done_count_ = 0;
  uint64_t outstanding_count_ = 0;
  // Of waiting nodes with many dependencies: those from this index on are done.
  absl::flat_hash_map<uint32_t, uint32_t> open_until_;
  absl::Status failed_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_FEED_FEEDER_H_
