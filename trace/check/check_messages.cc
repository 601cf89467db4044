#include <algorithm>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "trace/check/check_across.h"

namespace chakrad {
namespace {

// One side of a message.
struct Half {
  uint32_t group = kWorldGroup;
  int32_t src = 0;
  int32_t dst = 0;
  int64_t tag = 0;
  int64_t bytes = 0;
  bool is_receive = false;
  size_t order = 0;  // Of issue, in its rank.
  CommPlace place;
};

class MessageCheck {
 public:
  MessageCheck(const std::vector<RankView>& views, const GroupTable& groups, CommMatches* matches,
               FindingList* findings)
      : views_(views), groups_(groups), matches_(matches), findings_(findings) {}

  void Run() {
    Collect();
    // From exact to loose; what a round leaves over goes into the next.
    const auto exact = [](const Half& half) {
      return std::tuple(half.src, half.dst, half.group, half.tag, half.bytes);
    };
    const auto but_size = [](const Half& half) {
      return std::tuple(half.src, half.dst, half.group, half.tag);
    };
    const auto but_tag = [](const Half& half) {
      return std::tuple(half.src, half.dst, half.bytes);
    };
    Match(exact, [&](const Half& send, const Half& receive) {
      matches_->messages.push_back({send.place, receive.place});
    });
    Match(but_tag, [&](const Half& send, const Half& receive) {
      Report("message_tag_mismatch", send, receive);
    });
    Match(but_size, [&](const Half& send, const Half& receive) {
      Report("message_size_mismatch", send, receive);
    });
    for (const Half& half : halves_) {
      Add(half.is_receive ? "unmatched_receive" : "unmatched_send", half, [&] {
        return absl::StrCat(Describe(half), half.is_receive ? ", which sends no such message"
                                                            : ", which receives no such message");
      });
    }
  }

 private:
  void Collect() {
    std::vector<int32_t> traced;
    for (const RankView& view : views_) traced.push_back(view.rank->rank);
    for (uint32_t view = 0; view < views_.size(); ++view) {
      const RankTrace& rank = *views_[view].rank;
      for (size_t order = 0; order < views_[view].comm.size(); ++order) {
        const uint32_t node = views_[view].comm[order];
        const CommOp* comm = rank.CommOf(node);
        if (rank.type[node] == NodeType::kCommColl || comm == nullptr) continue;
        // Of a rank that was not traced nothing can be said; itself is another rule.
        if (comm->peer == rank.rank ||
            !std::binary_search(traced.begin(), traced.end(), comm->peer)) {
          continue;
        }
        const bool is_receive = rank.type[node] == NodeType::kCommRecv;
        halves_.push_back({GroupTable::IndexOf(comm->group),
                           is_receive ? comm->peer : rank.rank,
                           is_receive ? rank.rank : comm->peer,
                           comm->tag,
                           comm->bytes,
                           is_receive,
                           order,
                           {view, node}});
      }
    }
  }

  // Pairs the k-th send of each key with its k-th receive, and takes both out of halves_.
  template <typename KeyOf, typename OnPair>
  void Match(const KeyOf& key_of, const OnPair& on_pair) {
    std::sort(halves_.begin(), halves_.end(), [&](const Half& a, const Half& b) {
      return std::tuple(key_of(a), a.is_receive, a.order) <
             std::tuple(key_of(b), b.is_receive, b.order);
    });
    std::vector<Half> left;
    for (size_t begin = 0; begin < halves_.size();) {
      size_t middle = begin, end = begin;
      while (end < halves_.size() && key_of(halves_[end]) == key_of(halves_[begin])) ++end;
      while (middle < end && !halves_[middle].is_receive) ++middle;
      const size_t pairs = std::min(middle - begin, end - middle);
      for (size_t i = 0; i < pairs; ++i) on_pair(halves_[begin + i], halves_[middle + i]);
      left.insert(left.end(), halves_.begin() + begin + pairs, halves_.begin() + middle);
      left.insert(left.end(), halves_.begin() + middle + pairs, halves_.begin() + end);
      begin = end;
    }
    halves_ = std::move(left);
  }

  void Report(absl::string_view rule, const Half& send, const Half& receive) {
    Add(rule, send, [&] { return absl::StrCat(Describe(send), ", but ", Describe(receive)); });
  }

  void Add(absl::string_view rule, const Half& half, FindingList::Message message) {
    findings_->Add(rule, *views_[half.place.view].rank, half.place.node, message);
  }

  std::string Describe(const Half& half) const {
    const RankTrace& rank = *views_[half.place.view].rank;
    return absl::StrCat("rank ", rank.rank, ", ", NodeText(rank, half.place.node),
                        half.is_receive ? " receives " : " sends ", half.bytes, " bytes (tag ",
                        half.tag, ", ", GroupText(groups_.trace(), half.group), ") ",
                        half.is_receive ? "from" : "to", " rank ",
                        half.is_receive ? half.src : half.dst);
  }

  const std::vector<RankView>& views_;
  const GroupTable& groups_;
  CommMatches* matches_;
  FindingList* findings_;
  std::vector<Half> halves_;
};

}  // namespace

void CheckMessages(const std::vector<RankView>& views, const GroupTable& groups,
                   CommMatches* matches, FindingList* findings) {
  MessageCheck(views, groups, matches, findings).Run();
}

}  // namespace chakrad
