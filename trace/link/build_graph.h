// The nodes of one rank's graph, from what was matched; no edges yet.
#ifndef CHAKRAD_TRACE_LINK_BUILD_GRAPH_H_
#define CHAKRAD_TRACE_LINK_BUILD_GRAPH_H_

#include "absl/status/statusor.h"
#include "trace/link/link_graph.h"

namespace chakrad {

struct DeviceMatch;
struct HostMatch;
struct Nesting;

// `et` or `kineto` may be null (with an empty match). Operations of the
// execution trace keep their ids; everything else gets ids above the largest of
// them, in node order. A launch call with no host operation around it becomes a
// host operation of its own, so that its device operation has a launcher.
// INVALID_ARGUMENT when the execution trace's parents form a cycle (which is
// printed), or when no ids are left above. O(nodes log nodes).
absl::StatusOr<LinkGraph> BuildGraph(const PyTorchEt* et, const KinetoTrace* kineto,
                                     const Manifest* manifest, const HostMatch& host_match,
                                     const Nesting& nesting, const DeviceMatch& device_match);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_BUILD_GRAPH_H_
