#include "sim/projection/projection.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "sim/projection/rank_grid.h"

namespace chakrad {
namespace {

uint32_t GroupOf(const CommOp& op) { return op.group == kNone ? kWorldGroup : op.group; }

// Calls use(node, &op) for each communication node.
template <typename RankTraceT, typename Use>
absl::Status ForEachComm(RankTraceT& rank, const Use& use) {
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (!IsComm(rank.type[node]) || rank.side[node] == kNone) continue;
    const absl::Status status = use(node, rank.comm[rank.side[node]]);
    if (!status.ok()) {
      return Annotate(status, absl::StrCat("rank ", rank.rank, ", ", DescribeNode(rank, node)));
    }
  }
  return absl::OkStatus();
}

// bytes * n / m; nullopt when that is not whole, or does not fit.
std::optional<int64_t> Rescaled(int64_t bytes, int64_t n, int64_t m) {
  const int64_t divisor = std::gcd(n, m);
  n /= divisor;
  m /= divisor;
  if (bytes < 0 || bytes % m != 0 || bytes / m > INT64_MAX / n) return std::nullopt;
  return bytes / m * n;
}

class Projector {
 public:
  Projector(Trace trace, RankGrid grid) : trace_(std::move(trace)), grid_(std::move(grid)) {}

  absl::StatusOr<Projection> Run() {
    RETURN_IF_ERROR(FindOwners());
    RETURN_IF_ERROR(PlaceGroups());
    RETURN_IF_ERROR(CheckUneven());
    MakeGroups();
    DropRanks();
    for (RankTrace& rank : trace_.ranks) RETURN_IF_ERROR(Rewrite(&rank));
    MakeCopies();
    for (RankTrace& rank : trace_.ranks) rank.rank = NewOf(rank.rank);
    std::sort(trace_.ranks.begin(), trace_.ranks.end(),
              [](const RankTrace& a, const RankTrace& b) { return a.rank < b.rank; });
    trace_.groups = std::move(groups_);
    trace_.world_size = trace_.world_size / grid_.size * grid_.new_size;
    return Finish();
  }

 private:
  using Kind = GroupPlace::Kind;

  int32_t NewOf(int32_t rank) const {
    return grid_.NewRank(grid_.AxisOf(rank), grid_.RestOf(rank));
  }
  bool Stays(int32_t rank) const { return grid_.AxisOf(rank) < grid_.new_size; }

  // Whose part each rank runs.
  absl::Status FindOwners() {
    owner_.assign(trace_.world_size, kNoRank);
    copy_of_.assign(trace_.world_size, nullptr);
    for (const RankTrace& rank : trace_.ranks) {
      if (rank.rank < 0 || rank.rank >= trace_.world_size) {
        return absl::InvalidArgumentError(
            absl::StrCat("rank: ", rank.rank, " is not in [0, ", trace_.world_size, ")"));
      }
      owner_[rank.rank] = rank.rank;
    }
    for (const RankCopy& copy : trace_.copies) {
      owner_[copy.rank] = copy.of;
      copy_of_[copy.rank] = &copy;
    }
    for (int32_t rank = 0; rank < trace_.world_size; ++rank) {
      if (owner_[rank] != kNoRank || !Stays(rank)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("rank ", rank, " of ", trace_.world_size,
                       " is missing: a projection copies ranks, and needs all of them"));
    }
    return absl::OkStatus();
  }

