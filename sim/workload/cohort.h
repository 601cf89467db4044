// Ranks that have behaved alike so far, simulated as one.
//
// Ranks that run equal traces on equal NPUs begin as one cohort. Whatever happens to one of
// them at some time happens to all, until a collective ends at different times for some; then
// the cohort splits, each part going on with a copy of the state. Cohorts never join again. So
// nothing has to be proved about symmetry: a run gives the same answers folded or not.
#ifndef CHAKRAD_SIM_WORKLOAD_COHORT_H_
#define CHAKRAD_SIM_WORKLOAD_COHORT_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/saturating.h"
#include "sim/workload/node_plan.h"
#include "sim/workload/rank_graph.h"
#include "sim/workload/time_account.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// One node at a time runs on a slot: see NodePlan.
struct Slot {
  static constexpr int64_t kNotYet = -1;
  uint32_t node = kNone;  // Running; kNone: the slot is free.
  int64_t since_ps = 0;
  int64_t until_ps = kNotYet;   // Known end, for which an event is in the queue,
  int64_t push = 0;             // pushed as the how manieth of the run: see CopyInFlight.
  std::vector<uint32_t> ready;  // Min-heap of places in id order: nodes that wait for the slot.
  // Event-driven collectives: which of which group is running.
  uint32_t group = kNone;
  uint32_t number = 0;
};

// A node that another rank kept waiting.
struct Crossing {
  uint32_t node = 0;
  uint32_t group = kNone;   // As the trace says it; kNone: a receive.
  int32_t position = 0;     // In the group, of who came last; of a receive the sending rank.
  uint32_t other_node = 0;  // What that rank then began,
  int64_t at_ps = 0;        // and when.
};

// The part of a cohort that is in one process group.
struct GroupPart {
  uint32_t group = 0;              // Index into Trace::groups.
  std::vector<int32_t> positions;  // In the group; empty: all of it.
};
// What a cohort knows of the groups that its trace calls `group`.
struct GroupUse {
  uint32_t group = 0;        // As the trace says it.
  uint32_t next_number = 0;  // Of the collective that it joins next.
  bool parts_known = false;  // `parts` is filled in; a split forgets them.
  std::vector<GroupPart> parts;
};

struct Cohort {
  uint32_t trace_index = 0;  // Into Trace::ranks.
  const RankTrace* trace = nullptr;
  const RankGraph* graph = nullptr;
  const NodePlan* plan = nullptr;
  double compute_scale = 1;
  std::vector<int32_t> ranks;     // Ascending; never empty.
  std::vector<uint32_t> pending;  // By node: dependencies left.
  std::vector<Slot> slots;
  std::vector<uint32_t> timers;  // In flight; indices.
  std::vector<GroupUse> groups;  // Those of its collectives, in order of first use.
  uint32_t nodes_done = 0;       // Of each of its ranks.
  int64_t end_ps = 0;
  int64_t network_bytes = 0;  // Sent by each of its ranks; stops at INT64_MAX.
  TimeAccount account;
  // Time spent waiting in collectives, by the group as the trace says it and the position in it
  // of who came last.
  std::map<std::pair<uint32_t, int32_t>, int64_t> wait_ps_for;
  int64_t wait_ps = 0;

  // With SimOptions::critical_path or memory_use: when each node ran, and (critical_path) which
  // waited for other ranks.
  std::vector<int64_t> start_ps;
  std::vector<int64_t> node_end_ps;
  std::vector<Crossing> crossings;

  bool done() const { return nodes_done == trace->size(); }
  // Waits overlap on several queues: their sums stop at INT64_MAX.
  void AddWait(uint32_t group, int32_t position, int64_t dur_ps) {
    wait_ps = SaturatingAdd(wait_ps, dur_ps);
    int64_t& sum_ps = wait_ps_for[{group, position}];
    sum_ps = SaturatingAdd(sum_ps, dur_ps);
  }
  GroupUse& UseOf(uint32_t group) {
    for (GroupUse& use : groups) {
      if (use.group == group) return use;
    }
    groups.push_back(GroupUse{group, 0, false, {}});
    return groups.back();
  }
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_WORKLOAD_COHORT_H_
