#include "analysis/critical_path/causal_graph.h"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/critical_path/node_order.h"
#include "common/saturating.h"

namespace chakrad {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

bool IsHostWork(const RankTrace& trace, uint32_t node) {
  return trace.is_host(node) && !IsComm(trace.type[node]);
}

struct Counts {
  int64_t cyclic = 0;
  int64_t backward = 0;
  int64_t early = 0;
};

// One rank's part, but for its meetings.
class RankBuilder {
 public:
  RankBuilder(const JobTimeline& job, const RankTimeline& timeline, const NodeOrder& order,
              RankCauses* rank, Counts* counts)
      : job_(job),
        timeline_(timeline),
        trace_(*timeline.trace),
        order_(order),
        rank_(*rank),
        counts_(*counts) {}

  void SetTimes() {
    rank_.timeline = &timeline_;
    rank_.start_ps.assign(trace_.size(), kNoTimePs);
    rank_.end_ps.assign(trace_.size(), kNoTimePs);
    rank_.kind.assign(trace_.size(), IntervalKind::kHost);
    for (const TimelineInterval& interval : timeline_.intervals) {
      rank_.start_ps[interval.node] = interval.start_ps;
      rank_.end_ps[interval.node] = interval.end_ps;
      rank_.kind[interval.node] = interval.kind;
    }
    if (!job_.simulated) EndHostWorkWhereTheNextBegins();
  }

  // Nodes without an interval stand where their dependencies ended, but before all that
  // depends on them; those that only the untimed depend on, or depend on, nowhere.
  void PlaceUntimed() {
    std::vector<int64_t> latest_ps(trace_.size(), kNever);
    for (auto it = order_.nodes.rbegin(); it != order_.nodes.rend(); ++it) {
      const int64_t by_ps = Timed(*it) ? rank_.start_ps[*it] : latest_ps[*it];
      for (uint32_t i = trace_.dep_begin[*it]; i < trace_.dep_begin[*it + 1]; ++i) {
        int64_t& bound_ps = latest_ps[trace_.dep_node[i]];
        bound_ps = std::min(bound_ps, by_ps);
      }
    }
    for (const uint32_t node : order_.nodes) {
      if (Timed(node) || latest_ps[node] == kNever) continue;
      int64_t at_ps = kNoTimePs;
      for (uint32_t i = trace_.dep_begin[node]; i < trace_.dep_begin[node + 1]; ++i) {
        const uint32_t dep = trace_.dep_node[i];
        if (!Timed(dep) || rank_.start_ps[dep] > latest_ps[node]) continue;
        at_ps = std::max(at_ps, std::min(rank_.end_ps[dep], latest_ps[node]));
      }
      rank_.start_ps[node] = rank_.end_ps[node] = at_ps;
    }
  }

  void Order() {
    std::vector<std::pair<int64_t, uint32_t>> by_start;
    by_start.reserve(trace_.size());
    for (const uint32_t node : order_.nodes) {
      if (Timed(node)) by_start.emplace_back(rank_.start_ps[node], node);
    }
    const auto earlier = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(by_start.begin(), by_start.end(), earlier)) {
      std::stable_sort(by_start.begin(), by_start.end(), earlier);
    }
    rank_.place.assign(trace_.size(), kNone);
    rank_.order.reserve(by_start.size());
    for (const auto& [start_ps, node] : by_start) {
      rank_.place[node] = static_cast<uint32_t>(rank_.order.size());
      rank_.order.push_back(node);
    }
  }

  // `start_ps`: of the job.
  void SetCauses(int64_t start_ps) {
    rank_.before.assign(trace_.size(), kNone);
    rank_.cause.assign(trace_.size(), kNone);
    rank_.lag_ps.assign(trace_.size(), 0);
    FindBefore();
    for (const uint32_t node : rank_.order) {
      for (uint32_t i = trace_.dep_begin[node]; i < trace_.dep_begin[node + 1]; ++i) {
        const uint32_t dep = trace_.dep_node[i];
        if (rank_.place[dep] != kNone && !rank_.IsCause(dep, node)) ++counts_.backward;
      }
      int64_t latest_ps = kNoTimePs;
      rank_.ForEachCause(node, [&](uint32_t cause, PathEdge) {
        const int64_t point_ps = SurePoint(cause, node);
        if (point_ps > latest_ps) latest_ps = point_ps, rank_.cause[node] = cause;
      });
      const uint32_t cause = rank_.cause[node];
      rank_.lag_ps[node] = SaturatingSubtract(
          rank_.start_ps[node], cause == kNone ? start_ps : rank_.PointPs(cause, node));
    }
  }

 private:
  bool Timed(uint32_t node) const { return rank_.start_ps[node] != kNoTimePs; }

  // Up to when `cause` surely kept `node` from starting.
  int64_t SurePoint(uint32_t cause, uint32_t node) const {
    const bool over = rank_.end_ps[cause] <= rank_.start_ps[node];
    return over ? rank_.end_ps[cause] : rank_.start_ps[cause];
  }

