#include "analysis/collectives/match_comm.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/utf8.h"

namespace chakrad {
namespace {

// Bytes of a group's name in a message: names are whatever an input says.
constexpr size_t kShownNameBytes = 48;
// Groups whose disagreement is described one by one; the others are counted.
constexpr size_t kShownDisagreements = 3;

bool SizesMayDiffer(CollectiveType type) {
  return type == CollectiveType::kAllToAll || type == CollectiveType::kGather ||
         type == CollectiveType::kScatter || type == CollectiveType::kBarrier;
}

bool Agree(const CommEvent& a, const CommEvent& b) {
  if (a.collective != b.collective) return false;
  return SizesMayDiffer(a.collective) || a.bytes == b.bytes || a.bytes == 0 || b.bytes == 0;
}

// What a rank does in one group: events[order[begin]] to events[order[end - 1]], in order of time.
struct Sequence {
  uint32_t group = 0;
  uint32_t rank_index = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
};

class Matcher {
 public:
  explicit Matcher(const JobTimeline& job) : job_(job) {}

  MatchedComm Run() {
    for (uint32_t i = 0; i < job_.ranks.size(); ++i) AddRank(i);
    out_.events_begin.push_back(static_cast<uint32_t>(out_.events.size()));
    MatchCollectives();
    MatchMessages();
    Describe();
    return std::move(out_);
  }

 private:
  // The rank's events by node; appends to order_ those of collectives by (group, time).
  void AddRank(uint32_t rank_index) {
    const RankTimeline& rank = job_.ranks[rank_index];
    const RankTrace& trace = *rank.trace;
    out_.ranks.push_back(rank.rank);
    const uint32_t first = static_cast<uint32_t>(out_.events.size());
    out_.events_begin.push_back(first);
    std::vector<std::pair<uint32_t, size_t>> timed;  // Node, place in rank.intervals.
    for (size_t i = 0; i < rank.intervals.size(); ++i) {
      if (rank.intervals[i].kind == IntervalKind::kComm)
        timed.emplace_back(rank.intervals[i].node, i);
    }
    if (!std::is_sorted(timed.begin(), timed.end())) std::sort(timed.begin(), timed.end());
    auto next = timed.begin();
    for (uint32_t node = 0; node < trace.size(); ++node) {
      if (!IsComm(trace.type[node])) continue;
      const CommOp* op = trace.CommOf(node);
      if (op == nullptr || (trace.flags[node] & RankTrace::kAnnotation) != 0) continue;
      CommEvent event = EventOf(rank, *op);
      event.rank_index = rank_index;
      event.node = node;
      event.type = trace.type[node];
      while (next != timed.end() && next->first < node) ++next;
      if (next != timed.end() && next->first == node) {
        event.start_ps = rank.intervals[next->second].start_ps;
        event.end_ps = rank.intervals[next->second].end_ps;
      }
      out_.events.push_back(event);
    }
    Order(rank, first);
  }

  CommEvent EventOf(const RankTimeline& rank, const CommOp& op) const {
    CommEvent event;
    event.bytes = std::max<int64_t>(op.bytes, 0);
    event.tag = op.tag;
    event.collective = op.collective;
    event.group = GroupOf(rank, op, *job_.trace);
    const bool own = rank.trace->rank == rank.rank;
    if (op.peer >= 0 && (own || rank.copy != nullptr)) {
      const int64_t peer = int64_t{op.peer} + (own ? 0 : int64_t{rank.rank} - rank.copy->of);
      if (peer >= 0 && peer < job_.trace->world_size) event.peer = static_cast<int32_t>(peer);
    }
    return event;
  }