  // Places of the groups that are used. A group that nobody uses may be anything.
  absl::Status PlaceGroups() {
    std::vector<bool> used(trace_.groups.size(), false);
    used[kWorldGroup] = true;
    for (const RankTrace& rank : trace_.ranks) {
      RETURN_IF_ERROR(ForEachComm(rank, [&](uint32_t, const CommOp& op) {
        if (GroupOf(op) >= trace_.groups.size()) {
          return absl::InvalidArgumentError(
              absl::StrCat("group: ", op.group, " is not in [0, ", trace_.groups.size(), ")"));
        }
        used[GroupOf(op)] = true;
        groups_of_part_[rank.rank].insert(GroupOf(op));
        return absl::OkStatus();
      }));
    }
    for (const RankCopy& copy : trace_.copies) {
      for (const auto& [group, instead] : copy.groups) used[instead] = true;
    }
    for (uint32_t group = 0; group < trace_.groups.size(); ++group) {
      GroupPlace place = PlaceOf(trace_, grid_, group);
      if (used[group] && place.kind == Kind::kUnknown) {
        return absl::InvalidArgumentError(
            absl::StrCat("group: the members of ", NameOfGroup(trace_, group),
                         " are unknown: nobody can say whether it grows"));
      }
      if (used[group] && place.kind == Kind::kIrregular) {
        return absl::InvalidArgumentError(absl::StrCat(
            "group: ", NameOfGroup(trace_, group),
            " neither holds the whole axis nor lies at one place of it: ", place.fault));
      }
      places_.push_back(std::move(place));
    }
    return absl::OkStatus();
  }

  // All-to-alls of a group that is rescaled are even: all members state the same sizes.
  absl::Status CheckUneven() {
    std::map<uint32_t, std::pair<int32_t, std::vector<int64_t>>>
        sizes_of;  // First rank's, by group.
    for (const RankTrace& rank : trace_.ranks) {
      std::map<uint32_t, std::vector<int64_t>> sizes;
      RETURN_IF_ERROR(ForEachComm(rank, [&](uint32_t node, const CommOp& op) {
        if (rank.type[node] == NodeType::kCommColl && op.collective == CollectiveType::kAllToAll &&
            places_[GroupOf(op)].kind == Kind::kWholeAxis) {
          sizes[GroupOf(op)].push_back(op.bytes);
        }
        return absl::OkStatus();
      }));
      for (auto& [group, list] : sizes) {
        std::sort(list.begin(), list.end());
        const auto [it, added] = sizes_of.try_emplace(group, rank.rank, list);
        if (it->second.second == list) continue;
        return absl::InvalidArgumentError(absl::StrCat(
            "ALL_TO_ALL in group ", NameOfGroup(trace_, group), ": ranks ", it->second.first,
            " and ", rank.rank, " state different sizes; uneven ones have no rule"));
      }
    }
    return absl::OkStatus();
  }

  // The new table, and the new index of each group at each of its places.
  void MakeGroups() {
    const int32_t copies_count = std::max(1, grid_.new_size / grid_.size);
    new_group_.assign(trace_.groups.size(), std::vector<uint32_t>(copies_count, kNone));
    for (uint32_t group = 0; group < trace_.groups.size(); ++group) {
      const GroupPlace& place = places_[group];
      if (place.kind == Kind::kOnePlace && place.axis >= grid_.new_size) continue;
      ProcessGroup made = trace_.groups[group];
      made.ranks.clear();
      if (place.kind == Kind::kWholeAxis) made.ranks = WholeAxis(trace_.groups[group].ranks);
      if (place.kind == Kind::kOnePlace) made.ranks = Moved(trace_.groups[group].ranks, place.axis);
      new_group_[group].assign(copies_count, static_cast<uint32_t>(groups_.size()));
      groups_.push_back(std::move(made));
    }
    for (int32_t copy = 1; copy < copies_count; ++copy) {
      for (uint32_t group = 0; group < trace_.groups.size(); ++group) {
        const GroupPlace& place = places_[group];
        if (place.kind != Kind::kOnePlace) continue;
        const int32_t axis = place.axis + copy * grid_.size;
        new_group_[group][copy] = static_cast<uint32_t>(groups_.size());
        const ProcessGroup& from = trace_.groups[group];
        groups_.push_back(
            {absl::StrCat(from.name, "#", axis), from.description, Moved(from.ranks, axis)});
      }
    }
  }

