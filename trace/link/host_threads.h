// The host operations of each thread that have times, as intervals.
#ifndef CHAKRAD_TRACE_LINK_HOST_THREADS_H_
#define CHAKRAD_TRACE_LINK_HOST_THREADS_H_

#include <vector>

#include "trace/link/link_graph.h"

namespace chakrad {

struct HostThread {
  uint32_t queue = kNone;
  std::vector<uint32_t> ops;  // Host operations with times (no marks), in start order.
  // Of each: the latest end of those before it; the first one's start for the first.
  std::vector<int64_t> busy_until_ns;

  // Index into `ops` of the first that starts at or after `ns`. O(log ops).
  size_t FirstAt(const LinkGraph& graph, int64_t ns) const;
};

// Threads without such operations are left out. By queue.
std::vector<HostThread> FindHostThreads(const LinkGraph& graph);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_HOST_THREADS_H_
