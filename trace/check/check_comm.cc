#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/check/check_rank.h"

namespace chakrad {
namespace {

bool IsRooted(CollectiveType type) {
  return type == CollectiveType::kBroadcast || type == CollectiveType::kReduce ||
         type == CollectiveType::kGather || type == CollectiveType::kScatter;
}

class CommCheck {
 public:
  CommCheck(const RankTrace& rank, const GroupTable& groups, FindingList* findings)
      : rank_(rank), groups_(groups), findings_(findings) {}

  void CheckNode(uint32_t node) {
    const CommOp* comm = rank_.CommOf(node);
    if (comm == nullptr) {
      Add("comm_without_attributes", node, " states neither kind nor size");
      return;
    }
    CheckGroup(node, *comm);
    CheckSize(node, *comm);
    if (rank_.type[node] != NodeType::kCommColl) return CheckPeer(node, *comm);
    if (IsRooted(comm->collective) && comm->root != kNoRank && groups_.Known(comm->group) &&
        !groups_.Holds(comm->group, comm->root)) {
      Add("root_not_in_group", node, ": root ", comm->root, " is no member of ", Group(*comm));
    }
  }

 private:
  void CheckGroup(uint32_t node, const CommOp& comm) {
    if (!groups_.Known(comm.group)) {
      Add("unknown_group", node, ": the members of ", Group(comm), " are not known");
    } else if (!groups_.Holds(comm.group, rank_.rank)) {
      Add("rank_not_in_group", node, ": ", Group(comm), " does not hold rank ", rank_.rank);
    }
  }

  void CheckSize(uint32_t node, const CommOp& comm) {
    if (comm.bytes < 0) Add("negative_size", node, ": ", comm.bytes, " bytes");
    const bool collective = rank_.type[node] == NodeType::kCommColl;
    const bool barrier = collective && comm.collective == CollectiveType::kBarrier;
    const bool alone =
        collective && groups_.Known(comm.group) && groups_.MembersOf(comm.group).size() == 1;
    if (comm.bytes == 0 && !barrier && !alone) {
      Add("zero_size", node,
          collective ? absl::StrCat(", ", CollectiveTypeName(comm.collective)) : "", ": 0 bytes");
    }
  }

  void CheckPeer(uint32_t node, const CommOp& comm) {
    if (comm.peer == kNoRank) {
      Add("peer_missing", node, " names no other side");
    } else if (comm.peer == rank_.rank) {
      Add("peer_is_self", node, ": the other side is rank ", comm.peer, " itself");
    } else if (comm.peer < 0 || comm.peer >= groups_.trace().world_size) {
      Add("peer_out_of_world", node, ": the other side, rank ", comm.peer, ", is not in [0, ",
          groups_.trace().world_size, ")");
    } else if (groups_.Known(comm.group) && !groups_.Holds(comm.group, comm.peer)) {
      Add("peer_not_in_group", node, ": the other side, rank ", comm.peer, ", is no member of ",
          Group(comm));
    }
  }

  std::string Group(const CommOp& comm) const { return GroupText(groups_.trace(), comm.group); }

  template <typename... Parts>
  void Add(absl::string_view rule, uint32_t node, const Parts&... parts) {
    findings_->Add(rule, rank_, node,
                   [&] { return absl::StrCat(NodeText(rank_, node), parts...); });
  }

  const RankTrace& rank_;
  const GroupTable& groups_;
  FindingList* findings_;
};

}  // namespace

void CheckCommFields(const RankTrace& rank, const GroupTable& groups, FindingList* findings) {
  CommCheck check(rank, groups, findings);
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (IsComm(rank.type[node])) check.CheckNode(node);
  }
}

}  // namespace chakrad