  std::vector<int32_t> WholeAxis(const std::vector<int32_t>& ranks) const {
    std::vector<int32_t> made;
    for (const int32_t rank : ranks) {
      if (grid_.AxisOf(rank) != 0) continue;
      for (int32_t axis = 0; axis < grid_.new_size; ++axis) {
        made.push_back(grid_.NewRank(axis, grid_.RestOf(rank)));
      }
    }
    std::sort(made.begin(), made.end());
    return made;
  }
  std::vector<int32_t> Moved(const std::vector<int32_t>& ranks, int32_t axis) const {
    std::vector<int32_t> made;
    for (const int32_t rank : ranks) made.push_back(grid_.NewRank(axis, grid_.RestOf(rank)));
    return made;
  }

  void DropRanks() {
    trace_.ranks.erase(std::remove_if(trace_.ranks.begin(), trace_.ranks.end(),
                                      [&](const RankTrace& rank) { return !Stays(rank.rank); }),
                       trace_.ranks.end());
  }

  // Ranks, groups and sizes of a part that stays, as of now.
  absl::Status Rewrite(RankTrace* rank) {
    std::vector<bool> done(rank->comm.size(), false);
    return ForEachComm(*rank, [&](uint32_t node, CommOp& op) -> absl::Status {
      if (done[rank->side[node]]) return absl::OkStatus();
      done[rank->side[node]] = true;
      const uint32_t group = GroupOf(op);
      if (rank->type[node] == NodeType::kCommColl) {
        if (places_[group].kind == Kind::kWholeAxis) RETURN_IF_ERROR(Rescale(group, &op));
      } else {
        RETURN_IF_ERROR(CheckPeer(rank->rank, op.peer));
      }
      if (new_group_[group][0] == kNone) {
        return absl::InvalidArgumentError(absl::StrCat("group: ", NameOfGroup(trace_, group),
                                                       " does not hold rank ", rank->rank));
      }
      if (op.group != kNone) op.group = new_group_[group][0];
      if (op.peer >= 0 && op.peer < trace_.world_size) op.peer = NewOf(op.peer);
      if (op.root < 0 || op.root >= trace_.world_size) return absl::OkStatus();
      if (!Stays(op.root)) {
        return absl::InvalidArgumentError(
            absl::StrCat("root: rank ", op.root, " is among those that go"));
      }
      op.root = NewOf(op.root);
      return absl::OkStatus();
    });
  }

  absl::Status CheckPeer(int32_t rank, int32_t peer) const {
    if (peer < 0 || peer >= trace_.world_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("peer: ", peer, " is not in [0, ", trace_.world_size, ")"));
    }
    if (grid_.AxisOf(peer) == grid_.AxisOf(rank)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("peer: ", peer, " is at place ", grid_.AxisOf(peer), " of the axis and rank ",
                     rank, " at ", grid_.AxisOf(rank), "; point-to-point along it has no rule"));
  }

