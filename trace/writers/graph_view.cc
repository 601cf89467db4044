#include "trace/writers/graph_view.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/model/dependents.h"

namespace chakrad {
namespace {

enum class Show : uint8_t { kShown, kHost, kZeroWork, kOther, kOutside };

Show ShowOf(const RankTrace& rank, uint32_t node, bool has_device) {
  if ((rank.flags[node] & RankTrace::kAnnotation) != 0) return Show::kOther;
  const NodeType type = rank.type[node];
  if (IsComm(type) || IsMemory(type)) return Show::kShown;
  if (type != NodeType::kComp) return Show::kOther;
  if (has_device && rank.is_host(node)) return Show::kHost;
  const WorkSize* size = rank.WorkSizeOf(node);
  const bool no_size = size == nullptr || (size->num_ops == 0 && size->tensor_bytes == 0);
  return rank.work_ns[node] == 0 && no_size ? Show::kZeroWork : Show::kShown;
}

bool RunsWithin(const RankTrace& rank, uint32_t node, const GraphOptions& options) {
  if (!options.from_ns.has_value() && !options.to_ns.has_value()) return true;
  const int64_t start_ns = rank.start_ns[node];
  if (start_ns == kUnknownNs) return false;
  const int64_t dur_ns = std::max<int64_t>(rank.dur_ns[node], 0);
  if (options.to_ns.has_value() && start_ns >= *options.to_ns) return false;
  // One without a duration counts as a point.
  return !options.from_ns.has_value() || start_ns >= *options.from_ns ||
         start_ns > INT64_MAX - dur_ns || start_ns + dur_ns > *options.from_ns;
}

// Dependencies first; shorter than the rank where there is a cycle.
std::vector<uint32_t> TopologicalOrder(const RankTrace& rank, const Dependents& dependents) {
  std::vector<uint32_t> waiting = dependents.deps_count;
  std::vector<uint32_t> order;
  order.reserve(rank.size());
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (waiting[node] == 0) order.push_back(node);
  }
  for (size_t next = 0; next < order.size(); ++next) {
    const uint32_t node = order[next];
    for (uint32_t i = dependents.begin[node]; i < dependents.begin[node + 1]; ++i) {
      if (--waiting[dependents.node[i]] == 0) order.push_back(dependents.node[i]);
    }
  }
  return order;
}

// Takes hidden nodes out one by one, dependencies first. One that waits for a
// single node is as good as that node; one that a single node waits for hands its
// dependencies on; one with several on both sides stays, as a junction.
class Reducer {
 public:
  Reducer(const RankTrace& rank, const std::vector<Show>& show)
      : rank_(rank), show_(show), dependents_(DependentsOf(rank)) {}

  absl::Status Run(GraphView* view) {
    const std::vector<uint32_t> order = TopologicalOrder(rank_, dependents_);
    if (order.size() < rank_.size()) {
      return absl::InvalidArgumentError(
          "graph: the dependencies have a cycle, so no node can be left out; draw the full graph");
    }
    FindUseful(order);
    same_as_.assign(rank_.size(), kNone);
    for (const uint32_t node : order) {
      if (IsShown(node)) {
        view->nodes.push_back(node);
        AddEdges(node, view);
      } else if (useful_[node]) {
        Resolve(node, view);
      }
    }
    std::sort(view->nodes.begin(), view->nodes.end());
    std::sort(view->junctions.begin(), view->junctions.end());
    std::sort(view->edges.begin(), view->edges.end(), [](const GraphEdge& a, const GraphEdge& b) {
      return std::tie(a.node, a.dependency, a.kind) < std::tie(b.node, b.dependency, b.kind);
    });
    return absl::OkStatus();
  }

 private:
  bool IsShown(uint32_t node) const { return show_[node] == Show::kShown; }

  // A hidden node matters only if a shown one waits for it in the end.
  void FindUseful(const std::vector<uint32_t>& order) {
    useful_.assign(rank_.size(), false);
    for (size_t i = order.size(); i-- > 0;) {
      const uint32_t node = order[i];
      useful_[node] = IsShown(node) || CountUsefulDependents(node) > 0;
    }
  }

  // Each once, at most 2: more are not told apart.
  int CountUsefulDependents(uint32_t node) const {
    uint32_t first = kNone;
    for (uint32_t i = dependents_.begin[node]; i < dependents_.begin[node + 1]; ++i) {
      const uint32_t dependent = dependents_.node[i];
      if (!useful_[dependent] || dependent == first) continue;
      if (first != kNone) return 2;
      first = dependent;
    }
    return first == kNone ? 0 : 1;
  }

