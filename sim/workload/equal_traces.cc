#include "sim/workload/equal_traces.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace chakrad {
namespace {

using GroupMap = std::map<uint32_t, uint32_t>;  // Of the first trace: of the other.

bool HasPointToPoint(const RankTrace& trace) {
  return std::any_of(trace.type.begin(), trace.type.end(), [](NodeType type) {
    return type == NodeType::kCommSend || type == NodeType::kCommRecv;
  });
}

bool HasRoots(const RankTrace& trace) {
  return std::any_of(trace.comm.begin(), trace.comm.end(),
                     [](const CommOp& op) { return op.root != kNoRank; });
}

// What equal traces have in common, cheap to compare: the rest is compared once this is equal.
struct Digest {
  size_t nodes_count = 0;
  size_t edges_count = 0;
  size_t comm_count = 0;
  uint64_t work = 0;
  auto operator<=>(const Digest&) const = default;
};

Digest DigestOf(const RankTrace& trace) {
  Digest digest{trace.id.size(), trace.dep_node.size(), trace.comm.size(), 0};
  for (const int64_t work_ns : trace.work_ns) {
    digest.work = digest.work * 1099511628211u + static_cast<uint64_t>(work_ns);
  }
  return digest;
}

// Whether the groups of the two fit; fills in `groups`.
bool CommFits(const Trace& trace, const RankTrace& a, const RankTrace& b, GroupMap* groups) {
  for (size_t i = 0; i < a.comm.size(); ++i) {
    CommOp other = b.comm[i];
    const uint32_t from = a.comm[i].group == kNone ? kWorldGroup : a.comm[i].group;
    const uint32_t to = other.group == kNone ? kWorldGroup : other.group;
    other.group = a.comm[i].group;
    if (!(other == a.comm[i])) return false;
    if (from >= trace.groups.size() || to >= trace.groups.size()) return false;
    if (trace.groups[from].ranks.size() != trace.groups[to].ranks.size()) return false;
    if (groups->try_emplace(from, to).first->second != to) return false;
  }
  // Two groups of one must not be one group of the other: they would meet in another order.
  std::vector<uint32_t> targets;
  for (const auto& [from, to] : *groups) targets.push_back(to);
  std::sort(targets.begin(), targets.end());
  return std::adjacent_find(targets.begin(), targets.end()) == targets.end();
}

// What an operator is, and which tensors it names.
bool OperatorsAreEqual(const RankTrace& a, const RankTrace& b) {
  if (a.dur_ns != b.dur_ns || a.cold_begin != b.cold_begin || a.cold != b.cold) return false;
  for (uint32_t node = 0; node < a.size(); ++node) {
    if (a.NameOf(node) != b.NameOf(node)) return false;
  }
  return true;
}

bool AreEqual(const Trace& trace, const RankTrace& a, const RankTrace& b, GroupMap* groups) {
  return a.id == b.id && a.type == b.type && a.flags == b.flags && a.queue == b.queue &&
         a.work_ns == b.work_ns && a.side == b.side && a.dep_begin == b.dep_begin &&
         a.dep_node == b.dep_node && a.dep_kind == b.dep_kind && a.gap_node == b.gap_node &&
         a.gap_ns == b.gap_ns && a.start_ns == b.start_ns && a.work_size == b.work_size &&
         a.queues == b.queues && a.comm.size() == b.comm.size() && CommFits(trace, a, b, groups);
}

}  // namespace

void ShareEqualTraces(const Trace& trace, bool operators, Cast* cast) {
  std::map<Digest, std::vector<uint32_t>> firsts;  // Traces that others may share.
  std::vector<uint32_t> shared(trace.ranks.size());
  std::vector<GroupMap> groups(trace.ranks.size());
  for (uint32_t index = 0; index < trace.ranks.size(); ++index) {
    const RankTrace& rank = trace.ranks[index];
    shared[index] = index;
    if (HasPointToPoint(rank)) continue;
    if (!cast->shift_of.empty() && HasRoots(rank)) continue;
    std::vector<uint32_t>& candidates = firsts[DigestOf(rank)];
    for (const uint32_t first : candidates) {
      GroupMap fits;
      if (!AreEqual(trace, trace.ranks[first], rank, &fits)) continue;
      if (operators && !OperatorsAreEqual(trace.ranks[first], rank)) continue;
      shared[index] = first;
      groups[index] = std::move(fits);
      break;
    }
    if (shared[index] == index) candidates.push_back(index);
  }
  for (size_t rank = 0; rank < cast->trace_of.size(); ++rank) {
    const uint32_t index = cast->trace_of[rank];
    if (shared[index] == index) continue;
    cast->trace_of[rank] = shared[index];
    const int32_t id = static_cast<int32_t>(rank);
    std::vector<std::pair<uint32_t, uint32_t>> uses;  // A stand-in may use another group already.
    for (const auto& [from, to] : groups[index]) uses.emplace_back(from, cast->GroupFor(id, to));
    for (const auto& [from, used] : uses) {
      cast->other_group.erase({id, from});
      if (used != from) cast->other_group[{id, from}] = used;
    }
  }
}

}  // namespace chakrad
