#include "trace/link/assemble.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"

namespace chakrad {
namespace {

// A rank's groups in the order in which its operations first use them, unused
// ones last.
std::vector<uint32_t> ByFirstUse(const RankTrace& rank) {
  std::vector<uint32_t> order;
  std::vector<bool> seen(rank.groups.size(), false);
  for (uint32_t node = 0; node < rank.size(); ++node) {
    const CommOp* comm = rank.CommOf(node);
    if (comm == nullptr || comm->group >= seen.size() || seen[comm->group]) continue;
    seen[comm->group] = true;
    order.push_back(comm->group);
  }
  for (uint32_t group = 0; group < rank.groups.size(); ++group) {
    if (!seen[group]) order.push_back(group);
  }
  return order;
}

class Groups {
 public:
  explicit Groups(int32_t world_size) {
    world_.resize(static_cast<size_t>(world_size));
    std::iota(world_.begin(), world_.end(), 0);
    groups_.push_back({"", "", world_});
  }

  // First pass: how the ranks name groups of equal members.
  void Look(const RankTrace& rank) {
    std::map<std::vector<int32_t>, std::set<std::string>> names;
    for (const ProcessGroup& group : rank.groups) names[group.ranks].insert(group.name);
    for (auto& [members, set] : names) {
      const auto [it, added] = names_.emplace(members, set);
      if (!added && it->second != set) differing_.insert(members);
    }
  }

  // Second pass: the global number of each of the rank's groups.
  std::vector<uint32_t> Number(const RankTrace& rank) {
    std::vector<uint32_t> numbers(rank.groups.size(), kNone);
    std::map<std::vector<int32_t>, int32_t> used;
    for (const uint32_t local : ByFirstUse(rank)) {
      const ProcessGroup& group = rank.groups[local];
      // Groups without members cannot be told apart but by name.
      const bool by_order = !group.ranks.empty() && differing_.count(group.ranks) > 0;
      const std::string key =
          by_order ? absl::StrCat("#", used[group.ranks]++) : absl::StrCat("=", group.name);
      numbers[local] = Find(group, key);
    }
    return numbers;
  }

  std::vector<ProcessGroup> Take() { return std::move(groups_); }

 private:
  uint32_t Find(const ProcessGroup& group, const std::string& key) {
    const auto [it, added] = index_.emplace(std::make_pair(group.ranks, key), 0);
    if (!added) return it->second;
    const bool is_default =
        group.ranks == world_ && (group.description == "default_pg" || group.name == "world" ||
                                  group.name == "0" || group.name.empty());
    if (is_default && !world_taken_) {
      world_taken_ = true;
      groups_[kWorldGroup] = group;
      it->second = kWorldGroup;
    } else {
      it->second = static_cast<uint32_t>(groups_.size());
      groups_.push_back(group);
    }
    return it->second;
  }

  std::vector<int32_t> world_;
  std::vector<ProcessGroup> groups_;
  std::map<std::vector<int32_t>, std::set<std::string>> names_;
  std::set<std::vector<int32_t>> differing_;
  std::map<std::pair<std::vector<int32_t>, std::string>, uint32_t> index_;
  bool world_taken_ = false;
};

int64_t LargestRank(const std::vector<RankTrace>& ranks) {
  int64_t largest = 0;
  for (const RankTrace& rank : ranks) {
    largest = std::max<int64_t>(largest, rank.rank);
    for (const ProcessGroup& group : rank.groups) {
      for (const int32_t member : group.ranks) {
        if (member < kMaxWorldSize) largest = std::max<int64_t>(largest, member);
      }
    }
    for (const CommOp& comm : rank.comm) {
      for (const int32_t member : {comm.peer, comm.root}) {
        if (member < kMaxWorldSize) largest = std::max<int64_t>(largest, member);
      }
    }
  }
  return largest;
}

absl::Status CheckRanks(const std::vector<RankTrace>& ranks, int32_t world_size) {
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankTrace& rank = ranks[i];
    if (rank.rank < 0 || rank.rank >= world_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank: ", rank.rank, " is not in [0, ", world_size, "), the world"));
    }
    if (i > 0 && ranks[i - 1].rank == rank.rank) {
      return absl::InvalidArgumentError(absl::StrCat("rank: ", rank.rank, " occurs twice"));
    }
  }
  return absl::OkStatus();
}

// A rank may know groups of others (an export lists all); using one is odd.
void NoteForeignGroups(const RankTrace& rank, std::vector<std::string>* notices) {
  std::vector<bool> used(rank.groups.size(), false);
  for (const CommOp& comm : rank.comm) {
    if (comm.group < used.size()) used[comm.group] = true;
  }
  for (size_t i = 0; i < rank.groups.size(); ++i) {
    const ProcessGroup& group = rank.groups[i];
    if (!used[i] || group.ranks.empty() || absl::c_linear_search(group.ranks, rank.rank)) continue;
    notices->push_back(absl::StrCat("rank ", rank.rank, " uses process group \"", group.name,
                                    "\", which does not hold it"));
  }
}

// Such a group is kept as it is: a simulation refuses it, a check reports it.
void NoteMembersBeyondWorld(const std::vector<ProcessGroup>& groups, int32_t world_size,
                            std::vector<std::string>* notices) {
  for (const ProcessGroup& group : groups) {
    for (const int32_t member : group.ranks) {
      if (member >= 0 && member < world_size) continue;
      notices->push_back(absl::StrCat("process group \"", group.name, "\": member ", member,
                                      " is not in [0, ", world_size, "), the world"));
      break;
    }
  }
}

}  // namespace

absl::StatusOr<Trace> AssembleTrace(std::vector<RankTrace> ranks, int32_t world_size,
                                    std::vector<std::string>* notices) {
  if (ranks.empty()) return absl::InvalidArgumentError("ranks: none");
  std::sort(ranks.begin(), ranks.end(),
            [](const RankTrace& a, const RankTrace& b) { return a.rank < b.rank; });
  if (world_size == 0) {
    const int64_t largest = LargestRank(ranks);
    if (largest >= kMaxWorldSize) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank: ", largest, " is not in [0, ", kMaxWorldSize, ")"));
    }
    world_size = static_cast<int32_t>(largest) + 1;
    notices->push_back(absl::StrCat("world size: stated nowhere; ", world_size,
                                    " is assumed, the least that holds every rank"));
  }
  if (world_size < 0 || world_size > kMaxWorldSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("world_size: ", world_size, " is not in [1, ", kMaxWorldSize, "]"));
  }
  RETURN_IF_ERROR(CheckRanks(ranks, world_size));
  Groups groups(world_size);
  for (const RankTrace& rank : ranks) groups.Look(rank);
  for (RankTrace& rank : ranks) {
    const std::vector<uint32_t> numbers = groups.Number(rank);
    NoteForeignGroups(rank, notices);
    for (CommOp& comm : rank.comm) {
      comm.group = comm.group < numbers.size() ? numbers[comm.group] : kWorldGroup;
    }
    rank.groups.clear();
  }
  Trace trace;
  trace.world_size = world_size;
  trace.ranks = std::move(ranks);
  trace.groups = groups.Take();
  NoteMembersBeyondWorld(trace.groups, world_size, notices);
  return trace;
}

}  // namespace chakrad
