// Who waited for whom on a timeline, with times: what the critical path and what-if walk.
//
// Every operation starts `lag` after the latest of its causes: the dependencies that the trace
// has, what ran before it on its queue. A collective gets nowhere before its last member has
// joined, a receive before its send has begun; from then on it takes its own time. Run forward
// with nothing changed this gives back every recorded time, exactly: docs/analysis.md#what-if.
#ifndef CHAKRAD_ANALYSIS_CRITICAL_PATH_CAUSAL_GRAPH_H_
#define CHAKRAD_ANALYSIS_CRITICAL_PATH_CAUSAL_GRAPH_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/critical_path/meetings.h"
#include "analysis/timeline/timeline.h"

namespace chakrad {

// Why a node began when it did. The first ones are EdgeKind's.
enum class PathEdge : uint8_t {
  kData = 0,
  kControl = 1,
  kThreadOrder = 2,
  kLaunch = 3,
  kStreamOrder = 4,
  kSync = 5,
  kForwardBackward = 6,
  kCollective = 7,
  kMessage = 8,
  kNone = 9,
};
inline constexpr int kPathEdgesCount = 10;
// "data", ..., "collective", "message", "".
absl::string_view PathEdgeName(PathEdge edge);

inline constexpr int64_t kNoTimePs = std::numeric_limits<int64_t>::min();

// What a communication node has to do with other ranks.
struct MeetingLink {
  uint32_t joins = kNone;  // The meeting that waits for it; an index.
  uint32_t waits = kNone;  // The meeting that it waits for.
  // When it stopped waiting: the last join of `waits`, or its own start if that is later.
  int64_t anchor_ps = 0;
};

struct RankCauses {
  const RankTimeline* timeline = nullptr;
  // By node; kNoTimePs: it is not on the timeline and nothing depends on it. A node that took no
  // time stands where its dependencies ended.
  std::vector<int64_t> start_ps;
  // Of a host operation: until the next one on its thread starts or the last of those around it
  // ends, and no longer than it works (RankTrace::work_ns), so that calls within calls count once.
  std::vector<int64_t> end_ps;
  std::vector<uint32_t> order;   // Nodes that have a time, each after its causes; by start.
  std::vector<uint32_t> place;   // By node: index into `order`; kNone.
  std::vector<uint32_t> before;  // By node: what ran before it on its queue; kNone.
  std::vector<uint32_t> cause;   // By node: the cause that held it back last; kNone.
  std::vector<int64_t> lag_ps;   // By node: from its cause (the job's start without any); >= 0.
  std::vector<IntervalKind> kind;
  std::vector<uint32_t> link;      // By node: index into `links`; kNone. Empty: none at all.
  std::vector<MeetingLink> links;  // Of the communication that meets others.

  const MeetingLink* LinkOf(uint32_t node) const {
    return link.empty() || link[node] == kNone ? nullptr : &links[link[node]];
  }
  // When the node stopped waiting for others: its start where it did not.
  int64_t AnchorPs(uint32_t node) const {
    const MeetingLink* meets = LinkOf(node);
    return meets == nullptr || meets->waits == kNone ? start_ps[node] : meets->anchor_ps;
  }
  // Whether `cause` is one of `node`: that it does not point back in time.
  bool IsCause(uint32_t cause_node, uint32_t node) const {
    return place[cause_node] != kNone && place[cause_node] < place[node];
  }
  // The point of `from` that `node` waited for: its end; where it ran on, when `node` started
  // if that is what held it back, else its start: of a call that launches, when it did so is
  // not known.
  int64_t PointPs(uint32_t from, uint32_t node) const {
    if (end_ps[from] <= start_ps[node]) return end_ps[from];
    return cause[node] == from ? start_ps[node] : start_ps[from];
  }
  // Calls visit(cause, edge) for each cause of `node`, the trace's dependencies first.
  template <typename Visit>
  void ForEachCause(uint32_t node, const Visit& visit) const {
    const RankTrace& trace = *timeline->trace;
    for (uint32_t i = trace.dep_begin[node]; i < trace.dep_begin[node + 1]; ++i) {
      const uint32_t dep = trace.dep_node[i];
      if (IsCause(dep, node)) visit(dep, static_cast<PathEdge>(trace.dep_kind[i]));
    }
    if (before[node] != kNone) visit(before[node], QueueEdge(node));
  }
  PathEdge QueueEdge(uint32_t node) const {
    const Queue& queue = timeline->trace->queues[timeline->trace->queue[node]];
    return queue.kind == Queue::Kind::kDeviceStream ? PathEdge::kStreamOrder
                                                    : PathEdge::kThreadOrder;
  }
};

// Plain data: reading is thread-safe. The job must outlive it.
struct CausalGraph {
  const JobTimeline* job = nullptr;
  int64_t start_ps = 0;           // Of the job;
  int64_t last_end_ps = 0;        // when its last operation ended,
  int64_t end_ps = 0;             // and its own end: not before.
  std::vector<RankCauses> ranks;  // As JobTimeline::ranks.
  // Of all with times in `job`. Members that ended before the last one joined do not wait.
  std::vector<RankMeeting> meetings;
  std::vector<std::string> notices;
};

// `whole`: the timeline that `job` is, or is a part of: a part would count collectives from its own
// first one. O(nodes log nodes + edges); about 60 bytes a node. Cycles, dependencies that point
// back in time, members that end before others join: left out, counted in a notice.
CausalGraph BuildCausalGraph(const JobTimeline& job, const JobTimeline& whole);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_CRITICAL_PATH_CAUSAL_GRAPH_H_
