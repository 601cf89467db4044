#include "sim/workload/uneven.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "sim/collective/collective_plan.h"

namespace chakrad {
namespace {

// Types of which members may rightly state different sizes: each what it sends itself, or, of a
// scatter, all but the root what they get.
bool MayDiffer(CollectiveType type) {
  return type == CollectiveType::kAllToAll || type == CollectiveType::kGather ||
         type == CollectiveType::kScatter;
}

// (rank, node, group, number in the group) of each collective of such a type.
using UseFn = std::function<void(int32_t, uint32_t, uint32_t, uint32_t)>;

void ForEachThatMayDiffer(Semantics semantics, const Trace& trace, const Cast& cast,
                          const std::vector<RankGraph>& graphs, const UseFn& use) {
  std::map<uint32_t, uint32_t> number_in_group;
  for (int32_t rank = 0; rank < trace.world_size; ++rank) {
    const uint32_t index = cast.trace_of[rank];
    const RankTrace& part = trace.ranks[index];
    number_in_group.clear();
    for (uint32_t place = 0; place < part.size(); ++place) {
      const uint32_t node = graphs[index].ByOrder(place);
      if (part.type[node] != NodeType::kCommColl) continue;
      const CommOp& op = *part.CommOf(node);
      if (!HasCostModel(semantics, op.collective)) continue;
      const uint32_t group = cast.GroupFor(rank, op.group);
      const uint32_t number = number_in_group[group]++;
      if (MayDiffer(op.collective)) use(rank, node, group, number);
    }
  }
}

}  // namespace

std::unordered_map<uint64_t, int64_t> FindUneven(Semantics semantics, const Trace& trace,
                                                 const Cast& cast,
                                                 const std::vector<RankGraph>& graphs) {
  std::unordered_map<uint64_t, int64_t> larger;
  // Ranks that run one trace agree with each other.
  const bool one_trace = std::all_of(cast.trace_of.begin(), cast.trace_of.end(),
                                     [&](uint32_t i) { return i == cast.trace_of[0]; });
  const bool any = std::any_of(trace.ranks.begin(), trace.ranks.end(), [](const RankTrace& rank) {
    return std::any_of(rank.comm.begin(), rank.comm.end(),
                       [](const CommOp& op) { return MayDiffer(op.collective); });
  });
  if (one_trace || !any) return larger;
  std::map<std::pair<uint32_t, uint32_t>, std::pair<int64_t, int64_t>> min_max_bytes;
  const auto bytes_of = [&](int32_t rank, uint32_t node) {
    return trace.ranks[cast.trace_of[rank]].CommOf(node)->bytes;
  };
  ForEachThatMayDiffer(
      semantics, trace, cast, graphs,
      [&](int32_t rank, uint32_t node, uint32_t group, uint32_t number) {
        const int64_t bytes = bytes_of(rank, node);
        const auto [it, added] = min_max_bytes.try_emplace({group, number}, bytes, bytes);
        it->second.first = std::min(it->second.first, bytes);
        it->second.second = std::max(it->second.second, bytes);
      });
  const bool uneven = std::any_of(min_max_bytes.begin(), min_max_bytes.end(), [](const auto& it) {
    return it.second.first != it.second.second;
  });
  if (!uneven) return larger;
  ForEachThatMayDiffer(semantics, trace, cast, graphs,
                       [&](int32_t rank, uint32_t node, uint32_t group, uint32_t number) {
                         const int64_t largest = min_max_bytes.at({group, number}).second;
                         if (bytes_of(rank, node) == largest) return;
                         larger[uint64_t(uint32_t(rank)) << 32 | node] = largest;
                       });
  return larger;
}

}  // namespace chakrad
