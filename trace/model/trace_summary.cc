#include "trace/model/trace_summary.h"

#include <algorithm>
#include <array>
#include <limits>

#include "common/saturating.h"

namespace chakrad {
namespace {

void CountComm(const RankTrace& rank, uint32_t node, RankSummary* summary) {
  const NodeType type = rank.type[node];
  if (!IsComm(type)) return;
  const CommOp* comm = rank.CommOf(node);
  absl::string_view name = type == NodeType::kCommSend ? "SEND" : "RECV";
  if (type == NodeType::kCommColl) {
    name = CollectiveTypeName(comm == nullptr ? CollectiveType::kAllReduce : comm->collective);
  }
  CommCount& count = summary->comm_by_type[std::string(name)];
  ++count.count;
  if (comm != nullptr) count.bytes = SaturatingAdd(count.bytes, comm->bytes);
}

}  // namespace

RankSummary SummarizeRank(const RankTrace& rank) {
  RankSummary summary;
  summary.rank = rank.rank;
  summary.schema = rank.schema;
  summary.nodes_count = rank.size();
  std::array<int64_t, kNodeTypesCount> by_type{};
  std::array<int64_t, kEdgeKindsCount> by_kind{};
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  for (uint32_t node = 0; node < rank.size(); ++node) {
    ++by_type[static_cast<size_t>(rank.type[node])];
    ++(rank.is_host(node) ? summary.host_nodes_count : summary.device_nodes_count);
    CountComm(rank, node, &summary);
    if (rank.start_ns[node] == kUnknownNs) continue;
    first_ns = std::min(first_ns, rank.start_ns[node]);
    const int64_t dur_ns = std::max<int64_t>(rank.dur_ns[node], 0);
    last_ns = std::max(last_ns, SaturatingAdd(rank.start_ns[node], dur_ns));
  }
  if (last_ns >= first_ns) summary.span_ns = SaturatingSubtract(last_ns, first_ns);
  for (EdgeKind kind : rank.dep_kind) ++by_kind[static_cast<size_t>(kind)];
  for (int i = 0; i < kNodeTypesCount; ++i) {
    if (by_type[i] == 0) continue;
    summary.nodes_count_by_type[std::string(NodeTypeName(static_cast<NodeType>(i)))] = by_type[i];
  }
  for (int i = 0; i < kEdgeKindsCount; ++i) {
    if (by_kind[i] == 0) continue;
    summary.edges_count_by_kind[std::string(EdgeKindName(static_cast<EdgeKind>(i)))] = by_kind[i];
  }
  return summary;
}

}  // namespace chakrad