  void EndHostWorkWhereTheNextBegins() {
    struct Next {
      int64_t start_ps = kNever;  // Of the operation that was looked at last,
      int64_t later_ps = kNever;  // and of the first one that starts after it.
    };
    // After a call within a call the outer one goes on: that counts as the inner one's, as the
    // linker shares out times.
    std::vector<int64_t> busy_until_ps(trace_.queues.size(), kNoTimePs);
    for (const TimelineInterval& interval : timeline_.intervals) {
      if (!IsHostWork(trace_, interval.node)) continue;
      int64_t& until_ps = busy_until_ps[interval.queue];
      until_ps = std::max(until_ps, interval.end_ps);
      rank_.end_ps[interval.node] = until_ps;
    }
    std::vector<Next> next(trace_.queues.size());
    for (auto it = timeline_.intervals.rbegin(); it != timeline_.intervals.rend(); ++it) {
      if (!IsHostWork(trace_, it->node)) continue;
      Next& after = next[it->queue];
      if (it->start_ps < after.start_ps) after = {it->start_ps, after.start_ps};
      int64_t& end_ps = rank_.end_ps[it->node];
      end_ps = std::min(end_ps, after.later_ps);
      const int64_t work_ns = trace_.work_ns[it->node];
      if (work_ns >= 0) {
        end_ps =
            std::min(end_ps, SaturatingAdd(it->start_ps, SaturatingMultiply(work_ns, kPsPerNs)));
      }
    }
  }

  void FindBefore() {
    if (job_.simulated) return FindSlotBefore();
    using Ending = std::pair<int64_t, uint32_t>;  // End, node.
    struct Seen {
      uint32_t last = kNone;  // Of those that have ended, the one that did last.
      std::priority_queue<Ending, std::vector<Ending>, std::greater<Ending>> running;
    };
    std::vector<Seen> seen(trace_.queues.size());
    for (const uint32_t node : rank_.order) {
      Seen& queue = seen[trace_.queue[node]];
      while (!queue.running.empty() && queue.running.top().first <= rank_.start_ps[node]) {
        queue.last = queue.running.top().second;
        queue.running.pop();
      }
      rank_.before[node] = queue.last;
      if (rank_.end_ps[node] > rank_.start_ps[node]) {
        queue.running.push({rank_.end_ps[node], node});
      }
    }
  }

  // What the simulator ran one at a time.
  int SlotKind(uint32_t node) const {
    if (IsComm(trace_.type[node]) || IsMemory(trace_.type[node])) return 0;
    return trace_.is_host(node) ? 1 : 2;
  }

  // A simulated node that starts later than its dependencies allow waited for its slot: for what
  // ended there at that very time.
  void FindSlotBefore() {
    std::vector<uint32_t> by_end;
    for (const uint32_t node : rank_.order) {
      if (rank_.end_ps[node] > rank_.start_ps[node]) by_end.push_back(node);
    }
    std::stable_sort(by_end.begin(), by_end.end(),
                     [&](uint32_t a, uint32_t b) { return rank_.end_ps[a] < rank_.end_ps[b]; });
    const std::vector<int64_t> gaps =
        trace_.gap_node.empty() ? std::vector<int64_t>() : trace_.DenseGaps();
    size_t next = 0;
    for (const uint32_t node : rank_.order) {
      const int64_t start_ps = rank_.start_ps[node];
      if (rank_.end_ps[node] == start_ps) continue;
      while (next < by_end.size() && rank_.end_ps[by_end[next]] < start_ps) ++next;
      int64_t ready_ps = timeline_.start_ps;
      rank_.ForEachCause(node, [&](uint32_t cause, PathEdge) {
        ready_ps = std::max(ready_ps, rank_.end_ps[cause]);
      });
      const int64_t gap_ps = gaps.empty() ? 0 : SaturatingMultiply(gaps[node], kPsPerNs);
      if (SaturatingAdd(ready_ps, gap_ps) >= start_ps) continue;
      for (size_t i = next; i < by_end.size() && rank_.end_ps[by_end[i]] == start_ps; ++i) {
        if (SlotKind(by_end[i]) != SlotKind(node)) continue;
        if (!rank_.IsCause(by_end[i], node)) continue;
        const bool same_queue = trace_.queue[by_end[i]] == trace_.queue[node];
        if (rank_.before[node] == kNone || same_queue) rank_.before[node] = by_end[i];
        if (same_queue) break;
      }
    }
  }

  const JobTimeline& job_;
  const RankTimeline& timeline_;
  const RankTrace& trace_;
  const NodeOrder& order_;
  RankCauses& rank_;
  Counts& counts_;
};

MeetingLink& LinkFor(RankCauses* rank, uint32_t node) {
  if (rank->link.empty()) rank->link.assign(rank->timeline->trace->size(), kNone);
  if (rank->link[node] == kNone) {
    rank->link[node] = static_cast<uint32_t>(rank->links.size());
    rank->links.push_back({kNone, kNone, rank->start_ps[node]});
  }
  return rank->links[rank->link[node]];
}

