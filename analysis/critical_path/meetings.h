// Where ranks wait for each other: the members of a collective, and a receive for its send.
#ifndef CHAKRAD_ANALYSIS_CRITICAL_PATH_MEETINGS_H_
#define CHAKRAD_ANALYSIS_CRITICAL_PATH_MEETINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/timeline/timeline.h"

namespace chakrad {

// A node of one of a job's ranks: index into JobTimeline::ranks, index in the rank's graph.
struct NodeRef {
  uint32_t rank = 0;
  uint32_t node = 0;
  friend bool operator==(const NodeRef&, const NodeRef&) = default;
};

// All of `joins` must have started before any of `waits` gets anywhere.
struct Meeting {
  bool is_message = false;     // One send, one receive; else a collective.
  std::vector<NodeRef> joins;  // By rank. A collective's members; of a message the send.
  std::vector<NodeRef> waits;  // By rank. A collective's members; of a message the receive.
};

struct Meetings {
  std::vector<Meeting> all;
  // Operations of groups with two or more looked-at members that no meeting was found for.
  int64_t unmatched_count = 0;
  std::vector<std::string> notices;
};

// The k-th collective of a group on one rank is the k-th on each; they must agree in type: from
// the first that does not, the group's are left alone. The order is that of their starts (of a
// recorded one without times, that of the node before it). A send and a receive meet when group,
// ends, tag and size agree, the k-th with the k-th, in order of start; where a channel has not as
// many of both, none of it. Operations without a group are the world's. `job` should be whole: a
// part of one may count differently on its ranks. O(k log k) for k communication operations.
Meetings FindMeetings(const JobTimeline& job);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_CRITICAL_PATH_MEETINGS_H_
