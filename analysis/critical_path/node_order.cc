#include "analysis/critical_path/node_order.h"

#include <numeric>
#include <utility>

#include "trace/model/dependents.h"

namespace chakrad {
namespace {

// Most recorders write so.
bool DependenciesComeFirst(const RankTrace& trace) {
  for (uint32_t node = 0; node < trace.size(); ++node) {
    for (uint32_t i = trace.dep_begin[node]; i < trace.dep_begin[node + 1]; ++i) {
      if (trace.dep_node[i] >= node) return false;
    }
  }
  return true;
}

}  // namespace

NodeOrder OrderNodes(const RankTrace& trace) {
  NodeOrder order;
  if (DependenciesComeFirst(trace)) {
    order.nodes.resize(trace.size());
    std::iota(order.nodes.begin(), order.nodes.end(), 0);
    return order;
  }
  const Dependents dependents = DependentsOf(trace);
  std::vector<uint32_t> left = dependents.deps_count;
  order.nodes.reserve(trace.size());
  for (uint32_t node = 0; node < trace.size(); ++node) {
    if (left[node] == 0) order.nodes.push_back(node);
  }
  for (size_t i = 0; i < order.nodes.size(); ++i) {
    const uint32_t node = order.nodes[i];
    for (uint32_t j = dependents.begin[node]; j < dependents.begin[node + 1]; ++j) {
      if (--left[dependents.node[j]] == 0) order.nodes.push_back(dependents.node[j]);
    }
  }
  order.cyclic_count = trace.size() - static_cast<uint32_t>(order.nodes.size());
  for (uint32_t node = 0; node < trace.size() && order.cyclic_count > 0; ++node) {
    if (left[node] > 0) order.nodes.push_back(node);
  }
  return order;
}

}  // namespace chakrad
