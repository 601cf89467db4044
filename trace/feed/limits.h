// Bounds of the feeder, with unit and reason.
#ifndef CHAKRAD_TRACE_FEED_LIMITS_H_
#define CHAKRAD_TRACE_FEED_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace chakrad {

// Dependencies are read by this many nodes: what one chunk of a rank holds.
inline constexpr uint32_t kDependencyRunNodes = 65'536;
// Runs of dependencies that a source keeps: about five million nodes of two each, so
// that a node whose dependencies end far apart is looked at again without reading.
inline constexpr size_t kDependencyCacheBytes = 64 << 20;
// The nodes' own data is copied and kept in smaller runs, since a simulator may look at
// few nodes of many places: 16 runs of about 0.6 MB.
inline constexpr uint32_t kNodeRunNodes = 8'192;
inline constexpr size_t kNodeRunsKept = 16;
// A message about a cycle writes out this many nodes of it.
inline constexpr int kCycleNodesShown = 20;

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_FEED_LIMITS_H_
