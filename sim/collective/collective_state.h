// What CollectiveEngine keeps of groups, collectives and flows. Private to it.
#ifndef CHAKRAD_SIM_COLLECTIVE_COLLECTIVE_STATE_H_
#define CHAKRAD_SIM_COLLECTIVE_COLLECTIVE_STATE_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "sim/collective/collective_engine.h"
#include "sim/collective/group_shape.h"

namespace chakrad {

inline EventTag FlowTag(EventKind kind, int64_t arg, size_t index) {
  return EventTag{static_cast<uint8_t>(kind), static_cast<uint32_t>(arg) & kMaxEventArg,
                  static_cast<uint32_t>(index)};
}

// One chunk on one rank in one phase.
struct CollectiveEngine::Flow {
  // Ring, halving-doubling: when the newest message leaves. Tree: when the children's
  // chunks are dealt with.
  int64_t at_ps = 0;
  // Ring, tree: how many messages have come; halving-doubling: a bit a step.
  uint64_t arrived = 0;
  uint32_t slot = 0;  // Of the collective.
  int32_t member = 0;
  uint32_t sent = 0;
  uint32_t received = 0;  // Script: steps that have ended.
  uint32_t ready = 0;     // Direct: turns to send that the endpoint has given.
  uint16_t chunk = 0;
  uint8_t phase = 0;
  bool started = false;
};

// The chunks of one rank on one (dimension, queue). All ranks start them in one order, that of
// Collective::order: were it the order in which they come to each rank, two ranks could each
// wait for the chunk that the other holds back.
struct CollectiveEngine::Lane {
  int32_t next = 0;  // Place in the lane's order of what starts next.
  int32_t running_count = 0;
};

struct CollectiveEngine::Group {
  // `list`: the group's ranks in order. A group of all NPUs is the system, in NPU order.
  Group(const std::vector<int32_t>& list, const SystemDescription& system, int32_t npus_count)
      : members_count(static_cast<int32_t>(list.size())), shape(ShapeOf(system, list)) {
    next_number.assign(list.size(), 0);
    if (members_count == npus_count) return;
    ranks = list;
    for (int32_t member = 0; member < members_count; ++member) {
      member_by_rank.emplace_back(list[member], member);
    }
    std::sort(member_by_rank.begin(), member_by_rank.end());
  }
  // -1: not a member.
  int32_t MemberOf(int32_t rank) const {
    if (ranks.empty()) return rank < members_count ? rank : -1;
    const auto it = std::lower_bound(member_by_rank.begin(), member_by_rank.end(),
                                     std::pair<int32_t, int32_t>(rank, 0));
    return it != member_by_rank.end() && it->first == rank ? it->second : -1;
  }

  int32_t members_count;
  GroupShape shape;
  std::vector<int32_t> ranks;  // By member; empty for a group of all NPUs.
  std::vector<std::pair<int32_t, int32_t>> member_by_rank;
  std::vector<uint32_t> next_number;  // By member: of the collective it joins next.
  uint32_t first_open = 0;            // Number of open[0].
  std::deque<uint32_t> open;          // Slots by number; kNone: over.
};

struct CollectiveEngine::Collective {
  CollectiveCall first_call;
  uint32_t number = 0;
  const Group* group = nullptr;
  int32_t members_count = 0;
  int32_t members_done = 0;
  CollectivePlan plan;
  // Flow of (phase, chunk, member): first_flow + (phase * chunks + chunk) * members + member.
  size_t first_flow = 0;
  size_t flows_count = 0;
  size_t first_early = 0;
  size_t early_words_count = 0;  // A flow.
  // Scripts: a word a step, by phase, chunk, line, script place.
  size_t first_word = 0;
  size_t words_count = 0;
  std::vector<size_t> phase_words;   // By phase: its first, from first_word on.
  std::vector<uint32_t> nodes;       // By member; kNone: has not joined.
  std::vector<int32_t> chunks_done;  // By member.
  std::vector<int64_t> left_ps;      // By member: when its last message has left its port.
  std::vector<Lane> lanes;           // By member, then lane.
  // By lane, then place: what starts on the lane, as phase * chunks + chunk; in the order in
  // which the first rank to get there did, and only what some rank has got to. Whatever a rank
  // waits for was listed before, so that no circle of waits can close.
  std::vector<int32_t> order;
  std::vector<int32_t> order_count;    // By lane.
  std::vector<uint8_t> phases_listed;  // By chunk: its first phases that are in `order`.
  std::vector<uint8_t> phase_of;       // By member, then chunk.
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_COLLECTIVE_STATE_H_