  // What the node waits for when hidden nodes are out: shown nodes and junctions.
  absl::flat_hash_set<uint32_t> Sources(uint32_t node, bool hidden_only) {
    absl::flat_hash_set<uint32_t> sources;
    for (uint32_t i = rank_.dep_begin[node]; i < rank_.dep_begin[node + 1]; ++i) {
      const uint32_t dependency = rank_.dep_node[i];
      if (IsShown(dependency)) {
        if (!hidden_only) sources.insert(dependency);
        continue;
      }
      if (same_as_[dependency] != kNone) sources.insert(same_as_[dependency]);
      const auto handed_on = sources_.find(dependency);
      if (handed_on == sources_.end()) continue;
      // Nobody else waits for the dependency. The smaller set goes into the larger one.
      absl::flat_hash_set<uint32_t> more = std::move(handed_on->second);
      sources_.erase(handed_on);
      if (more.size() > sources.size()) std::swap(more, sources);
      sources.insert(more.begin(), more.end());
    }
    return sources;
  }

  void Resolve(uint32_t node, GraphView* view) {
    absl::flat_hash_set<uint32_t> sources = Sources(node, /*hidden_only=*/false);
    if (sources.empty()) return;
    if (sources.size() == 1) {
      same_as_[node] = *sources.begin();
    } else if (CountUsefulDependents(node) == 1) {
      sources_.emplace(node, std::move(sources));
    } else {
      same_as_[node] = node;
      view->nodes.push_back(node);
      view->junctions.push_back(node);
      for (const uint32_t source : sources) {
        view->edges.push_back({node, source, GraphEdge::kThroughHidden});
      }
    }
  }

  void AddEdges(uint32_t node, GraphView* view) {
    absl::flat_hash_set<uint32_t> direct;
    for (uint32_t i = rank_.dep_begin[node]; i < rank_.dep_begin[node + 1]; ++i) {
      const uint32_t dependency = rank_.dep_node[i];
      if (!IsShown(dependency)) continue;
      direct.insert(dependency);
      view->edges.push_back({node, dependency, static_cast<uint8_t>(rank_.dep_kind[i])});
    }
    for (const uint32_t source : Sources(node, /*hidden_only=*/true)) {
      if (direct.contains(source)) continue;
      view->edges.push_back({node, source, GraphEdge::kThroughHidden});
    }
  }

  const RankTrace& rank_;
  const std::vector<Show>& show_;
  const Dependents dependents_;
  std::vector<bool> useful_;
  // Of a hidden node that waits for one other: that one. Of a junction: itself.
  std::vector<uint32_t> same_as_;
  // Of hidden nodes that wait for several and that one node waits for.
  absl::flat_hash_map<uint32_t, absl::flat_hash_set<uint32_t>> sources_;
};

GraphView WholeGraph(const RankTrace& rank) {
  GraphView view;
  view.edges.reserve(rank.dep_node.size());
  for (uint32_t node = 0; node < rank.size(); ++node) {
    view.nodes.push_back(node);
    const size_t first = view.edges.size();
    for (uint32_t i = rank.dep_begin[node]; i < rank.dep_begin[node + 1]; ++i) {
      view.edges.push_back({node, rank.dep_node[i], static_cast<uint8_t>(rank.dep_kind[i])});
    }
    std::sort(view.edges.begin() + first, view.edges.end(),
              [](const GraphEdge& a, const GraphEdge& b) {
                return std::tie(a.dependency, a.kind) < std::tie(b.dependency, b.kind);
              });
  }
  return view;
}

absl::StatusOr<GraphView> ViewShown(const RankTrace& rank, const std::vector<Show>& show) {
  if (std::all_of(show.begin(), show.end(), [](Show s) { return s == Show::kShown; })) {
    return WholeGraph(rank);
  }
  GraphView view;
  RETURN_IF_ERROR(Reducer(rank, show).Run(&view));
  for (const Show s : show) {
    if (s == Show::kHost) ++view.hidden_host;
    if (s == Show::kZeroWork) ++view.hidden_zero_work;
    if (s == Show::kOther) ++view.hidden_other;
    if (s == Show::kOutside) ++view.outside_window;
  }
  return view;
}

// Neighbours of each node of a view, either way.
absl::flat_hash_map<uint32_t, std::vector<uint32_t>> NeighboursOf(const GraphView& view) {
  absl::flat_hash_map<uint32_t, std::vector<uint32_t>> neighbours;
  for (const GraphEdge& edge : view.edges) {
    neighbours[edge.node].push_back(edge.dependency);
    neighbours[edge.dependency].push_back(edge.node);
  }
  return neighbours;
}

// Puts all nodes that are further than `depth` edges from `center` outside. A
// junction is no step of its own.
void KeepAround(const GraphView& view, uint32_t center, int depth, std::vector<Show>* show) {
  const auto neighbours = NeighboursOf(view);
  std::vector<bool> reached(show->size(), false);
  const auto is_junction = [&](uint32_t node) {
    return std::binary_search(view.junctions.begin(), view.junctions.end(), node);
  };
  std::vector<uint32_t> ring = {center};
  reached[center] = true;
  for (int step = 0; step < depth && !ring.empty(); ++step) {
    std::vector<uint32_t> next_ring;
    // `ring` grows by the junctions that are met.
    for (size_t i = 0; i < ring.size(); ++i) {
      const auto found = neighbours.find(ring[i]);
      if (found == neighbours.end()) continue;
      for (const uint32_t neighbour : found->second) {
        if (reached[neighbour]) continue;
        reached[neighbour] = true;
        (is_junction(neighbour) ? ring : next_ring).push_back(neighbour);
      }
    }
    ring = std::move(next_ring);
  }
  for (uint32_t node = 0; node < show->size(); ++node) {
    if ((*show)[node] == Show::kShown && !reached[node]) (*show)[node] = Show::kOutside;
  }
}

absl::StatusOr<uint32_t> FindCenter(const RankTrace& rank, const std::vector<Show>& show,
                                    uint64_t id) {
  const auto found = std::find(rank.id.begin(), rank.id.end(), id);
  if (found == rank.id.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("around_id: rank ", rank.rank, " has no node ", id));
  }
  const auto node = static_cast<uint32_t>(found - rank.id.begin());
  if (show[node] == Show::kShown) return node;
  return absl::InvalidArgumentError(absl::StrCat(
      "around_id: ", DescribeNode(rank, node),
      show[node] == Show::kOutside ? " is outside the time range"
                                   : " is not in the reduced graph; ask for the full one"));
}

