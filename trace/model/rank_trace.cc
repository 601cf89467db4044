#include "trace/model/rank_trace.h"

#include "absl/strings/str_cat.h"

namespace chakrad {

const CommOp* RankTrace::CommOf(uint32_t node) const {
  if (!IsComm(type[node]) || side[node] == kNone) return nullptr;
  return &comm[side[node]];
}

const WorkSize* RankTrace::WorkSizeOf(uint32_t node) const {
  if (IsComm(type[node]) || side[node] == kNone) return nullptr;
  return &work_size[side[node]];
}

absl::string_view RankTrace::ColdOf(uint32_t node) const {
  if (cold_begin.empty()) return {};
  return absl::string_view(cold.data() + cold_begin[node], cold_begin[node + 1] - cold_begin[node]);
}

std::vector<int64_t> RankTrace::DenseGaps() const {
  std::vector<int64_t> dense(size(), 0);
  for (size_t i = 0; i < gap_node.size(); ++i) dense[gap_node[i]] = gap_ns[i];
  return dense;
}

bool RankTrace::HasDeviceCompute() const {
  for (uint32_t node = 0; node < size(); ++node) {
    if (type[node] == NodeType::kComp && !is_host(node)) return true;
  }
  return false;
}

std::string DescribeNode(const RankTrace& rank, uint32_t node) {
  return absl::StrCat("node ", rank.id[node], " (", rank.NameOf(node), ")");
}

}  // namespace chakrad
