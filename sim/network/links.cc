#include "sim/network/links.h"

#include <utility>

namespace chakrad {

LinkConstants::LinkConstants(const SystemDescription* system) {
  for (const NetworkDim& dim : system->dims) dims_.push_back({dim.bytes_per_ns, dim.latency_ns});
  if (system->link_overrides.empty()) return;
  named_.assign(static_cast<size_t>(NpusCount(*system)) * dims_.size(), false);
  for (const LinkOverride& over : system->link_overrides) {
    const Link& dim = dims_[over.dim];
    overrides_[{over.dim, over.src, over.dst}] = {
        over.bytes_per_ns > 0 ? over.bytes_per_ns : dim.bytes_per_ns,
        over.latency_ns >= 0 ? over.latency_ns : dim.latency_ns};
    for (const int32_t npu : {over.src, over.dst}) {
      if (npu >= 0) named_[static_cast<size_t>(npu) * dims_.size() + over.dim] = true;
    }
  }
}

// The most exact override decides: both ends, then the sender's, then the receiver's.
Link LinkConstants::Of(int dim, int32_t src, int32_t dst) const {
  if (uniform() || (!Named(dim, src) && !Named(dim, dst))) return dims_[dim];
  for (const auto& [a, b] : {std::pair(src, dst), std::pair(src, -1), std::pair(-1, dst)}) {
    const auto it = overrides_.find({dim, a, b});
    if (it != overrides_.end()) return it->second;
  }
  return dims_[dim];
}

Links::Links(const Topology* topology, bool link_per_pair)
    : topology_(topology), link_per_pair_(link_per_pair) {
  first_.push_back(0);
  for (const NetworkDim& dim : topology->dims()) {
    const bool connected = dim.topology == TopologyKind::kFullyConnected;
    links_per_npu_.push_back(!connected ? 2 : link_per_pair ? dim.npus_count : 1);
    first_.push_back(first_.back() + links_per_npu_.back() * topology->npus_count());
  }
}

LinkEnds Links::EndsOf(size_t link) const {
  LinkEnds ends;
  while (link >= first_[ends.dim + 1]) ++ends.dim;
  const NetworkDim& along = topology_->dims()[ends.dim];
  const size_t number = link - first_[ends.dim];
  const int32_t npu = static_cast<int32_t>(number / links_per_npu_[ends.dim]);
  const int32_t slot = static_cast<int32_t>(number % links_per_npu_[ends.dim]);
  if (along.topology == TopologyKind::kSwitch) {
    (slot == 0 ? ends.src : ends.dst) = npu;
    return ends;
  }
  ends.src = npu;
  if (along.topology == TopologyKind::kFullyConnected && !link_per_pair_) return ends;
  const int32_t place = topology_->coordinate(npu, ends.dim);
  int32_t to = slot;
  if (along.topology != TopologyKind::kFullyConnected) {
    to = (place + (slot == 0 ? 1 : along.npus_count - 1)) % along.npus_count;
  }
  ends.dst = npu + (to - place) * topology_->stride(ends.dim);
  return ends;
}

}  // namespace chakrad
