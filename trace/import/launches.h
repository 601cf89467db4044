// How well device operations are linked to what launched them.
#ifndef CHAKRAD_TRACE_IMPORT_LAUNCHES_H_
#define CHAKRAD_TRACE_IMPORT_LAUNCHES_H_

#include <cstdint>

namespace chakrad {

struct RankTrace;  // trace/model/rank_trace.h

struct LaunchCount {
  // Operations on a device stream that were recorded there. (A call about
  // communication without a kernel has a place on a stream, but no time.)
  int64_t device_ops_count = 0;
  int64_t launched_count = 0;  // Of those, with a launch edge to a host operation.
  // Of those, launched while that host operation ran: by the time of the launch
  // call, which the linker notes in the cold block.
  int64_t contained_count = 0;
};

// `rank` must have its cold block. O(device operations and their edges).
LaunchCount CountLaunches(const RankTrace& rank);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_IMPORT_LAUNCHES_H_
