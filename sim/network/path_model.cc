#include "sim/network/path_model.h"

#include <algorithm>
#include <limits>

#include "sim/engine/semantics.h"

namespace chakrad {

PathModel::PathModel(const SystemDescription* system)
    : astra_(system->semantics == Semantics::kAstra), topology_(system->dims), constants_(system) {
  for (const NetworkDim& dim : system->dims) {
    dims_.push_back({RoundDelayPs(Semantics::kPhysical, dim.latency_ns),
                     RoundDelayPs(Semantics::kPhysical, dim.message_ns)});
  }
}

void PathModel::AddLink(int dim, const Link& link, int64_t latency_ps, Path* path) const {
  if (path->dim < 0) {
    path->dim = dim;
    path->port_bytes_per_ns = link.bytes_per_ns;
    path->message_ps = dims_[dim].message_ps;
  }
  path->latency_ns += link.latency_ns;
  path->latency_ps = std::min(path->latency_ps + latency_ps, kMaxDelayPs);
  path->bytes_per_ns = std::min(path->bytes_per_ns, link.bytes_per_ns);
}

// The hops of one dimension, from NPU `from` on.
void PathModel::AddDim(int dim, int32_t from, int32_t to_coordinate, Path* path) const {
  const NetworkDim& along = topology_.dims()[dim];
  const int32_t stride = topology_.stride(dim);
  const int32_t place = topology_.coordinate(from, dim);
  if (constants_.uniform()) {
    const int32_t hops_count = HopsCount(along, place, to_coordinate);
    const int64_t latency_ps = dims_[dim].latency_ps > kMaxDelayPs / hops_count
                                   ? kMaxDelayPs
                                   : hops_count * dims_[dim].latency_ps;
    return AddLink(dim, {along.bytes_per_ns, hops_count * along.latency_ns}, latency_ps, path);
  }
  const int32_t to = from + (to_coordinate - place) * stride;
  const auto add = [&](int32_t src, int32_t dst) {
    const Link link = constants_.Of(dim, src, dst);
    AddLink(dim, link, RoundDelayPs(Semantics::kPhysical, link.latency_ns), path);
  };
  if (along.topology == TopologyKind::kSwitch) {
    add(from, -1);
    return add(-1, to);
  }
  if (along.topology == TopologyKind::kFullyConnected) return add(from, to);
  const int32_t step = StepToward(along, place, to_coordinate);
  for (int32_t at = place; at != to_coordinate;) {
    const int32_t next = (at + step + along.npus_count) % along.npus_count;
    add(from + (at - place) * stride, from + (next - place) * stride);
    at = next;
  }
}

Path PathModel::PathOf(int32_t src, int32_t dst) const {
  Path path;
  path.bytes_per_ns = path.port_bytes_per_ns = std::numeric_limits<double>::infinity();
  int32_t at = src;
  for (int dim = topology_.FirstDifferingDim(src, dst); dim < topology_.dims_count(); ++dim) {
    const int32_t to = topology_.coordinate(dst, dim);
    const int32_t here = topology_.coordinate(at, dim);
    if (to == here) continue;
    AddDim(dim, at, to, &path);
    at += (to - here) * topology_.stride(dim);
    if (astra_) break;
  }
  return path;
}

int64_t PathModel::DelayPs(const Path& path, double bytes) const {
  if (astra_) return RoundDelayPs(Semantics::kAstra, path.latency_ns + bytes / path.bytes_per_ns);
  // Each of the three is at most kMaxDelayPs: the sum is inside int64.
  return std::min(kMaxDelayPs, path.message_ps + path.latency_ps +
                                   RoundDelayPs(Semantics::kPhysical, bytes / path.bytes_per_ns));
}

int64_t PathModel::PortPs(const Path& path, double bytes) const {
  if (astra_) return 0;
  return std::min(kMaxDelayPs, path.message_ps + RoundDelayPs(Semantics::kPhysical,
                                                              bytes / path.port_bytes_per_ns));
}

}  // namespace chakrad
