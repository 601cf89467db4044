#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/check/check_across.h"

namespace chakrad {
namespace {

// What must be equal on all members.
struct Signature {
  CollectiveType type = CollectiveType::kAllReduce;
  int64_t bytes = -1;  // -1: not compared.
  int32_t root = kNoRank;

  auto Key() const { return std::tie(type, bytes, root); }
  friend bool operator<(const Signature& a, const Signature& b) { return a.Key() < b.Key(); }
};

bool SizesMayDiffer(CollectiveType type) {
  return type == CollectiveType::kAllToAll || type == CollectiveType::kGather ||
         type == CollectiveType::kScatter || type == CollectiveType::kBarrier;
}

Signature SignatureOf(const CommOp& comm) {
  return {comm.collective, SizesMayDiffer(comm.collective) ? -1 : comm.bytes, comm.root};
}

// The rule that the first of two collectives in one place breaks; empty: none.
absl::string_view Difference(const Signature& a, const Signature& b) {
  if (a.type != b.type) return "collective_type_mismatch";
  const bool both_sized = a.bytes != 0 && b.bytes != 0;  // 0: not told, another rule.
  if (both_sized && a.bytes != b.bytes) return "collective_size_mismatch";
  const bool both_rooted = a.root != kNoRank && b.root != kNoRank;
  return both_rooted && a.root != b.root ? "collective_root_mismatch" : "";
}

// The collectives of one rank in one group.
struct Sequence {
  uint32_t view = 0;
  std::vector<uint32_t> nodes;
  std::vector<Signature> signatures;
};

class GroupCheck {
 public:
  GroupCheck(uint32_t group, const std::vector<RankView>& views, const GroupTable& groups,
             FindingList* findings)
      : group_(group), views_(views), groups_(groups), findings_(findings) {}

  // `sequences`: of all traced members, by ascending rank. Whether they agree.
  bool Check(const std::vector<Sequence>& sequences) {
    const size_t reference = MostCommon(sequences);
    bool agree = true;
    for (const Sequence& sequence : sequences) {
      agree &= &sequence == &sequences[reference] || Compare(sequence, sequences[reference]);
    }
    return agree;
  }

 private:
  size_t MostCommon(const std::vector<Sequence>& sequences) {
    struct Class {
      int64_t count = 0;
      size_t first = 0;
    };
    const auto less = [](const std::vector<Signature>* a, const std::vector<Signature>* b) {
      return a->size() != b->size() ? a->size() < b->size() : *a < *b;
    };
    std::map<const std::vector<Signature>*, Class, decltype(less)> classes(less);
    for (size_t i = 0; i < sequences.size(); ++i) {
      const auto [it, added] = classes.emplace(&sequences[i].signatures, Class{0, i});
      ++it->second.count;
    }
    Class best;
    for (const auto& [signatures, one] : classes) {
      if (one.count > best.count || (one.count == best.count && one.first < best.first)) best = one;
    }
    agreeing_ = best.count;
    return best.first;
  }

  // Whether `sequence` is like `reference`; if not, reports the first difference.
  bool Compare(const Sequence& sequence, const Sequence& reference) {
    const size_t common = std::min(sequence.nodes.size(), reference.nodes.size());
    size_t first = common, differing = 0;
    for (size_t k = 0; k < common; ++k) {
      if (Difference(sequence.signatures[k], reference.signatures[k]).empty()) continue;
      if (differing++ == 0) first = k;
    }
    if (sequence.nodes.size() != reference.nodes.size()) {
      Report("collective_count_mismatch", sequence, reference, first, 0);
      return false;
    }
    if (differing == 0) return true;
    std::vector<Signature> a = sequence.signatures, b = reference.signatures;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    const bool reordered = !(a < b) && !(b < a);
    Report(reordered ? "collective_order_mismatch"
                     : Difference(sequence.signatures[first], reference.signatures[first]),
           sequence, reference, first, differing);
    return false;
  }

  // `k`: the first place at which they differ; the end of the shorter one when only length does.
  void Report(absl::string_view rule, const Sequence& sequence, const Sequence& reference, size_t k,
              size_t differing) {
    const RankTrace& rank = *views_[sequence.view].rank;
    const auto message = [&] {
      return absl::StrCat("in ", GroupText(groups_.trace(), group_), ", rank ", rank.rank, " runs ",
                          CountText(static_cast<int64_t>(sequence.nodes.size()), "collective"),
                          ", ", Majority(reference), " ", reference.nodes.size(),
                          ". The first difference is place ", k, ": ", Describe(sequence, k),
                          " where ", Describe(reference, k),
                          differing > 1 ? absl::StrCat("; ", differing, " places differ") : "");
    };
    if (k < sequence.nodes.size()) {
      findings_->Add(rule, rank, sequence.nodes[k], message);
    } else {
      findings_->AddOfRank(rule, rank, message);
    }
  }

