#include <algorithm>
#include <string>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "trace/check/check_across.h"

namespace chakrad {
namespace {

constexpr size_t kHopsListed = 20;

class DeadlockCheck {
 public:
  DeadlockCheck(const std::vector<RankView>& views, const CommMatches& matches)
      : views_(views), matches_(matches) {
    first_.push_back(0);
    for (const RankView& view : views) first_.push_back(first_.back() + view.rank->size());
    left_.reserve(first_.back());
    for (const RankView& view : views) {
      const std::vector<uint32_t>& counts = view.graph.dependents.deps_count;
      left_.insert(left_.end(), counts.begin(), counts.end());
    }
    done_.assign(first_.back(), false);
    partner_.resize(views.size());
    for (size_t view = 0; view < views.size(); ++view) {
      partner_[view].assign(views[view].rank->comm.size(), CommPlace{kNone, kNone});
    }
    for (uint32_t i = 0; i < matches.collectives.size(); ++i) {
      members_left_.push_back(static_cast<uint32_t>(matches.collectives[i].members.size()));
      // Members that disagree are not known to meet.
      if (!matches.group_agrees[matches.collectives[i].group]) continue;
      for (const CommPlace& place : matches.collectives[i].members) PartnerOf(place).node = i;
    }
    for (const MatchedMessage& message : matches.messages) {
      PartnerOf(message.send) = message.receive;
      PartnerOf(message.receive) = message.send;
      ++left_[At(message.receive)];
    }
  }

  // Runs what can run. How many nodes remain.
  uint64_t Run() {
    uint64_t remaining = first_.back();
    for (uint32_t view = 0; view < views_.size(); ++view) {
      for (uint32_t node = 0; node < views_[view].rank->size(); ++node) {
        if (left_[first_[view] + node] == 0) Arrive({view, node});
      }
    }
    while (!ended_.empty()) {
      const CommPlace place = ended_.back();
      ended_.pop_back();
      --remaining;
      const Dependents& dependents = views_[place.view].graph.dependents;
      for (uint32_t j = dependents.begin[place.node]; j < dependents.begin[place.node + 1]; ++j) {
        Release({place.view, dependents.node[j]});
      }
      if (TypeOf(place) == NodeType::kCommSend && HasPartner(place)) Release(PartnerOf(place));
    }
    return remaining;
  }

  // Call after Run, when nodes remain: a ring of waiting nodes.
  std::string DescribeRing() const {
    CommPlace place = FirstWaiting();
    std::unordered_map<uint64_t, size_t> seen;
    std::vector<CommPlace> path;
    while (seen.emplace(At(place), path.size()).second) {
      path.push_back(place);
      place = WaitsFor(place);
    }
    path.erase(path.begin(), path.begin() + static_cast<int64_t>(seen.at(At(place))));
    std::string text = Describe(path[0]);
    for (size_t i = 1; i <= path.size(); ++i) {
      if (i == kHopsListed && i < path.size()) {
        absl::StrAppend(&text, " ... (", path.size(), " nodes in all)");
        break;
      }
      absl::StrAppend(&text, " waits for ", Describe(path[i % path.size()]));
    }
    return text;
  }

  CommPlace FirstWaiting() const {
    const auto it = std::find(done_.begin(), done_.end(), false);
    const auto at = static_cast<uint64_t>(it - done_.begin());
    const auto view = std::upper_bound(first_.begin(), first_.end(), at) - first_.begin() - 1;
    return {static_cast<uint32_t>(view), static_cast<uint32_t>(at - first_[view])};
  }

 private:
  uint64_t At(const CommPlace& place) const { return first_[place.view] + place.node; }

  NodeType TypeOf(const CommPlace& place) const {
    return views_[place.view].rank->type[place.node];
  }
  // Of a communication node that has its attributes, as all that match have.
  CommPlace& PartnerOf(const CommPlace& place) {
    return partner_[place.view][views_[place.view].rank->side[place.node]];
  }
  const CommPlace& PartnerOf(const CommPlace& place) const {
    return partner_[place.view][views_[place.view].rank->side[place.node]];
  }
  // Of a communication node.
  bool HasPartner(const CommPlace& place) const {
    return views_[place.view].rank->side[place.node] != kNone && PartnerOf(place).node != kNone;
  }

  void Release(const CommPlace& place) {
    if (--left_[At(place)] == 0) Arrive(place);
  }

  // All that the node itself waits for is done; a collective then waits for its members.
  void Arrive(const CommPlace& place) {
    if (TypeOf(place) != NodeType::kCommColl || !HasPartner(place)) return End(place);
    const uint32_t collective = PartnerOf(place).node;
    if (--members_left_[collective] > 0) return;
    for (const CommPlace& member : matches_.collectives[collective].members) End(member);
  }

  void End(const CommPlace& place) {
    done_[At(place)] = true;
    ended_.push_back(place);
  }

  CommPlace WaitsFor(const CommPlace& place) const {
    const RankTrace& rank = *views_[place.view].rank;
    for (uint32_t j = rank.dep_begin[place.node]; j < rank.dep_begin[place.node + 1]; ++j) {
      const CommPlace dependency{place.view, rank.dep_node[j]};
      if (!done_[At(dependency)]) return dependency;
    }
    const CommPlace& partner = PartnerOf(place);
    if (TypeOf(place) == NodeType::kCommRecv) return partner;  // Its send, not done either.
    for (const CommPlace& member : matches_.collectives[partner.node].members) {
      if (left_[At(member)] > 0) return member;
    }
    CHECK(false) << "a collective that all members have reached has ended";
    return place;
  }

  std::string Describe(const CommPlace& place) const {
    const RankTrace& rank = *views_[place.view].rank;
    return absl::StrCat("rank ", rank.rank, "'s ", NodeText(rank, place.node));
  }

  const std::vector<RankView>& views_;
  const CommMatches& matches_;
  std::vector<uint64_t> first_;  // Of each view its first node among all; then their number.
  std::vector<uint32_t> left_;   // What each node still waits for.
  std::vector<bool> done_;
  std::vector<uint32_t> members_left_;  // Of each collective, those not arrived.
  // [view][RankTrace::side]: the other side of a message; of a collective, as `node`, its index.
  // kNone where there is none.
  std::vector<std::vector<CommPlace>> partner_;
  std::vector<CommPlace> ended_;
};

}  // namespace

void CheckDeadlock(const std::vector<RankView>& views, const CommMatches& matches,
                   FindingList* findings) {
  for (const RankView& view : views) {
    if (!view.graph.acyclic) return;
  }
  if (matches.collectives.empty() && matches.messages.empty()) return;
  DeadlockCheck check(views, matches);
  const uint64_t remaining = check.Run();
  if (remaining == 0) return;
  const CommPlace first = check.FirstWaiting();
  findings->Add("cross_rank_deadlock", *views[first.view].rank, first.node, [&] {
    return absl::StrCat(remaining, " nodes can never run: ", check.DescribeRing());
  });
}

}  // namespace chakrad