  // Appends the rank's collectives to sequences_, each group's in order of time.
  void Order(const RankTimeline& rank, uint32_t first) {
    struct Place {
      uint32_t group;
      int64_t at;
      uint32_t event;
      auto Key() const { return std::tie(group, at, event); }
    };
    std::vector<Place> places;
    int64_t at = INT64_MIN;
    for (uint32_t i = first; i < out_.events.size(); ++i) {
      const CommEvent& event = out_.events[i];
      // One without a time stands behind the one before it in the order of nodes. (The order
      // within a rank is that of its own clock, whatever the clocks of others say.)
      if (!job_.simulated && rank.trace->start_ns[event.node] != kUnknownNs) {
        at = rank.trace->start_ns[event.node];
      } else if (job_.simulated && event.timed()) {
        at = event.start_ps;
      }
      if (event.type == NodeType::kCommColl && event.group != kNone) {
        places.push_back({event.group, at, i});
      }
      order_at_.push_back(at);
    }
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.Key() < b.Key(); });
    for (const Place& place : places) {
      const uint32_t end = static_cast<uint32_t>(order_.size());
      if (sequences_.empty() || sequences_.back().end != end ||
          sequences_.back().group != place.group ||
          sequences_.back().rank_index != out_.events[place.event].rank_index) {
        sequences_.push_back({place.group, out_.events[place.event].rank_index, end, end});
      }
      order_.push_back(place.event);
      ++sequences_.back().end;
    }
  }

  void MatchCollectives() {
    std::sort(sequences_.begin(), sequences_.end(), [](const Sequence& a, const Sequence& b) {
      return std::tie(a.group, a.rank_index) < std::tie(b.group, b.rank_index);
    });
    for (size_t begin = 0; begin < sequences_.size();) {
      size_t end = begin;
      while (end < sequences_.size() && sequences_[end].group == sequences_[begin].group) ++end;
      MatchGroup(begin, end);
      begin = end;
    }
  }

  // `begin`, `end`: the sequences of one group.
  void MatchGroup(size_t begin, size_t end) {
    const uint32_t group = sequences_[begin].group;
    std::vector<int32_t> ranks;
    if (group < job_.trace->groups.size()) ranks = job_.trace->groups[group].ranks;
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    std::vector<const Sequence*> active;
    size_t longest = 0, shortest = SIZE_MAX;
    for (size_t i = begin; i < end; ++i) {
      const int32_t rank = out_.ranks[sequences_[i].rank_index];
      if (!ranks.empty() && !std::binary_search(ranks.begin(), ranks.end(), rank)) {
        ++outsiders_count_;
        continue;
      }
      active.push_back(&sequences_[i]);
      longest = std::max<size_t>(longest, sequences_[i].size());
      shortest = std::min<size_t>(shortest, sequences_[i].size());
    }
    if (active.empty()) return;
    if (active.size() < ranks.size()) {
      ++incomplete_groups_count_;
      absent_count_ = std::max(absent_count_, ranks.size() - active.size());
    }
    bool agree = longest == shortest;
    if (!agree) ReportLengths(group, active, longest, shortest);
    for (uint32_t k = 0; k < longest; ++k) {
      active.erase(std::remove_if(active.begin(), active.end(),
                                  [k](const Sequence* one) { return one->size() <= k; }),
                   active.end());
      if (DropOthers(group, k, agree, &active)) agree = false;
      AddCollective(group, k, active, ranks.empty() ? active.size() : ranks.size());
    }
  }

  const CommEvent& At(const Sequence& sequence, uint32_t k) const {
    return out_.events[order_[sequence.begin + k]];
  }

