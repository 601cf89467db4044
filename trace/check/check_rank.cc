#include "trace/check/check_rank.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/check/cycles.h"

namespace chakrad {
namespace {

std::string ShareText(int64_t part, int64_t all) {
  return absl::StrCat(part, " of ", all, " (", 100 * part / std::max<int64_t>(all, 1), " %)");
}

void CheckNesting(const RankTrace& rank, const CheckGraph& graph, FindingList* findings) {
  if (!graph.acyclic) return;
  std::vector<uint32_t> depth(rank.size(), 0);
  uint32_t deepest = 0;
  for (const uint32_t node : graph.order) {
    for (uint32_t j = rank.dep_begin[node]; j < rank.dep_begin[node + 1]; ++j) {
      if (rank.dep_kind[j] != EdgeKind::kControl) continue;
      depth[node] = std::max(depth[node], depth[rank.dep_node[j]] + 1);
    }
    if (depth[node] > depth[deepest]) deepest = node;
  }
  if (rank.size() == 0 || depth[deepest] <= kDeepNesting) return;
  findings->Add("deep_nesting", rank, deepest, [&] {
    return absl::StrCat(NodeText(rank, deepest), " is nested ", depth[deepest],
                        " deep; tools that recurse stop at ", kDeepNesting);
  });
}

}  // namespace

bool IsWork(const RankTrace& rank, uint32_t node) {
  return rank.type[node] != NodeType::kMetadata && (rank.flags[node] & RankTrace::kAnnotation) == 0;
}

bool IsDeviceOp(const RankTrace& rank, uint32_t node) {
  return !rank.is_host(node) && rank.queues[rank.queue[node]].kind == Queue::Kind::kDeviceStream;
}

bool HasHostDependency(const RankTrace& rank, uint32_t node) {
  for (uint32_t j = rank.dep_begin[node]; j < rank.dep_begin[node + 1]; ++j) {
    if (rank.is_host(rank.dep_node[j])) return true;
  }
  return false;
}

bool RecordsLaunches(const RankTrace& rank) {
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (rank.is_host(node) && IsWork(rank, node) && rank.start_ns[node] != kUnknownNs) return true;
  }
  return false;
}

void CheckDependencies(const RankTrace& rank, const CheckGraph& graph, FindingList* findings) {
  if (!graph.acyclic) {
    findings->AddOfRank("dependency_cycle", rank,
                        [&] { return std::string(CheckAcyclic(rank).message()); });
  }
  CheckNesting(rank, graph, findings);
  const bool any_edge = !rank.dep_node.empty(), launches = RecordsLaunches(rank);
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (any_edge && IsComm(rank.type[node]) && rank.dep_begin[node] == rank.dep_begin[node + 1] &&
        graph.dependents.begin[node] == graph.dependents.begin[node + 1]) {
      findings->Add("isolated_comm", rank, node, [&] {
        return absl::StrCat(NodeText(rank, node), " has no dependencies and no dependents; ",
                            CountText(static_cast<int64_t>(rank.dep_node.size()), "edge"),
                            " join other nodes of the rank");
      });
    }
    if (launches && IsDeviceOp(rank, node) && IsWork(rank, node) &&
        rank.start_ns[node] != kUnknownNs && !HasHostDependency(rank, node)) {
      findings->Add("device_op_without_launch", rank, node, [&] {
        return absl::StrCat(NodeText(rank, node), " on stream ",
                            rank.queues[rank.queue[node]].raw_id, " depends on no host operation");
      });
    }
  }
}

void CheckWork(const RankTrace& rank, FindingList* findings) {
  if (rank.size() == 0) {
    findings->AddOfRank("empty_rank", rank, [&] { return std::string("no nodes"); });
    return;
  }
  int64_t timed_kinds = 0, unknown = 0, unnamed = 0;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    const NodeType type = rank.type[node];
    if (rank.name[node] == 0 || rank.NameOf(node).empty()) ++unnamed;
    if (type == NodeType::kInvalid && !findings->InLedger("unknown_node_type")) {
      findings->Add("unknown_node_type", rank, node,
                    [&] { return absl::StrCat(NodeText(rank, node), " has no known type"); });
    }
    const WorkSize* size = rank.WorkSizeOf(node);
    if (size != nullptr && (size->num_ops < 0 || size->tensor_bytes < 0)) {
      findings->Add("negative_size", rank, node, [&] {
        return absl::StrCat(NodeText(rank, node), ": num_ops ", size->num_ops, ", tensor_size ",
                            size->tensor_bytes);
      });
    }
    if (!IsWork(rank, node)) continue;
    if (IsMemory(type) && (rank.work_ns[node] == kUnknownNs ||
                           (rank.work_ns[node] == 0 && rank.start_ns[node] == kUnknownNs))) {
      findings->Add("memory_without_duration", rank, node, [&] {
        return absl::StrCat(NodeText(rank, node), " has neither a duration nor a start");
      });
    }
    if (type != NodeType::kComp) continue;
    ++timed_kinds;
    if (rank.work_ns[node] == kUnknownNs && size == nullptr) ++unknown;
  }
  if (unknown > 0) {
    findings->AddOfRank("unknown_duration", rank, [&] {
      return absl::StrCat(ShareText(unknown, timed_kinds),
                          " compute nodes have neither a duration nor a size");
    });
  }
  if (unnamed > 0) {
    findings->AddOfRank("unnamed_node", rank, [&] {
      return absl::StrCat(ShareText(unnamed, rank.size()), " nodes have no name");
    });
  }
}

void CheckRank(const RankTrace& rank, const CheckGraph& graph, const GroupTable& groups,
               FindingList* findings) {
  CheckDependencies(rank, graph, findings);
  CheckTimes(rank, findings);
  CheckWork(rank, findings);
  CheckCommFields(rank, groups, findings);
}

}  // namespace chakrad
