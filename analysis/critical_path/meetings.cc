#include "analysis/critical_path/meetings.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

struct Join {
  uint32_t group;
  uint32_t rank;  // Index into JobTimeline::ranks.
  int64_t start_ps;
  uint32_t node;
  CollectiveType type;
  bool timed;

  auto Order() const { return std::tie(group, rank, start_ps, node); }
};

struct Half {
  uint32_t group;
  int32_t src;
  int32_t dst;
  int64_t tag;
  int64_t bytes;
  bool is_receive;
  int64_t start_ps;
  NodeRef ref;

  auto Key() const { return std::tie(group, src, dst, tag, bytes); }
  auto Order() const {
    return std::tie(group, src, dst, tag, bytes, is_receive, start_ps, ref.node);
  }
};

struct Found {
  std::vector<Join> joins;
  std::vector<Half> halves;
};

void CollectOf(const JobTimeline& job, uint32_t index, Found* found) {
  const RankTimeline& rank = job.ranks[index];
  const RankTrace& trace = *rank.trace;
  if (trace.comm.empty()) return;
  const NodeTimes times = NodeTimesOf(rank);
  int64_t last_ps = std::numeric_limits<int64_t>::min();
  for (uint32_t node = 0; node < trace.size(); ++node) {
    const CommOp* op = trace.CommOf(node);
    const bool timed = times.end_ps[node] > times.start_ps[node];
    if (timed) last_ps = times.start_ps[node];
    if (op == nullptr || (trace.flags[node] & RankTrace::kAnnotation) != 0) continue;
    uint32_t group = rank.GroupFor(*op, *job.trace);
    if (op->group == kNone) group = kWorldGroup;
    if (trace.type[node] == NodeType::kCommColl) {
      // A simulation gives every operation a time, but those that took none on any rank.
      if (timed || !job.simulated) {
        found->joins.push_back({group, index, last_ps, node, op->collective, timed});
      }
    } else if (timed) {
      const int32_t shift = rank.copy == nullptr ? 0 : rank.copy->rank - rank.copy->of;
      const bool is_receive = trace.type[node] == NodeType::kCommRecv;
      const int32_t peer = op->peer == kNoRank ? kNoRank : op->peer + shift;
      found->halves.push_back({group, is_receive ? peer : rank.rank, is_receive ? rank.rank : peer,
                               op->tag, op->bytes, is_receive, last_ps, NodeRef{index, node}});
    }
  }
}

std::string GroupText(const JobTimeline& job, uint32_t group) {
  return group < job.trace->groups.size() ? job.trace->groups[group].name : "unknown";
}

// `begin`, `end`: the joins of one group, by rank, then order.
void MatchGroup(const JobTimeline& job, std::vector<Join>::const_iterator begin,
                std::vector<Join>::const_iterator end, Meetings* meetings) {
  using Iterator = std::vector<Join>::const_iterator;
  std::vector<std::pair<Iterator, Iterator>> of_rank;
  for (Iterator it = begin; it != end;) {
    Iterator last = it;
    while (last != end && last->rank == it->rank) ++last;
    of_rank.emplace_back(it, last);
    it = last;
  }
  if (of_rank.size() < 2) return;
  const auto count_left = [&] {
    for (const auto& [from, to] : of_rank) meetings->unmatched_count += to - from;
  };
  if (begin->group == kNone) return count_left();
  while (true) {
    Meeting meeting;
    const Join* first = nullptr;
    bool agree = true;
    for (auto& [from, to] : of_rank) {
      if (from == to) continue;
      if (first == nullptr) first = &*from;
      agree = agree && from->type == first->type;
    }
    if (first == nullptr) return;
    if (!agree) {
      meetings->notices.push_back(absl::StrCat(
          "group ", GroupText(job, first->group),
          ": its ranks' operations differ in order: from there on they are taken not to meet"));
      return count_left();
    }
    for (auto& [from, to] : of_rank) {
      if (from == to) continue;
      if (from->timed) meeting.joins.push_back({from->rank, from->node});
      ++from;
    }
    meeting.waits = meeting.joins;
    if (meeting.joins.size() > 1) {
      meetings->all.push_back(std::move(meeting));
    } else {
      meetings->unmatched_count += static_cast<int64_t>(meeting.joins.size());
    }
  }
}

void MatchMessages(std::vector<Half> halves, Meetings* meetings) {
  std::sort(halves.begin(), halves.end(),
            [](const Half& a, const Half& b) { return a.Order() < b.Order(); });
  for (size_t begin = 0; begin < halves.size();) {
    size_t middle = begin, end = begin;
    while (end < halves.size() && halves[end].Key() == halves[begin].Key()) ++end;
    while (middle < end && !halves[middle].is_receive) ++middle;
    if (middle - begin != end - middle) {
      // One of the two may simply not be looked at.
      if (middle > begin && middle < end) {
        meetings->unmatched_count += static_cast<int64_t>(end - begin);
      }
    } else {
      for (size_t i = begin; i < middle; ++i) {
        const NodeRef receive = halves[i + (middle - begin)].ref;
        meetings->all.push_back({true, {halves[i].ref}, {receive}});
      }
    }
    begin = end;
  }
}

}  // namespace

Meetings FindMeetings(const JobTimeline& job) {
  Meetings meetings;
  if (job.ranks.size() < 2) return meetings;
  Found found;
  for (uint32_t i = 0; i < job.ranks.size(); ++i) CollectOf(job, i, &found);
  std::sort(found.joins.begin(), found.joins.end(),
            [](const Join& a, const Join& b) { return a.Order() < b.Order(); });
  for (auto begin = found.joins.cbegin(); begin != found.joins.cend();) {
    auto end = begin;
    while (end != found.joins.cend() && end->group == begin->group) ++end;
    MatchGroup(job, begin, end, &meetings);
    begin = end;
  }
  MatchMessages(std::move(found.halves), &meetings);
  return meetings;
}

}  // namespace chakrad
