#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "trace/check/check_across.h"
#include "trace/check/comm_details.h"

namespace chakrad {
namespace {

// One collective with the details of its members, in the order of its places.
class DetailsCheck {
 public:
  DetailsCheck(const std::vector<RankView>& views, const GroupTable& groups,
               const CollectiveInstance& instance, FindingList* findings)
      : views_(views), groups_(groups), instance_(instance), findings_(findings) {
    for (const CommPlace& place : instance.members) {
      details_.push_back(
          CommDetailsOf(*views[place.view].rank, views[place.view].graph, place.node));
    }
  }

  void Run() {
    const CommPlace& first = instance_.members[0];
    const CollectiveType type = views_[first.view].rank->CommOf(first.node)->collective;
    CheckDtypes();
    if (type == CollectiveType::kAllToAll) CheckSplits();
    if (type == CollectiveType::kAllGather) CheckGather(/*scatter=*/false);
    if (type == CollectiveType::kReduceScatter || type == CollectiveType::kReduceScatterBlock) {
      CheckGather(/*scatter=*/true);
    }
  }

 private:
  const RankTrace& RankOf(size_t member) const {
    return *views_[instance_.members[member].view].rank;
  }

  // Against the type that most members state; of several the lowest rank's.
  void CheckDtypes() {
    std::vector<std::pair<std::string, size_t>> stated;  // Lower case, with the member.
    for (size_t i = 0; i < details_.size(); ++i) {
      if (!details_[i].dtype.empty()) {
        stated.emplace_back(absl::AsciiStrToLower(details_[i].dtype), i);
      }
    }
    std::sort(stated.begin(), stated.end());
    size_t most = 0, most_count = 0;
    for (size_t begin = 0, end = 0; begin < stated.size(); begin = end) {
      while (end < stated.size() && stated[end].first == stated[begin].first) ++end;
      const bool lower = end - begin == most_count && stated[begin].second < stated[most].second;
      if (end - begin > most_count || lower) most = begin, most_count = end - begin;
    }
    for (const auto& [dtype, member] : stated) {
      if (dtype == stated[most].first) continue;
      Add("collective_dtype_mismatch", member, " has elements of type ", details_[member].dtype,
          ", rank ", RankOf(stated[most].second).rank, " of type ",
          details_[stated[most].second].dtype);
    }
  }

  void CheckGather(bool scatter) {
    const auto ranks_count = static_cast<int64_t>(groups_.MembersOf(instance_.group).size());
    for (size_t i = 0; i < details_.size(); ++i) {
      const int64_t in = details_[i].in_elements, out = details_[i].out_elements;
      if (in <= 0 || out <= 0) continue;
      const int64_t part = scatter ? out : in, whole = scatter ? in : out;
      if (whole % ranks_count == 0 && whole / ranks_count == part) continue;
      Add("gather_size_mismatch", i, " of ", ranks_count, " ranks: ", in, " elements in, ", out,
          " out");
    }
  }

  // Elements that a member's list gives its peer at `index` in the group; -1: not known.
  static int64_t SplitOf(bool known, const std::vector<int64_t>& splits, int64_t elements,
                         size_t index, size_t group_size) {
    if (!known) return -1;
    if (splits.size() == group_size) return splits[index];
    const auto ranks_count = static_cast<int64_t>(group_size);
    return splits.empty() && elements >= 0 && elements % ranks_count == 0 ? elements / ranks_count
                                                                          : -1;
  }

  void CheckSplits() {
    const std::vector<int32_t>& order = groups_.trace().groups[instance_.group].ranks;
    const size_t size = order.size();
    std::vector<size_t> index_of(details_.size(), size);  // In the group.
    for (size_t i = 0; i < details_.size(); ++i) {
      const auto it = std::find(order.begin(), order.end(), RankOf(i).rank);
      index_of[i] = static_cast<size_t>(it - order.begin());
    }
    const auto is_even = [&](size_t i) {
      return details_[i].in_splits.empty() && details_[i].out_splits.empty();
    };
    std::vector<size_t> listed, even;
    for (size_t i = 0; i < details_.size(); ++i) (is_even(i) ? even : listed).push_back(i);
    // Those who split evenly need only agree with one another's first: a group of thousands has
    // millions of pairs.
    for (const size_t i : even) {
      CheckPair(i, even[0], index_of, size);
      CheckPair(even[0], i, index_of, size);
    }
    for (const size_t i : listed) {
      for (const size_t j : listed) CheckPair(i, j, index_of, size);
      for (const size_t j : even) {
        CheckPair(i, j, index_of, size);
        CheckPair(j, i, index_of, size);
      }
    }
  }

  // What member i sends to member j.
  void CheckPair(size_t i, size_t j, const std::vector<size_t>& index_of, size_t group_size) {
    if (i == j) return;  // What a rank keeps is not sent; recorders may leave it out.
    const CommDetails &from = details_[i], &to = details_[j];
    const int64_t sent =
        SplitOf(from.in_splits_known, from.in_splits, from.in_elements, index_of[j], group_size);
    const int64_t expected =
        SplitOf(to.out_splits_known, to.out_splits, to.out_elements, index_of[i], group_size);
    if (sent < 0 || expected < 0 || sent == expected) return;
    Add("split_mismatch", i, " sends ", sent, " elements to rank ", RankOf(j).rank,
        ", which expects ", expected, " in ", NodeText(RankOf(j), instance_.members[j].node));
  }

  template <typename... Parts>
  void Add(absl::string_view rule, size_t member, const Parts&... parts) {
    const uint32_t node = instance_.members[member].node;
    findings_->Add(rule, RankOf(member), node, [&] {
      return absl::StrCat("in ", GroupText(groups_.trace(), instance_.group), ", ",
                          NodeText(RankOf(member), node), parts...);
    });
  }

  const std::vector<RankView>& views_;
  const GroupTable& groups_;
  const CollectiveInstance& instance_;
  FindingList* findings_;
  std::vector<CommDetails> details_;
};

}  // namespace

void CheckCommDetails(const std::vector<RankView>& views, const GroupTable& groups,
                      const CommMatches& matches, FindingList* findings) {
  for (const CollectiveInstance& instance : matches.collectives) {
    // Where the members run different collectives, their details tell nothing new.
    if (!matches.group_agrees[instance.group]) continue;
    DetailsCheck(views, groups, instance, findings).Run();
  }
}

}  // namespace chakrad
