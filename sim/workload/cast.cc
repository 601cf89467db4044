#include "sim/workload/cast.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/collective/collective_plan.h"
#include "sim/limits.h"
#include "sim/workload/equal_traces.h"

namespace chakrad {
namespace {

constexpr size_t kRanksListed = 20;

std::string ListRanks(const std::vector<int32_t>& ranks) {
  const size_t listed = std::min(ranks.size(), kRanksListed);
  std::string text = absl::StrJoin(ranks.begin(), ranks.begin() + listed, ", ");
  if (listed < ranks.size()) absl::StrAppend(&text, " and ", ranks.size() - listed, " more");
  return text;
}

absl::Status CheckWorld(const Trace& trace, const SystemDescription& system, bool replicate) {
  if (trace.world_size != NpusCount(system)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the trace has ", trace.world_size, " ranks and the topology has ",
                     DescribeTopology(system), ": the two counts must agree"));
  }
  if (trace.ranks.empty()) return absl::InvalidArgumentError("the trace has no ranks");
  for (size_t i = 0; i < trace.ranks.size(); ++i) {
    const int32_t rank = trace.ranks[i].rank;
    if (rank < 0 || rank >= trace.world_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank: ", rank, " is not in [0, ", trace.world_size, ")"));
    }
    if (i > 0 && trace.ranks[i - 1].rank >= rank) {
      return absl::InvalidArgumentError(
          absl::StrCat("ranks: ", rank, " follows ", trace.ranks[i - 1].rank));
    }
  }
  const std::vector<int32_t> missing = trace.MissingRanks();
  if (!missing.empty() && !replicate) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the trace has ", trace.ranks.size(), " of ", trace.world_size,
        " ranks; missing: ", ListRanks(missing), " (equal copies can stand in, if asked to)"));
  }
  return absl::OkStatus();
}

class Caster {
 public:
  Caster(const Trace& trace, const SystemDescription& system, Cast* cast)
      : trace_(trace),
        system_(system),
        cast_(cast),
        sorted_members_(trace.groups.size()),
        known_good_(trace.groups.size(), false),
        shapes_(trace.groups.size()) {}

  void Assign() {
    for (int32_t rank = 0; rank < trace_.world_size; ++rank) {
      const RankTrace* part = trace_.FindRankOrStandIn(rank);
      cast_->trace_of.push_back(static_cast<uint32_t>(part - trace_.ranks.data()));
      if (const RankCopy* copy = trace_.FindCopy(rank); copy != nullptr) {
        cast_->shift_of.resize(trace_.world_size, 0);
        cast_->shift_of[rank] = rank - copy->of;
        for (const auto& [group, other] : copy->groups) cast_->other_group[{rank, group}] = other;
        continue;
      }
      if (part->rank != rank) cast_->stand_in_by_rank.emplace_back(rank, part->rank);
    }
  }

