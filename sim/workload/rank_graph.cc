#include "sim/workload/rank_graph.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

constexpr size_t kCycleNodesListed = 10;

// `waiting`: dependencies left of each node after everything that can run has run; a
// node with some left has a dependency with some left, so the walk ends in a cycle.
std::string DescribeCycle(const RankTrace& trace, const std::vector<uint32_t>& waiting) {
  const auto blocked_dependency = [&](uint32_t node) {
    for (uint32_t i = trace.dep_begin[node]; i < trace.dep_begin[node + 1]; ++i) {
      if (waiting[trace.dep_node[i]] > 0) return trace.dep_node[i];
    }
    return kNone;
  };
  uint32_t node = 0;
  while (waiting[node] == 0) ++node;
  std::vector<bool> seen(trace.size(), false);
  for (; !seen[node]; node = blocked_dependency(node)) seen[node] = true;
  const uint32_t first = node;
  std::string text = DescribeNode(trace, first);
  size_t length = 0;
  do {
    node = blocked_dependency(node);
    if (++length <= kCycleNodesListed) {
      absl::StrAppend(&text, " waits for ", DescribeNode(trace, node));
    }
  } while (node != first);
  if (length > kCycleNodesListed) {
    absl::StrAppend(&text, " and so on, back to ", DescribeNode(trace, first), " after ", length,
                    " steps");
  }
  return text;
}

absl::Status CheckAcyclic(const RankTrace& trace, const RankGraph& graph) {
  std::vector<uint32_t> waiting = graph.deps_count;
  std::vector<uint32_t> free = graph.roots;
  size_t run = 0;
  for (; run < free.size(); ++run) {
    const uint32_t node = free[run];
    for (uint32_t i = graph.dependent_begin[node]; i < graph.dependent_begin[node + 1]; ++i) {
      if (--waiting[graph.dependent[i]] == 0) free.push_back(graph.dependent[i]);
    }
  }
  if (run == trace.size()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("rank ", trace.rank,
                   ": the run cannot finish: a dependency cycle: ", DescribeCycle(trace, waiting)));
}

}  // namespace

absl::StatusOr<RankGraph> BuildRankGraph(const RankTrace& trace) {
  const uint32_t size = trace.size();
  RankGraph graph;
  graph.dependent_begin.assign(size + 1, 0);
  for (const uint32_t dependency : trace.dep_node) ++graph.dependent_begin[dependency + 1];
  for (uint32_t node = 0; node < size; ++node) {
    graph.dependent_begin[node + 1] += graph.dependent_begin[node];
  }
  graph.dependent.resize(trace.dep_node.size());
  graph.deps_count.resize(size);
  std::vector<uint32_t> next(graph.dependent_begin.begin(), graph.dependent_begin.end() - 1);
  for (uint32_t node = 0; node < size; ++node) {
    graph.deps_count[node] = trace.dep_begin[node + 1] - trace.dep_begin[node];
    for (uint32_t i = trace.dep_begin[node]; i < trace.dep_begin[node + 1]; ++i) {
      graph.dependent[next[trace.dep_node[i]]++] = node;
    }
  }
  graph.by_order.resize(size);
  std::iota(graph.by_order.begin(), graph.by_order.end(), 0);
  std::sort(graph.by_order.begin(), graph.by_order.end(),
            [&](uint32_t a, uint32_t b) { return trace.id[a] < trace.id[b]; });
  graph.order_of.resize(size);
  for (uint32_t place = 0; place < size; ++place) graph.order_of[graph.by_order[place]] = place;
  for (const uint32_t node : graph.by_order) {
    if (graph.deps_count[node] == 0) graph.roots.push_back(node);
  }
  if (!trace.gap_node.empty()) graph.gap_ns = trace.DenseGaps();
  RETURN_IF_ERROR(CheckAcyclic(trace, graph));
  return graph;
}

}  // namespace chakrad
