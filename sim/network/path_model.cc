#include "sim/network/path_model.h"

#include <algorithm>
#include <limits>

#include "sim/engine/semantics.h"

namespace chakrad {

PathModel::PathModel(const SystemDescription* system) : system_(system), topology_(system->dims) {
  for (const LinkOverride& over : system->link_overrides) {
    const NetworkDim& dim = system->dims[over.dim];
    links_[{over.dim, over.src, over.dst}] = {
        over.bytes_per_ns > 0 ? over.bytes_per_ns : dim.bytes_per_ns,
        over.latency_ns >= 0 ? over.latency_ns : dim.latency_ns};
  }
}

// The most exact override decides: both ends, then the sender's, then the receiver's.
PathModel::Link PathModel::LinkOf(int dim, int32_t src, int32_t dst) const {
  for (const auto& [a, b] : {std::pair(src, dst), std::pair(src, -1), std::pair(-1, dst)}) {
    const auto it = links_.find({dim, a, b});
    if (it != links_.end()) return it->second;
  }
  return {system_->dims[dim].bytes_per_ns, system_->dims[dim].latency_ns};
}

// The hops of one dimension, from NPU `from` on.
void PathModel::AddDim(int dim, int32_t from, int32_t to_coordinate, Path* path) const {
  const NetworkDim& along = system_->dims[dim];
  const int32_t stride = topology_.stride(dim);
  const int32_t place = topology_.coordinate(from, dim);
  const int32_t to = from + (to_coordinate - place) * stride;
  const auto add = [&](const Link& link) {
    if (path->dim < 0) {
      path->dim = dim;
      path->port_bytes_per_ns = link.bytes_per_ns;
      path->message_ns = along.message_ns;
    }
    path->latency_ns += link.latency_ns;
    path->bytes_per_ns = std::min(path->bytes_per_ns, link.bytes_per_ns);
  };
  if (links_.empty()) {
    add({along.bytes_per_ns, HopsCount(along, place, to_coordinate) * along.latency_ns});
  } else if (along.topology == TopologyKind::kSwitch) {
    add(LinkOf(dim, from, -1));
    add(LinkOf(dim, -1, to));
  } else if (along.topology == TopologyKind::kFullyConnected) {
    add(LinkOf(dim, from, to));
  } else {
    const int32_t step = StepToward(along, place, to_coordinate);
    for (int32_t at = place; at != to_coordinate;) {
      const int32_t next = (at + step + along.npus_count) % along.npus_count;
      add(LinkOf(dim, from + (at - place) * stride, from + (next - place) * stride));
      at = next;
    }
  }
}

Path PathModel::PathOf(int32_t src, int32_t dst) const {
  Path path;
  path.bytes_per_ns = path.port_bytes_per_ns = std::numeric_limits<double>::infinity();
  int32_t at = src;
  for (int dim = topology_.FirstDifferingDim(src, dst);
       dim < static_cast<int>(topology_.dims().size()); ++dim) {
    const int32_t to = topology_.coordinate(dst, dim);
    const int32_t here = topology_.coordinate(at, dim);
    if (to == here) continue;
    AddDim(dim, at, to, &path);
    at += (to - here) * topology_.stride(dim);
    if (system_->semantics == Semantics::kAstra) break;
  }
  return path;
}

int64_t PathModel::DelayPs(int32_t src, int32_t dst, double bytes) const {
  if (src == dst) return 0;
  const Path path = PathOf(src, dst);
  const double message_ns = system_->semantics == Semantics::kAstra ? 0 : path.message_ns;
  return RoundDelayPs(system_->semantics, message_ns + path.latency_ns + bytes / path.bytes_per_ns);
}

int64_t PathModel::PortPs(int32_t src, int32_t dst, double bytes) const {
  if (system_->semantics == Semantics::kAstra || src == dst) return 0;
  const Path path = PathOf(src, dst);
  return RoundDelayPs(system_->semantics, path.message_ns + bytes / path.port_bytes_per_ns);
}

}  // namespace chakrad
