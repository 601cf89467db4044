// What ranks did over time, recorded or simulated: the one form that every
// analysis takes, so that none of them knows where times came from.
#ifndef CHAKRAD_ANALYSIS_TIMELINE_TIMELINE_H_
#define CHAKRAD_ANALYSIS_TIMELINE_TIMELINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/model/timeline.h"
#include "trace/model/trace.h"

namespace chakrad {

// One rank. All times are picoseconds from JobTimeline::base_unix_ns; none is below 0.
struct RankTimeline {
  int32_t rank = 0;
  // The graph that it ran; of a rank that another one stood in for, that of the other.
  const RankTrace* trace = nullptr;
  const RankCopy* copy = nullptr;  // How it copies the other, of a projected trace; else null.
  // Bounds: every interval lies within [start_ps, end_ps).
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  // By (start, end, node); at most one a node, none empty. Those of annotations and metadata
  // are left out: they mark time, they take none.
  std::vector<TimelineInterval> intervals;

  // Of a rank that another one stood in for: (group in the graph, group that this rank used
  // instead; kNone: not known), ascending, by the simulator's rule (sim/workload/cast.h). Groups
  // that the graph uses and that are not here are the same.
  std::vector<std::pair<uint32_t, uint32_t>> groups_instead;

  int64_t span_ps() const { return end_ps - start_ps; }
  // The group that this rank used where the graph names op.group: an index into
  // Trace::groups; kNone where that is not known of a rank that another stood in for. O(log).
  uint32_t GroupFor(const CommOp& op, const Trace& job) const;
};

// All looked-at ranks of a job. Moving it keeps it good; the trace must outlive it.
struct JobTimeline {
  const Trace* trace = nullptr;
  bool simulated = false;
  int64_t base_unix_ns = 0;         // What 0 ps is; 0: the trace tells no epoch.
  std::vector<RankTimeline> ranks;  // By ascending rank; those without times are left out.
  std::vector<std::string> notices;

  int64_t start_ps() const;  // Of the earliest rank; 0 without ranks.
  int64_t end_ps() const;    // Of the latest one.
};

// What was recorded, of `ranks` (empty: all; each must be in the trace: CHECKed). Ranks' own
// bases become one: the earliest of those that have one. A rank without one, or whose base is
// more than 50 days from the others', is taken to start counting with the earliest, with a notice.
// A rank spans from the first start to the last end of any node (RankSummary::span_ns). Kinds are
// those of docs/analysis.md: on a rank without device compute, a host operation computes for its
// work_ns (without its waiting). Times beyond 106 days from the base stop there; where the first
// start lies below the base or 50 days after it, the base moves to that start.
// O(nodes log nodes), less where the nodes are nearly in order of time.
// FAILED_PRECONDITION: no rank has times.
absl::StatusOr<JobTimeline> MeasuredTimeline(const Trace& trace, const std::vector<int32_t>& ranks);

// What kept one rank alone busy: the same from its first start on, without intervals of kHost.
// None without times.
std::optional<RankTimeline> MeasuredBusyTimeline(const RankTrace& rank);

// What a simulation did: `intervals` as SimObserver::OnInterval gave them, in any order. Each
// rank spans [0, end_ps). INVALID_ARGUMENT names an interval of a node or rank that the trace
// lacks, or that ends before it starts. O(k log k).
absl::StatusOr<JobTimeline> SimulatedTimeline(const Trace& trace, int64_t end_ps,
                                              const std::vector<TimelineInterval>& intervals,
                                              const std::vector<int32_t>& ranks);

// The part of rank `i`'s timeline within [start_ps[i], end_ps[i]): intervals are cut at the
// ends. One bound a rank of `job`. A rank whose bounds are empty is left out.
JobTimeline CutTimeline(const JobTimeline& job, const std::vector<int64_t>& start_ps,
                        const std::vector<int64_t>& end_ps);

// The start and end of each node, -1 where it has no interval: for those that walk graphs.
// O(nodes + intervals).
struct NodeTimes {
  std::vector<int64_t> start_ps;
  std::vector<int64_t> end_ps;
};
NodeTimes NodeTimesOf(const RankTimeline& rank);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_TIMELINE_TIMELINE_H_