  absl::Status Check() {
    for (const RankTrace& rank : trace_.ranks) {
      std::set<uint32_t> groups;
      for (uint32_t node = 0; node < rank.size(); ++node) {
        const absl::Status status = CheckNode(rank, node, &groups);
        if (!status.ok()) {
          return Annotate(status, absl::StrCat("rank ", rank.rank, ", ", DescribeNode(rank, node)));
        }
      }
      groups_of_.push_back(std::move(groups));
    }
    for (const auto& [rank, stand_in] : cast_->stand_in_by_rank) {
      std::map<uint32_t, uint32_t> group_by_target;
      for (const uint32_t group : groups_of_[cast_->trace_of[rank]]) {
        RETURN_IF_ERROR(ResolveGroup(rank, stand_in, group));
        const uint32_t target = cast_->GroupFor(rank, group);
        const auto [it, added] = group_by_target.emplace(target, group);
        if (added) continue;
        return absl::InvalidArgumentError(
            absl::StrCat("rank ", rank, " is missing and rank ", stand_in,
                         " cannot stand in for it: groups ", GroupName(it->second), " and ",
                         GroupName(group), " would both be ", GroupName(target)));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckNode(const RankTrace& rank, uint32_t node, std::set<uint32_t>* groups) {
    const NodeType type = rank.type[node];
    if (IsMemory(type)) {
      // A recorded interval may be shorter than the recorder's unit; no interval is
      // a node that needs a model of remote memory.
      const bool recorded =
          rank.work_ns[node] > 0 || (rank.work_ns[node] == 0 && rank.start_ns[node] != kUnknownNs);
      const bool sized = system_.remote_memory.kind != RemoteMemory::Kind::kNone &&
                         rank.WorkSizeOf(node) != nullptr;
      if (recorded || sized) return absl::OkStatus();
      return absl::InvalidArgumentError(
          "a memory node without a recorded duration: describe the remote memory, and state the "
          "node's tensor_size");
    }
    if (!IsComm(type)) return absl::OkStatus();
    const CommOp* op = rank.CommOf(node);
    if (op == nullptr) return absl::InvalidArgumentError("communication without its attributes");
    if (op->bytes < 0 || op->bytes > kMaxCommBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("bytes: ", op->bytes, " is not in [0, ", kMaxCommBytes, "]"));
    }
    if (type != NodeType::kCommColl) return CheckPeer(rank, *op);
    if (!HasCostModel(system_.semantics, op->collective)) return absl::OkStatus();
    const uint32_t group = op->group == kNone ? kWorldGroup : op->group;
    RETURN_IF_ERROR(CheckGroup(group));
    if (!Holds(group, rank.rank)) {
      return absl::InvalidArgumentError(
          absl::StrCat("group: ", GroupName(group), " does not hold rank ", rank.rank));
    }
    groups->insert(group);
    if (HasRoot(op->collective) && op->root != kNoRank && !Holds(group, op->root)) {
      return absl::InvalidArgumentError(
          absl::StrCat("root: ", op->root, " is not in group ", GroupName(group)));
    }
    const int32_t script = ScriptOf(system_, op->collective, rank.id[node]);
    const std::string fault = PlanFault(system_, op->collective, ShapeOfGroup(group), script);
    if (!fault.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(CollectiveTypeName(op->collective),
                                                     " in group ", GroupName(group), ": ", fault));
    }
    return absl::OkStatus();
  }

  absl::Status CheckPeer(const RankTrace& rank, const CommOp& op) {
    if (!cast_->stand_in_by_rank.empty()) {
      return absl::InvalidArgumentError(
          "sends and receives have a fixed peer: equal copies cannot stand in for missing ranks");
    }
    if (op.peer < 0 || op.peer >= trace_.world_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("peer: ", op.peer, " is not in [0, ", trace_.world_size, ")"));
    }
    if (op.peer == rank.rank) {
      return absl::InvalidArgumentError(absl::StrCat("peer: ", op.peer, " is the rank itself"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckGroup(uint32_t group) {
    if (group >= trace_.groups.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("group: ", group, " is not in [0, ", trace_.groups.size(), ")"));
    }
    if (known_good_[group]) return absl::OkStatus();
    std::vector<int32_t>& sorted = sorted_members_[group];
    sorted = trace_.groups[group].ranks;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("group: the members of ", GroupName(group), " are unknown"));
    }
    for (const int32_t member : {sorted.front(), sorted.back()}) {
      if (member >= 0 && member < trace_.world_size) continue;
      return absl::InvalidArgumentError(absl::StrCat("group: ", GroupName(group), " holds rank ",
                                                     member, ", which is not in [0, ",
                                                     trace_.world_size, ")"));
    }
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("group: ", GroupName(group), " holds rank ", *twice, " twice"));
    }
    known_good_[group] = true;
    return absl::OkStatus();
  }

  // The group that `rank` uses where the trace of `stand_in` uses `group`.
  absl::Status ResolveGroup(int32_t rank, int32_t stand_in, uint32_t group) {
    if (Holds(group, rank)) return absl::OkStatus();
    const size_t size = trace_.groups[group].ranks.size();
    if (groups_with_.empty()) FindGroupsWith();
    std::vector<uint32_t> fitting;
    for (const uint32_t other : groups_with_[rank]) {
      if (trace_.groups[other].ranks.size() == size) fitting.push_back(other);
    }
    if (fitting.size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rank ", rank, " is missing and rank ", stand_in, " cannot stand in for it: of group ",
          GroupName(group), " it is not a member, and ",
          fitting.empty() ? "no group" : absl::StrCat(fitting.size(), " groups"), " of ", size,
          " ranks hold it"));
    }
    cast_->other_group[{rank, group}] = fitting[0];
    return absl::OkStatus();
  }

  void FindGroupsWith() {
    groups_with_.resize(trace_.world_size);
    for (uint32_t group = 0; group < trace_.groups.size(); ++group) {
      if (!CheckGroup(group).ok()) continue;
      for (const int32_t member : sorted_members_[group]) groups_with_[member].push_back(group);
    }
  }
  const GroupShape& ShapeOfGroup(uint32_t group) {
    if (shapes_[group].ranks_count == 0) {
      shapes_[group] = ShapeOf(system_, trace_.groups[group].ranks);
    }
    return shapes_[group];
  }
  bool Holds(uint32_t group, int32_t rank) const {
    return std::binary_search(sorted_members_[group].begin(), sorted_members_[group].end(), rank);
  }
  std::string GroupName(uint32_t group) const {
    return absl::StrCat("\"", trace_.groups[group].name, "\" (entry ", group, ")");
  }

  const Trace& trace_;
  const SystemDescription& system_;
  Cast* cast_;
  std::vector<std::vector<int32_t>> sorted_members_;  // By group, once known_good_.
  std::vector<bool> known_good_;
  std::vector<std::vector<uint32_t>> groups_with_;  // By rank: sound groups; empty until needed.
  std::vector<GroupShape> shapes_;                  // By group; of 0 ranks until it is known.
  std::vector<std::set<uint32_t>> groups_of_;       // By index of Trace::ranks: with a cost model.
};

}  // namespace

absl::StatusOr<Cast> CastRanks(const Trace& trace, const SystemDescription& system, bool replicate,
                               bool memory_use) {
  RETURN_IF_ERROR(CheckWorld(trace, system, replicate));
  Cast cast;
  Caster caster(trace, system, &cast);
  caster.Assign();
  RETURN_IF_ERROR(caster.Check());
  const bool operators = memory_use || !system.compute.scale_by_class.empty() ||
                         system.compute.basis == ComputeBasis::kOperatorShapes;
  ShareEqualTraces(trace, operators, &cast);
  return cast;
}

}  // namespace chakrad
