#include "trace/check/cycles.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/model/dependents.h"
#include "trace/model/rank_trace.h"

namespace chakrad {
namespace {

constexpr size_t kNodesListed = 20;
// Searches for a shortest cycle visit at most this many edges in all, so that a
// hostile file costs little more than an acyclic one.
constexpr int64_t kMaxSearchedEdges = 50'000'000;

// Marks what is left when nodes whose dependencies are all done are taken away
// again and again: the cycles and what waits for them.
std::vector<bool> FindBlocked(const RankTrace& rank, uint32_t* blocked_count) {
  const uint32_t size = rank.size();
  const Dependents dependents = DependentsOf(rank);
  std::vector<uint32_t> left = dependents.deps_count;
  std::vector<uint32_t> ready;
  for (uint32_t node = 0; node < size; ++node) {
    if (left[node] == 0) ready.push_back(node);
  }
  std::vector<bool> blocked(size, true);
  *blocked_count = size;
  while (!ready.empty()) {
    const uint32_t node = ready.back();
    ready.pop_back();
    blocked[node] = false;
    --*blocked_count;
    for (uint32_t j = dependents.begin[node]; j < dependents.begin[node + 1]; ++j) {
      if (--left[dependents.node[j]] == 0) ready.push_back(dependents.node[j]);
    }
  }
  return blocked;
}

// Edge j leads from a node to rank.dep_node[j].
using Path = std::vector<uint32_t>;

class CycleSearch {
 public:
  CycleSearch(const RankTrace& rank, const std::vector<bool>& blocked)
      : rank_(rank), blocked_(blocked), reached_by_(rank.size(), kNone) {}

  // A shortest cycle through `from` with fewer than `shorter_than` edges, as
  // edge indices; empty when there is none.
  Path Through(uint32_t from, size_t shorter_than) {
    for (const uint32_t node : touched_) reached_by_[node] = kNone;
    touched_.assign(1, from);
    std::vector<uint32_t> level{from}, next;
    for (size_t depth = 1; depth < shorter_than && !level.empty(); ++depth, level.swap(next)) {
      next.clear();
      for (const uint32_t node : level) {
        for (uint32_t j = rank_.dep_begin[node]; j < rank_.dep_begin[node + 1]; ++j) {
          ++searched_edges_;
          const uint32_t dependency = rank_.dep_node[j];
          if (!blocked_[dependency]) continue;
          if (dependency == from) return Unwind(from, node, j);
          if (reached_by_[dependency] != kNone) continue;
          reached_by_[dependency] = j;
          touched_.push_back(dependency);
          next.push_back(dependency);
        }
      }
    }
    return {};
  }

  bool exhausted() const { return searched_edges_ > kMaxSearchedEdges; }

 private:
  uint32_t OwnerOf(uint32_t edge) const {
    return static_cast<uint32_t>(
        std::upper_bound(rank_.dep_begin.begin(), rank_.dep_begin.end(), edge) -
        rank_.dep_begin.begin() - 1);
  }
  Path Unwind(uint32_t from, uint32_t node, uint32_t last_edge) const {
    Path path{last_edge};
    while (node != from) {
      path.push_back(reached_by_[node]);
      node = OwnerOf(reached_by_[node]);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  const RankTrace& rank_;
  const std::vector<bool>& blocked_;
  std::vector<uint32_t> reached_by_;  // The edge by which the search came.
  std::vector<uint32_t> touched_;
  int64_t searched_edges_ = 0;
};

// A node of some cycle: following dependencies among blocked nodes never ends.
uint32_t OnSomeCycle(const RankTrace& rank, const std::vector<bool>& blocked) {
  std::vector<bool> seen(rank.size(), false);
  uint32_t node = 0;
  while (!blocked[node]) ++node;
  while (!seen[node]) {
    seen[node] = true;
    uint32_t j = rank.dep_begin[node];
    while (!blocked[rank.dep_node[j]]) ++j;
    node = rank.dep_node[j];
  }
  return node;
}

}  // namespace

absl::Status CheckAcyclic(const RankTrace& rank) {
  uint32_t blocked_count = 0;
  const std::vector<bool> blocked = FindBlocked(rank, &blocked_count);
  if (blocked_count == 0) return absl::OkStatus();
  CycleSearch search(rank, blocked);
  const uint32_t start = OnSomeCycle(rank, blocked);
  Path best = search.Through(start, rank.size() + 1);
  uint32_t first = start;
  for (uint32_t node = 0; node < rank.size() && best.size() > 1 && !search.exhausted(); ++node) {
    if (!blocked[node]) continue;
    const Path path = search.Through(node, best.size());
    if (!path.empty()) best = path, first = node;
  }
  std::string message = absl::StrCat("dependency cycle: ", DescribeNode(rank, first));
  for (size_t i = 0; i < best.size(); ++i) {
    if (i == kNodesListed) {
      absl::StrAppend(&message, " ... (", best.size(), " nodes in all)");
      break;
    }
    absl::StrAppend(&message, " -", EdgeKindName(rank.dep_kind[best[i]]), "-> ",
                    DescribeNode(rank, rank.dep_node[best[i]]));
  }
  return absl::InvalidArgumentError(message);
}

}  // namespace chakrad
