// Where ranks wait for each other: the members of a collective, and a receive for its send.
#ifndef CHAKRAD_ANALYSIS_CRITICAL_PATH_MEETINGS_H_
#define CHAKRAD_ANALYSIS_CRITICAL_PATH_MEETINGS_H_

#include <cstdint>
#include <vector>

#include "analysis/collectives/match_comm.h"

namespace chakrad {

// A node of one of a job's ranks: index into JobTimeline::ranks, index in the rank's graph.
struct NodeRef {
  uint32_t rank = 0;
  uint32_t node = 0;
  friend bool operator==(const NodeRef&, const NodeRef&) = default;
};

// All of `joins` must have started before any of `waits` gets anywhere.
struct RankMeeting {
  bool is_message = false;     // One send, one receive; else a collective.
  bool may_leave = false;      // With a root: some members need not wait for others.
  std::vector<NodeRef> joins;  // By rank. A collective's members; of a message the send.
  std::vector<NodeRef> waits;  // By rank. A collective's members; of a message the receive.
};

// Of the matched operations that have times on two ranks or more; collectives in order of (group,
// number), then messages. O(events).
std::vector<RankMeeting> MeetingsOf(const MatchedComm& matches);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_CRITICAL_PATH_MEETINGS_H_