  absl::Status Rescale(uint32_t group, CommOp* op) {
    switch (op->collective) {
      case CollectiveType::kGather:
      case CollectiveType::kScatter:
        return absl::InvalidArgumentError(
            absl::StrCat(CollectiveTypeName(op->collective), " along the axis has no rule"));
      case CollectiveType::kAllGather:
        break;
      default:
        return absl::OkStatus();
    }
    const auto members = static_cast<int64_t>(trace_.groups[group].ranks.size());
    const int64_t new_members = members / grid_.size * grid_.new_size;
    const std::optional<int64_t> bytes = Rescaled(op->bytes, members, new_members);
    if (!bytes.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("ALL_GATHER of ", op->bytes, " bytes from each of ", members,
                       " ranks: the whole does not divide into ", new_members));
    }
    op->bytes = *bytes;
    ++all_gathers_count_;
    return absl::OkStatus();
  }

  void MakeCopies() {
    std::vector<RankCopy> copies;  // The old ones are still looked at.
    for (int32_t rank = 0; rank < trace_.world_size; ++rank) {
      for (int32_t axis = grid_.AxisOf(rank); axis < grid_.new_size; axis += grid_.size) {
        const int32_t owner = owner_[rank];
        if (axis == grid_.AxisOf(rank) && owner == rank) continue;
        CHECK(Stays(owner)) << "rank " << rank << " copies rank " << owner;
        copies.push_back(MakeCopy(rank, axis));
      }
    }
    std::sort(copies.begin(), copies.end(),
              [](const RankCopy& a, const RankCopy& b) { return a.rank < b.rank; });
    trace_.copies = std::move(copies);
  }

  // The copy of `rank` (which may be one itself) at place `axis`.
  RankCopy MakeCopy(int32_t rank, int32_t axis) const {
    RankCopy made{grid_.NewRank(axis, grid_.RestOf(rank)), NewOf(owner_[rank]), {}};
    const int32_t number = axis / grid_.size;
    const auto part_groups = groups_of_part_.find(owner_[rank]);
    if (part_groups == groups_of_part_.end()) return made;
    for (const uint32_t group : part_groups->second) {
      const uint32_t instead =
          copy_of_[rank] == nullptr ? group : copy_of_[rank]->GroupInstead(group);
      const uint32_t in_part = new_group_[group][0], now = new_group_[instead][number];
      if (in_part != now) made.groups.emplace_back(in_part, now);
    }
    return made;
  }

  Projection Finish() {
    Projection result{std::move(trace_), grid_.size, grid_.new_size, {}};
    if (grid_.new_size == grid_.size) return result;
    result.notices.push_back(
        absl::StrCat("projected from ", grid_.size, " to ", grid_.new_size,
                     " ranks along the process group; each rank works on as much data as before"));
    if (all_gathers_count_ > 0) {
      result.notices.push_back(absl::StrCat(
          all_gathers_count_,
          " all-gathers along it gather the same whole from smaller or larger shards"));
    }
    return result;
  }

  Trace trace_;
  const RankGrid grid_;
  std::vector<GroupPlace> places_;                        // By group.
  std::vector<int32_t> owner_;                            // By rank.
  std::vector<const RankCopy*> copy_of_;                  // By rank: null of one with its own part.
  std::map<int32_t, std::set<uint32_t>> groups_of_part_;  // By rank with a part: what it uses.
  std::vector<ProcessGroup> groups_;                      // The new table.
  std::vector<std::vector<uint32_t>> new_group_;  // [group][copy along the axis]: its new index.
  int64_t all_gathers_count_ = 0;
};

}  // namespace

absl::StatusOr<Projection> ProjectTrace(Trace trace, const ProjectionSpec& spec) {
  if (trace.groups.empty() || trace.world_size < 1) {
    return absl::InvalidArgumentError("the trace has no ranks");
  }
  ASSIGN_OR_RETURN(RankGrid grid, FindGrid(trace, spec));
  return Projector(std::move(trace), std::move(grid)).Run();
}

Trace WithOwnParts(Trace trace) {
  const size_t parts_count = trace.ranks.size();
  for (const RankCopy& copy : trace.copies) {
    const auto part = std::lower_bound(
        trace.ranks.begin(), trace.ranks.begin() + static_cast<int64_t>(parts_count), copy.of,
        [](const RankTrace& a, int32_t rank) { return a.rank < rank; });
    RankTrace own = *part;
    own.rank = copy.rank;
    std::vector<bool> done(own.comm.size(), false);
    for (uint32_t node = 0; node < own.size(); ++node) {
      if (!IsComm(own.type[node]) || own.side[node] == kNone || done[own.side[node]]) continue;
      done[own.side[node]] = true;
      CommOp& op = own.comm[own.side[node]];
      if (op.peer >= 0) op.peer += copy.rank - copy.of;
      const uint32_t group = copy.GroupInstead(GroupOf(op));
      if (group == GroupOf(op)) continue;
      op.group = group;
      if (op.root >= 0) op.root += copy.rank - copy.of;
    }
    trace.ranks.push_back(std::move(own));
  }
  trace.copies.clear();
  std::sort(trace.ranks.begin(), trace.ranks.end(),
            [](const RankTrace& a, const RankTrace& b) { return a.rank < b.rank; });
  return trace;
}

}  // namespace chakrad