  // Takes out of `active` those whose k-th collective is not like that of most of them (of
  // several the one of the lowest rank). Whether there were any.
  bool DropOthers(uint32_t group, uint32_t k, bool report, std::vector<const Sequence*>* active) {
    const CommEvent* reference = &At(*active->front(), k);
    const auto agrees = [&](const Sequence* one) { return Agree(*reference, At(*one, k)); };
    if (std::all_of(active->begin(), active->end(), agrees)) return false;
    std::map<std::tuple<CollectiveType, int64_t>, size_t> counts;
    size_t most = 0;
    const auto key = [&](const Sequence* one) {
      const CommEvent& event = At(*one, k);
      return std::tuple(event.collective, SizesMayDiffer(event.collective) ? 0 : event.bytes);
    };
    for (const Sequence* one : *active) most = std::max(most, ++counts[key(one)]);
    for (const Sequence* one : *active) {
      if (counts[key(one)] != most) continue;
      reference = &At(*one, k);
      break;
    }
    const auto other = std::find_if_not(active->begin(), active->end(), agrees);
    if (report) ReportDifference(group, k, *reference, At(**other, k));
    active->erase(std::remove_if(active->begin(), active->end(),
                                 [&](const Sequence* one) { return !agrees(one); }),
                  active->end());
    return true;
  }

  void AddCollective(uint32_t group, uint32_t number, const std::vector<const Sequence*>& active,
                     size_t group_size) {
    CollectiveMatch match{.group = group, .number = number};
    match.begin = static_cast<uint32_t>(out_.members.size());
    match.count = static_cast<uint32_t>(active.size());
    match.group_size = static_cast<int32_t>(group_size);
    match.all_timed = active.size() == group_size;
    match.type = At(*active.front(), number).collective;
    for (const Sequence* one : active) {
      const uint32_t index = order_[one->begin + number];
      CommEvent& event = out_.events[index];
      match.bytes = std::max(match.bytes, event.bytes);
      event.match = static_cast<uint32_t>(out_.collectives.size());
      match.all_timed = match.all_timed && event.timed();
      out_.members.push_back(index);
    }
    out_.collectives.push_back(match);
  }

  void MatchMessages() {
    struct Half {
      std::tuple<uint32_t, int32_t, int32_t, int64_t, int64_t> key;
      bool is_receive;
      int64_t at;
      uint32_t event;
      auto Order() const { return std::tie(key, is_receive, at, event); }
    };
    std::vector<Half> halves;
    for (uint32_t i = 0; i < out_.events.size(); ++i) {
      const CommEvent& event = out_.events[i];
      if (event.type == NodeType::kCommColl || event.peer == kNoRank || event.group == kNone) {
        continue;
      }
      const bool is_receive = event.type == NodeType::kCommRecv;
      const int32_t rank = out_.ranks[event.rank_index];
      halves.push_back({{event.group, is_receive ? event.peer : rank,
                         is_receive ? rank : event.peer, event.tag, event.bytes},
                        is_receive,
                        order_at_[i],
                        i});
    }
    std::sort(halves.begin(), halves.end(),
              [](const Half& a, const Half& b) { return a.Order() < b.Order(); });
    for (size_t begin = 0; begin < halves.size();) {
      size_t middle = begin, end = begin;
      while (end < halves.size() && halves[end].key == halves[begin].key) ++end;
      while (middle < end && !halves[middle].is_receive) ++middle;
      const size_t pairs = std::min(middle - begin, end - middle);
      for (size_t i = 0; i < pairs; ++i) {
        const uint32_t send = halves[begin + i].event, receive = halves[middle + i].event;
        out_.events[send].match = out_.events[receive].match =
            static_cast<uint32_t>(out_.messages.size());
        out_.messages.push_back({send, receive});
      }
      begin = end;
    }
  }

  void ReportLengths(uint32_t group, const std::vector<const Sequence*>& active, size_t longest,
                     size_t shortest) {
    if (++disagreements_count_ > kShownDisagreements) return;
    const auto rank_with = [&](size_t size) {
      const auto it = std::find_if(active.begin(), active.end(),
                                   [&](const Sequence* one) { return one->size() == size; });
      return out_.ranks[(*it)->rank_index];
    };
    out_.notices.push_back(
        absl::StrCat("in ", GroupLabel(*job_.trace, group), ", rank ", rank_with(longest), " runs ",
                     longest, " collectives and rank ", rank_with(shortest), " ", shortest,
                     ": they are matched in order, as many as both have"));
  }

