#include "sim/workload/rank_graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/model/dependents.h"
#include "trace/model/trace.h"

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

// Walks the trace's own dependencies for the message.
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
  if (graph.dependent.size() != trace.dep_node.size()) {  // Perhaps only by what was added.
    return absl::FailedPreconditionError("the recorded order contradicts the dependencies");
  }
  return absl::FailedPreconditionError(
      absl::StrCat("rank ", trace.rank,
                   ": the run cannot finish: a dependency cycle: ", DescribeCycle(trace, waiting)));
}

// When the operation that launched `node` started; kUnknownNs.
int64_t LaunchNs(const RankTrace& trace, uint32_t node) {
  int64_t launch_ns = kUnknownNs;
  for (uint32_t i = trace.dep_begin[node]; i < trace.dep_begin[node + 1]; ++i) {
    if (trace.dep_kind[i] != EdgeKind::kLaunch) continue;
    launch_ns = std::max(launch_ns, trace.start_ns[trace.dep_node[i]]);
  }
  return launch_ns;
}

// Puts the collectives of one group in their recorded order; false when nothing tells it. A
// recorder may lose the times of one: then those of their launches, which say the same.
bool SortAsRecorded(const RankTrace& trace, std::vector<uint32_t>* nodes) {
  const bool all_timed = std::all_of(nodes->begin(), nodes->end(), [&](uint32_t node) {
    return trace.start_ns[node] != kUnknownNs;
  });
  std::vector<std::tuple<int64_t, uint64_t, uint32_t>> order;  // Time, id, node.
  order.reserve(nodes->size());
  for (const uint32_t node : *nodes) {
    const int64_t time_ns = all_timed ? trace.start_ns[node] : LaunchNs(trace, node);
    if (time_ns == kUnknownNs) return false;
    order.emplace_back(time_ns, trace.id[node], node);
  }
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) (*nodes)[i] = std::get<2>(order[i]);
  return true;
}

// Of each collective the one before it in its group as recorded, else kNone. A rank's
// program calls the collectives of a group in one order on all ranks; with one
// communication at a time, a rank that took the next one first would wait for ranks that
// wait for it. Groups of which that is not known are left to their dependencies.
std::vector<uint32_t> RecordedPredecessors(const RankTrace& trace) {
  std::map<uint32_t, std::vector<uint32_t>> by_group;
  for (uint32_t node = 0; node < trace.size(); ++node) {
    if (trace.type[node] != NodeType::kCommColl) continue;
    const CommOp* comm = trace.CommOf(node);
    by_group[comm == nullptr || comm->group == kNone ? kWorldGroup : comm->group].push_back(node);
  }
  std::vector<uint32_t> before(trace.size(), kNone);
  for (auto& [group, nodes] : by_group) {
    if (!SortAsRecorded(trace, &nodes)) continue;
    for (size_t i = 1; i < nodes.size(); ++i) before[nodes[i]] = nodes[i - 1];
  }
  return before;
}

// `before`: one more dependency of each node, or kNone; empty: none.
RankGraph TurnRound(const RankTrace& trace, const std::vector<uint32_t>& before) {
  const uint32_t size = trace.size();
  RankGraph graph;
  Dependents dependents = DependentsOf(trace, before);
  graph.dependent_begin = std::move(dependents.begin);
  graph.dependent = std::move(dependents.node);
  graph.deps_count = std::move(dependents.deps_count);
  if (!std::is_sorted(trace.id.begin(), trace.id.end())) {
    graph.by_order.resize(size);
    std::iota(graph.by_order.begin(), graph.by_order.end(), 0);
    std::sort(graph.by_order.begin(), graph.by_order.end(),
              [&](uint32_t a, uint32_t b) { return trace.id[a] < trace.id[b]; });
    graph.order_of.resize(size);
    for (uint32_t place = 0; place < size; ++place) graph.order_of[graph.by_order[place]] = place;
  }
  for (uint32_t place = 0; place < size; ++place) {
    const uint32_t node = graph.ByOrder(place);
    if (graph.deps_count[node] == 0) graph.roots.push_back(node);
  }
  if (!trace.gap_node.empty()) graph.gap_ns = trace.DenseGaps();
  return graph;
}

}  // namespace

absl::StatusOr<RankGraph> BuildRankGraph(const RankTrace& trace) {
  RankGraph graph = TurnRound(trace, RecordedPredecessors(trace));
  if (CheckAcyclic(trace, graph).ok()) return graph;
  // Recorded times that contradict the dependencies decide nothing.
  graph = TurnRound(trace, {});
  RETURN_IF_ERROR(CheckAcyclic(trace, graph));
  return graph;
}

}  // namespace chakrad