absl::Status CheckOptions(const GraphOptions& options) {
  if (options.from_ns.has_value() && options.to_ns.has_value() &&
      *options.from_ns >= *options.to_ns) {
    return absl::InvalidArgumentError(
        absl::StrCat("to_ns: ", *options.to_ns, " is not after from_ns ", *options.from_ns));
  }
  if (options.depth < 0) {
    return absl::InvalidArgumentError(absl::StrCat("depth: ", options.depth, " is below 0"));
  }
  return absl::OkStatus();
}

absl::Status CheckSize(const GraphView& view, const GraphOptions& options) {
  const auto count = static_cast<int64_t>(view.nodes.size());
  if (count <= options.max_nodes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "graph: ", count, " nodes are more than ", options.max_nodes,
      ": ask for those around one node, a shorter time range",
      options.full ? ", the reduced graph instead of the full one" : "",
      options.max_nodes < kMaxGraphNodes ? ", or for a format without layout (dot, graphml)" : ""));
}

}  // namespace

absl::StatusOr<GraphView> ViewGraph(const RankTrace& rank, const GraphOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  std::vector<Show> show(rank.size(), Show::kShown);
  const bool has_device = rank.HasDeviceCompute();
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (!options.full) show[node] = ShowOf(rank, node, has_device);
    if (show[node] == Show::kShown && !RunsWithin(rank, node, options)) {
      show[node] = Show::kOutside;
    }
  }
  uint32_t center = kNone;
  if (options.around_id.has_value()) {
    ASSIGN_OR_RETURN(center, FindCenter(rank, show, *options.around_id));
  }
  ASSIGN_OR_RETURN(GraphView view, ViewShown(rank, show));
  if (center != kNone) {
    KeepAround(view, center, options.depth, &show);
    ASSIGN_OR_RETURN(view, ViewShown(rank, show));
  }
  RETURN_IF_ERROR(CheckSize(view, options));
  return view;
}

std::string DescribeView(const RankTrace& rank, const GraphView& view) {
  std::string text =
      absl::StrCat("rank ", rank.rank, ": ", view.nodes.size() - view.junctions.size(), " of ",
                   rank.size(), " nodes");
  const std::pair<int64_t, const char*> parts[] = {{view.hidden_host, "host operations"},
                                                   {view.hidden_zero_work, "without work"},
                                                   {view.hidden_other, "metadata and annotations"},
                                                   {view.outside_window, "outside the window"}};
  const char* separator = "; not shown: ";
  for (const auto& [count, what] : parts) {
    if (count == 0) continue;
    absl::StrAppend(&text, separator, count, " ", what);
    separator = ", ";
  }
  if (!view.junctions.empty()) {
    absl::StrAppend(&text, " (", view.junctions.size(), " of them as points)");
  }
  return text;
}

}  // namespace chakrad
