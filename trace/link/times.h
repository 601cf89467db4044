// Shares out a thread's recorded time among its operations.
#ifndef CHAKRAD_TRACE_LINK_TIMES_H_
#define CHAKRAD_TRACE_LINK_TIMES_H_

#include <cstdint>
#include <vector>

#include "trace/link/link_graph.h"

namespace chakrad {

// Of one host thread. span_ns = work_ns + gap_ns + waiting_ns, exactly.
struct ThreadTimes {
  uint32_t queue = kNone;
  int64_t span_ns = 0;  // From the rank's first start to the end of the last operation.
  int64_t work_ns = 0;  // Sums over the thread's operations.
  int64_t gap_ns = 0;
  int64_t waiting_ns = 0;  // HostWaits, and what the thread did idly beside them.
};

// Sets work_ns and gap_ns of every node with times. From the start of operation
// i to that of the next, j, on the thread, time inside any operation is work of
// i, time outside gap of j, and HostWaits neither. After the last wait in it,
// or after i launched communication on a worker thread, what remains belongs to
// j: as work or as gap, it comes after the wait, or runs beside the
// communication. Marks have work 0. Communication and device operations: their
// duration (less what the recorder noted late), and as gap what passes between the end of their
// last dependency (the rank's first start, without any) and their start: launch latency, a worker
// thread that wakes up late, a stall that nothing in the trace explains.
// Call after the last edge. O(nodes log nodes + edges).
std::vector<ThreadTimes> ShareOutTimes(LinkGraph* graph);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_TIMES_H_
