// A trace for more or fewer ranks than were traced, along one process group: what would this
// job be with twice its data-parallel degree? Rules, reasons and an example: docs/projection.md.
#ifndef CHAKRAD_SIM_PROJECTION_PROJECTION_H_
#define CHAKRAD_SIM_PROJECTION_PROJECTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "trace/model/trace.h"

namespace chakrad {

struct ProjectionSpec {
  // The axis: a process group by its name, or else by its description (several groups may share
  // that, if they lie along the same axis), or by its index in Trace::groups.
  std::string group;
  std::optional<uint32_t> group_index;
  // Ranks along it afterwards; one of the three is given, and at least 1.
  int32_t new_size = 0;
  int32_t multiply_by = 0;
  int32_t divide_by = 0;
};

struct Projection {
  Trace trace;
  int32_t old_size = 0;  // Ranks along the axis.
  int32_t new_size = 0;
  std::vector<std::string> notices;
};

// The ranks must be a grid: rank = low + stride * (axis + size * high), and each group that is
// used a product with all of the axis or one place on it. More ranks: those at `axis` >= size
// are copies (Trace::copies) of those at axis % size, and share their parts. Fewer: those at
// `axis` < new size stay. Groups keep their indices when ranks are added, new ones follow.
// Collectives of groups with all of the axis: all-reduce, reduce, broadcast, reduce-scatter,
// all-to-all and barrier keep their bytes; an all-gather's contribution becomes
// bytes * old / new. Compute stays: each rank works on as much data as before.
// INVALID_ARGUMENT: no such group, more than one axis of that name, no regular grid, a new size
// that is no multiple or divisor, ranks missing, unknown members, a send along the axis,
// all-to-alls of different sizes, contributions that do not divide, gather or scatter along the
// axis. O(nodes + members of groups). Parts are moved, not copied.
absl::StatusOr<Projection> ProjectTrace(Trace trace, const ProjectionSpec& spec);

// The same trace with a part for each rank in `copies`: memory grows with them.
Trace WithOwnParts(Trace trace);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_PROJECTION_PROJECTION_H_
