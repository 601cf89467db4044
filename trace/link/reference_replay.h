// The plainest way to run a rank's graph again with its recorded durations: what
// the linker's edges and times are checked against.
#ifndef CHAKRAD_TRACE_LINK_REFERENCE_REPLAY_H_
#define CHAKRAD_TRACE_LINK_REFERENCE_REPLAY_H_

#include <cstdint>
#include <vector>

#include "trace/model/rank_trace.h"

namespace chakrad {

struct Replay {
  std::vector<int64_t> end_ns;  // Of each node, from the rank's first start.
  int64_t span_ns = 0;          // The latest end.
};

// A node ends gap + work after the last of its dependencies ends (unknown work
// counts as none); communication takes its recorded time. The longest path:
// O(nodes + edges). `rank` must have no cycle.
Replay ReplayRecorded(const RankTrace& rank);

// The recorded counterpart: from the first start of any node to the latest end
// of any node but marks. 0 without times.
int64_t RecordedSpanNs(const RankTrace& rank);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_REFERENCE_REPLAY_H_