  std::string Majority(const Sequence& reference) const {
    const int32_t rank = views_[reference.view].rank->rank;
    return agreeing_ == 1 ? absl::StrCat("rank ", rank)
                          : absl::StrCat("rank ", rank, " and ", CountText(agreeing_ - 1, "other"));
  }

  std::string Describe(const Sequence& sequence, size_t k) const {
    const RankTrace& rank = *views_[sequence.view].rank;
    if (k >= sequence.nodes.size()) return absl::StrCat("rank ", rank.rank, " has none");
    const CommOp& comm = *rank.CommOf(sequence.nodes[k]);
    return absl::StrCat("rank ", rank.rank, " has ", NodeText(rank, sequence.nodes[k]), ", ",
                        CollectiveTypeName(comm.collective), " of ", comm.bytes, " bytes",
                        comm.root == kNoRank ? "" : absl::StrCat(", root ", comm.root));
  }

  const uint32_t group_;
  const std::vector<RankView>& views_;
  const GroupTable& groups_;
  FindingList* findings_;
  int64_t agreeing_ = 0;
};

// By group: the sequences of the views that use it.
std::map<uint32_t, std::map<uint32_t, Sequence>> Gather(const std::vector<RankView>& views,
                                                        const GroupTable& groups) {
  std::map<uint32_t, std::map<uint32_t, Sequence>> by_group;
  for (uint32_t view = 0; view < views.size(); ++view) {
    const RankTrace& rank = *views[view].rank;
    for (const uint32_t node : views[view].comm) {
      const CommOp* comm = rank.CommOf(node);
      if (rank.type[node] != NodeType::kCommColl || comm == nullptr ||
          !groups.Holds(comm->group, rank.rank)) {
        continue;
      }
      Sequence& sequence = by_group[GroupTable::IndexOf(comm->group)][view];
      sequence.nodes.push_back(node);
      sequence.signatures.push_back(SignatureOf(*comm));
    }
  }
  return by_group;
}

// The traced members of a group, ascending. O(the fewer of members and views, times log).
std::vector<uint32_t> TracedMembers(uint32_t group, const std::vector<RankView>& views,
                                    const GroupTable& groups) {
  std::vector<uint32_t> traced;
  const std::vector<int32_t>& members = groups.MembersOf(group);
  if (views.size() <= members.size()) {
    for (uint32_t view = 0; view < views.size(); ++view) {
      if (groups.Holds(group, views[view].rank->rank)) traced.push_back(view);
    }
    return traced;
  }
  for (const int32_t member : members) {
    const auto it =
        std::lower_bound(views.begin(), views.end(), member,
                         [](const RankView& view, int32_t rank) { return view.rank->rank < rank; });
    if (it != views.end() && it->rank->rank == member) {
      traced.push_back(static_cast<uint32_t>(it - views.begin()));
    }
  }
  return traced;
}

}  // namespace

void CheckCollectives(const std::vector<RankView>& views, const GroupTable& groups,
                      CommMatches* matches, FindingList* findings) {
  matches->group_agrees.assign(groups.trace().groups.size(), true);
  auto by_group = Gather(views, groups);
  for (auto& [group, by_view] : by_group) {
    std::vector<Sequence> sequences;
    size_t longest = 0;
    for (const uint32_t view : TracedMembers(group, views, groups)) {
      sequences.push_back(std::move(by_view[view]));
      sequences.back().view = view;
      longest = std::max(longest, sequences.back().nodes.size());
    }
    matches->group_agrees[group] = GroupCheck(group, views, groups, findings).Check(sequences);
    for (uint32_t k = 0; k < longest; ++k) {
      CollectiveInstance instance{group, k, {}};
      for (const Sequence& sequence : sequences) {
        if (k < sequence.nodes.size())
          instance.members.push_back({sequence.view, sequence.nodes[k]});
      }
      matches->collectives.push_back(std::move(instance));
    }
  }
}

}  // namespace chakrad