  void ReportDifference(uint32_t group, uint32_t k, const CommEvent& reference,
                        const CommEvent& other) {
    if (++disagreements_count_ > kShownDisagreements) return;
    const auto describe = [this](const CommEvent& event) {
      return absl::StrCat("rank ", out_.ranks[event.rank_index], " has ",
                          CollectiveTypeName(event.collective), " of ", event.bytes, " bytes");
    };
    out_.notices.push_back(absl::StrCat("in ", GroupLabel(*job_.trace, group), ", collective ", k,
                                        ": ", describe(reference), " where ", describe(other),
                                        ": ranks are matched as far as they agree"));
  }

  void Describe() {
    if (disagreements_count_ > kShownDisagreements) {
      out_.notices.push_back(absl::StrCat(disagreements_count_ - kShownDisagreements,
                                          " more groups whose ranks run different collectives"));
    }
    if (outsiders_count_ > 0) {
      out_.notices.push_back(absl::StrCat(outsiders_count_,
                                          " times a rank runs collectives of a group that it is "
                                          "no member of: they are matched with nothing"));
    }
    if (incomplete_groups_count_ > 0) {
      out_.notices.push_back(absl::StrCat(
          "process groups with members that are not looked at: ", incomplete_groups_count_,
          " (up to ", absent_count_,
          " of one group): who waited for whom is told among the others, bandwidth is that of "
          "each operation's own time"));
    }
  }

  const JobTimeline& job_;
  MatchedComm out_;
  std::vector<uint32_t> order_;    // Events of collectives; Sequence names stretches of it.
  std::vector<int64_t> order_at_;  // Of each event: its place on its rank.
  std::vector<Sequence> sequences_;
  size_t disagreements_count_ = 0;
  size_t outsiders_count_ = 0;
  size_t incomplete_groups_count_ = 0;
  size_t absent_count_ = 0;
};

}  // namespace

const CommEvent* MatchedComm::Find(int32_t rank, uint32_t node) const {
  const auto of_rank = std::lower_bound(ranks.begin(), ranks.end(), rank);
  if (of_rank == ranks.end() || *of_rank != rank) return nullptr;
  const size_t i = static_cast<size_t>(of_rank - ranks.begin());
  const auto end = events.begin() + events_begin[i + 1];
  const auto it =
      std::lower_bound(events.begin() + events_begin[i], end, node,
                       [](const CommEvent& event, uint32_t wanted) { return event.node < wanted; });
  return it != end && it->node == node ? &*it : nullptr;
}

bool IsSynchronising(CollectiveType type) {
  switch (type) {
    case CollectiveType::kAllReduce:
    case CollectiveType::kAllGather:
    case CollectiveType::kAllToAll:
    case CollectiveType::kReduceScatter:
    case CollectiveType::kReduceScatterBlock:
    case CollectiveType::kBarrier:
      return true;
    case CollectiveType::kReduce:
    case CollectiveType::kGather:
    case CollectiveType::kScatter:
    case CollectiveType::kBroadcast:
      break;
  }
  return false;
}

uint32_t GroupOf(const RankTimeline& rank, const CommOp& op, const Trace& job) {
  if (op.group >= job.groups.size()) return kWorldGroup;
  // Everybody is in the world: not to be searched for.
  if (op.group == kWorldGroup && rank.copy == nullptr) return kWorldGroup;
  return rank.GroupFor(op, job);
}

std::string GroupLabel(const Trace& trace, uint32_t group) {
  if (group >= trace.groups.size()) return "a group that is not known";
  const ProcessGroup& one = trace.groups[group];
  const std::string name = ValidUtf8(one.name, kShownNameBytes);
  if (group == kWorldGroup) return name.empty() ? "world" : name;
  return name.empty() ? absl::StrCat("group ", group) : name;
}

MatchedComm MatchComm(const JobTimeline& whole) { return Matcher(whole).Run(); }

}  // namespace chakrad
