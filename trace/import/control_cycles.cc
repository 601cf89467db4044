#include "trace/import/control_cycles.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

// Strongly connected components, by Tarjan's algorithm with its own stack: nodes
// of one component can all reach each other along dependencies.
class Components {
 public:
  explicit Components(const RankTrace& rank)
      : rank_(rank),
        component_(rank.size(), kNone),
        order_(rank.size(), kNone),
        low_(rank.size(), 0) {
    for (uint32_t node = 0; node < rank.size(); ++node) {
      if (order_[node] == kNone) Visit(node);
    }
  }
  uint32_t of(uint32_t node) const { return component_[node]; }

 private:
  struct Frame {
    uint32_t node;
    uint32_t next_edge;
  };

  void Enter(uint32_t node) {
    order_[node] = low_[node] = entered_++;
    open_.push_back(node);
    frames_.push_back({node, rank_.dep_begin[node]});
  }
  void Visit(uint32_t root) {
    Enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const uint32_t node = frame.node;
      if (frame.next_edge == rank_.dep_begin[node + 1]) {
        Leave(node);
        continue;
      }
      const uint32_t dependency = rank_.dep_node[frame.next_edge++];
      if (order_[dependency] == kNone) {
        Enter(dependency);
      } else if (component_[dependency] == kNone) {
        low_[node] = std::min(low_[node], order_[dependency]);
      }
    }
  }
  void Leave(uint32_t node) {
    frames_.pop_back();
    if (!frames_.empty()) {
      const uint32_t caller = frames_.back().node;
      low_[caller] = std::min(low_[caller], low_[node]);
    }
    if (low_[node] != order_[node]) return;
    for (uint32_t member = kNone; member != node;) {
      member = open_.back();
      open_.pop_back();
      component_[member] = node;
    }
  }

  const RankTrace& rank_;
  std::vector<uint32_t> component_;  // Its first node; kNone while open.
  std::vector<uint32_t> order_, low_;
  std::vector<uint32_t> open_;
  std::vector<Frame> frames_;
  uint32_t entered_ = 0;
};

}  // namespace

void DropCyclicControlEdges(RankTrace* rank, Ledger* ledger) {
  const Components components(*rank);
  uint32_t kept = 0, begin = 0;
  for (uint32_t node = 0; node < rank->size(); ++node) {
    const uint32_t end = rank->dep_begin[node + 1];
    for (uint32_t j = begin; j < end; ++j) {
      const uint32_t dependency = rank->dep_node[j];
      if (rank->dep_kind[j] == EdgeKind::kControl &&
          components.of(node) == components.of(dependency)) {
        ledger->AddFlaw(
            "cyclic_control_dependency", -1, -1,
            absl::StrCat(DescribeNode(*rank, node), ": control dependency on ",
                         DescribeNode(*rank, dependency), ", which waits for it; dropped"));
        continue;
      }
      rank->dep_node[kept] = dependency;
      rank->dep_kind[kept++] = rank->dep_kind[j];
    }
    begin = end;
    rank->dep_begin[node + 1] = kept;
  }
  rank->dep_node.resize(kept);
  rank->dep_kind.resize(kept);
}

}  // namespace chakrad
