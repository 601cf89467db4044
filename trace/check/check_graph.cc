#include "trace/check/check_graph.h"

#include <algorithm>
#include <tuple>

namespace chakrad {

CheckGraph BuildCheckGraph(const RankTrace& rank) {
  CheckGraph graph;
  graph.dependents = DependentsOf(rank);
  const Dependents& dependents = graph.dependents;
  const uint32_t size = rank.size();
  std::vector<uint32_t> left = dependents.deps_count;
  graph.order.reserve(size);
  for (uint32_t node = 0; node < size; ++node) {
    if (left[node] == 0) graph.order.push_back(node);
  }
  for (size_t done = 0; done < graph.order.size(); ++done) {
    const uint32_t node = graph.order[done];
    for (uint32_t j = dependents.begin[node]; j < dependents.begin[node + 1]; ++j) {
      if (--left[dependents.node[j]] == 0) graph.order.push_back(dependents.node[j]);
    }
  }
  graph.acyclic = graph.order.size() == size;
  for (uint32_t node = 0; node < size && !graph.acyclic; ++node) {
    if (left[node] > 0) graph.order.push_back(node);
  }
  return graph;
}

std::vector<uint32_t> CommInIssueOrder(const RankTrace& rank, const CheckGraph& graph) {
  // Of each node the latest issue and the highest id on any way to it: both grow along
  // dependencies, so that sorting by them cannot contradict one.
  std::vector<int64_t> issue_ns(rank.size(), kUnknownNs);
  std::vector<uint64_t> highest_id(rank.id);
  struct Place {
    int64_t issue_ns;
    uint64_t highest_id;
    size_t place;
    uint32_t node;
    auto Key() const { return std::tie(issue_ns, highest_id, place); }
  };
  std::vector<Place> places;
  for (size_t place = 0; place < graph.order.size(); ++place) {
    const uint32_t node = graph.order[place];
    int64_t own_ns = rank.start_ns[node];
    for (uint32_t j = rank.dep_begin[node]; j < rank.dep_begin[node + 1]; ++j) {
      const uint32_t dependency = rank.dep_node[j];
      if (rank.dep_kind[j] == EdgeKind::kLaunch && rank.start_ns[dependency] != kUnknownNs) {
        own_ns = std::min(own_ns, rank.start_ns[dependency]);
      }
      issue_ns[node] = std::max(issue_ns[node], issue_ns[dependency]);
      highest_id[node] = std::max(highest_id[node], highest_id[dependency]);
    }
    issue_ns[node] = std::max(issue_ns[node], own_ns);
    if (IsComm(rank.type[node])) {
      places.push_back({issue_ns[node], highest_id[node], place, node});
    }
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.Key() < b.Key(); });
  std::vector<uint32_t> nodes;
  nodes.reserve(places.size());
  for (const Place& place : places) nodes.push_back(place.node);
  return nodes;
}

}  // namespace chakrad
