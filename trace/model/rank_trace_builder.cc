#include "trace/model/rank_trace_builder.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace chakrad {

RankTraceBuilder::RankTraceBuilder() : interner_(&trace_.strings) {
  trace_.cold_begin.push_back(0);
}

uint16_t RankTraceBuilder::FindQueue(const Queue& queue) {
  // Few queues a rank, and runs of nodes share one: the newest is tried first.
  for (size_t i = trace_.queues.size(); i > 0; --i) {
    if (trace_.queues[i - 1] == queue) return static_cast<uint16_t>(i - 1);
  }
  // A rank with 65,535 threads and streams is beyond anything real; the last
  // entry then takes all others, so that a hostile file stays harmless.
  if (trace_.queues.size() >= UINT16_MAX) return UINT16_MAX - 1;
  trace_.queues.push_back(queue);
  return static_cast<uint16_t>(trace_.queues.size() - 1);
}

uint32_t RankTraceBuilder::AddNode(const NodeSpec& spec) {
  const uint32_t node = trace_.size();
  CHECK(node < kNone - 1) << "too many nodes";
  trace_.id.push_back(spec.id);
  trace_.type.push_back(spec.type);
  trace_.flags.push_back(spec.flags);
  trace_.queue.push_back(FindQueue(spec.queue));
  trace_.name.push_back(interner_.Intern(spec.name));
  trace_.start_ns.push_back(spec.start_ns);
  trace_.dur_ns.push_back(spec.dur_ns);
  trace_.work_ns.push_back(spec.work_ns);
  if (spec.gap_ns > 0) {
    trace_.gap_node.push_back(node);
    trace_.gap_ns.push_back(spec.gap_ns);
  }
  uint32_t side = kNone;
  if (IsComm(spec.type)) {
    if (spec.comm != nullptr) {
      side = static_cast<uint32_t>(trace_.comm.size());
      trace_.comm.push_back(*spec.comm);
    }
  } else if (spec.work_size != nullptr) {
    side = static_cast<uint32_t>(trace_.work_size.size());
    trace_.work_size.push_back(*spec.work_size);
  }
  trace_.side.push_back(side);
  trace_.cold.append(spec.cold.data(), spec.cold.size());
  trace_.cold_begin.push_back(trace_.cold.size());
  return node;
}

void RankTraceBuilder::AddEdge(uint32_t node, uint32_t dependency, EdgeKind kind) {
  CHECK(node < size() && dependency < size()) << node << " " << dependency << " of " << size();
  edges_.push_back({node, dependency, kind});
}

void RankTraceBuilder::AddEdgeById(uint32_t node, uint64_t dependency_id, EdgeKind kind) {
  CHECK(node < size()) << node << " of " << size();
  edges_by_id_.push_back({node, dependency_id, kind});
}

absl::StatusOr<RankTrace> RankTraceBuilder::Build(std::vector<Dangling>* dangling) {
  absl::flat_hash_map<uint64_t, uint32_t> by_id;
  by_id.reserve(size());
  for (uint32_t node = 0; node < size(); ++node) {
    const auto [it, added] = by_id.emplace(trace_.id[node], node);
    if (!added) {
      return absl::InvalidArgumentError(absl::StrCat(
          "id: ", trace_.id[node], " is used by two nodes, ", trace_.NameOf(it->second),
          " (record ", it->second, ") and ", trace_.NameOf(node), " (record ", node, ")"));
    }
  }
  for (const Dangling& edge : edges_by_id_) {
    const auto it = by_id.find(edge.dependency_id);
    if (it != by_id.end()) {
      edges_.push_back({edge.node, it->second, edge.kind});
    } else if (dangling != nullptr) {
      dangling->push_back(edge);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat(DescribeNode(trace_, edge.node), " depends (", EdgeKindName(edge.kind),
                       ") on node ", edge.dependency_id, ", which is not in the file"));
    }
  }
  std::vector<uint32_t>& begin = trace_.dep_begin;
  begin.assign(size() + 1, 0);
  for (const Edge& edge : edges_) ++begin[edge.node + 1];
  for (uint32_t node = 0; node < size(); ++node) begin[node + 1] += begin[node];
  std::vector<std::pair<EdgeKind, uint32_t>> sorted(edges_.size());
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (const Edge& edge : edges_) sorted[next[edge.node]++] = {edge.kind, edge.dependency};
  uint32_t kept = 0;
  for (uint32_t node = 0; node < size(); ++node) {
    const auto first = sorted.begin() + begin[node], last = sorted.begin() + begin[node + 1];
    std::sort(first, last);
    const auto unique_last = std::unique(first, last);
    begin[node] = kept;
    for (auto it = first; it != unique_last; ++it) sorted[kept++] = *it;
  }
  begin[size()] = kept;
  trace_.dep_node.resize(kept);
  trace_.dep_kind.resize(kept);
  for (uint32_t i = 0; i < kept; ++i) {
    trace_.dep_kind[i] = sorted[i].first;
    trace_.dep_node[i] = sorted[i].second;
  }
  edges_.clear();
  edges_by_id_.clear();
  return std::move(trace_);
}

}  // namespace chakrad