// Keeps of `refs` those that are on the graph's timeline, under its indices of ranks.
std::vector<NodeRef> OnTimeline(const std::vector<NodeRef>& refs,
                                const std::vector<uint32_t>& index_of, const CausalGraph& graph) {
  std::vector<NodeRef> kept;
  for (const NodeRef& ref : refs) {
    const uint32_t rank = index_of[ref.rank];
    if (rank == kNone) continue;
    const RankCauses& causes = graph.ranks[rank];
    if (causes.start_ps[ref.node] == kNoTimePs) continue;
    if (causes.end_ps[ref.node] > causes.start_ps[ref.node]) kept.push_back({rank, ref.node});
  }
  return kept;
}

void AddMeeting(RankMeeting meeting, CausalGraph* graph, Counts* counts) {
  if (meeting.joins.empty() || meeting.joins.size() + meeting.waits.size() < 2) return;
  int64_t last_ps = kNoTimePs;
  for (const NodeRef& join : meeting.joins) {
    last_ps = std::max(last_ps, graph->ranks[join.rank].start_ps[join.node]);
  }
  std::vector<NodeRef> waits;
  for (const NodeRef& wait : meeting.waits) {
    if (graph->ranks[wait.rank].end_ps[wait.node] > last_ps) {
      waits.push_back(wait);
    } else if (!meeting.may_leave) {
      ++counts->early;
    }
  }
  meeting.waits = std::move(waits);
  const uint32_t index = static_cast<uint32_t>(graph->meetings.size());
  for (const NodeRef& join : meeting.joins) {
    LinkFor(&graph->ranks[join.rank], join.node).joins = index;
  }
  for (const NodeRef& wait : meeting.waits) {
    MeetingLink& link = LinkFor(&graph->ranks[wait.rank], wait.node);
    link.waits = index;
    link.anchor_ps = std::max(last_ps, graph->ranks[wait.rank].start_ps[wait.node]);
  }
  graph->meetings.push_back(std::move(meeting));
}

void AddMeetings(const JobTimeline& whole, CausalGraph* graph, Counts* counts) {
  std::map<int32_t, uint32_t> index_by_rank;
  for (uint32_t i = 0; i < graph->ranks.size(); ++i) {
    index_by_rank[graph->ranks[i].timeline->rank] = i;
  }
  std::vector<uint32_t> index_of;
  for (const RankTimeline& rank : whole.ranks) {
    const auto it = index_by_rank.find(rank.rank);
    index_of.push_back(it == index_by_rank.end() ? kNone : it->second);
  }
  const MatchedComm matches = MatchComm(whole);
  graph->notices.insert(graph->notices.end(), matches.notices.begin(), matches.notices.end());
  for (const RankMeeting& meeting : MeetingsOf(matches)) {
    AddMeeting({meeting.is_message, meeting.may_leave, OnTimeline(meeting.joins, index_of, *graph),
                OnTimeline(meeting.waits, index_of, *graph)},
               graph, counts);
  }
}

void AddNotices(const Counts& counts, CausalGraph* graph) {
  if (counts.cyclic > 0) {
    graph->notices.push_back(absl::StrCat(counts.cyclic,
                                          " nodes are on cycles of dependencies or after one: they "
                                          "were taken in order of time"));
  }
  if (counts.backward > 0) {
    graph->notices.push_back(absl::StrCat(
        counts.backward, " dependencies start after what depends on them and were left out"));
  }
  if (counts.early > 0) {
    graph->notices.push_back(absl::StrCat(
        counts.early,
        " communication operations ended before all others had joined (clocks that disagree, or "
        "operations that need not wait): they are taken not to wait"));
  }
}

}  // namespace

absl::string_view PathEdgeName(PathEdge edge) {
  switch (edge) {
    case PathEdge::kCollective:
      return "collective";
    case PathEdge::kMessage:
      return "message";
    case PathEdge::kNone:
      return "";
    default:
      return EdgeKindName(static_cast<EdgeKind>(edge));
  }
}

CausalGraph BuildCausalGraph(const JobTimeline& job, const JobTimeline& whole) {
  CausalGraph graph;
  graph.job = &job;
  graph.start_ps = job.start_ps();
  graph.end_ps = job.end_ps();
  graph.last_end_ps = graph.start_ps;
  graph.ranks.resize(job.ranks.size());
  Counts counts;
  std::map<const RankTrace*, NodeOrder> orders;  // Ranks that run one graph share its order.
  for (size_t i = 0; i < job.ranks.size(); ++i) {
    const RankTrace* trace = job.ranks[i].trace;
    const auto [order, added] = orders.try_emplace(trace);
    if (added) order->second = OrderNodes(*trace);
    counts.cyclic += order->second.cyclic_count;
    RankBuilder builder(job, job.ranks[i], order->second, &graph.ranks[i], &counts);
    builder.SetTimes();
    builder.PlaceUntimed();
    builder.Order();
    builder.SetCauses(graph.start_ps);
    for (const uint32_t node : graph.ranks[i].order) {
      graph.last_end_ps = std::max(graph.last_end_ps, graph.ranks[i].end_ps[node]);
    }
  }
  AddMeetings(whole, &graph, &counts);
  AddNotices(counts, &graph);
  return graph;
}

}  // namespace chakrad
