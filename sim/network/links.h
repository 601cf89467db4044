// The directed links of a network: what each is like, its number, and the way over them.
//
// Each NPU has, a dimension: on a ring or mesh a link up (to the next place) and one down; on a
// switch a link up to the switch and one down from it; fully connected, a link to each place.
// Links are numbered by dimension, then by the NPU they leave (of a switch's way down: reach).
//
// Routes are ordered by dimension: a message goes all the way along the lowest dimension in
// which it is not yet at its place, then along the next. On a ring it takes the shorter way, up
// when both are equal.
#ifndef CHAKRAD_SIM_NETWORK_LINKS_H_
#define CHAKRAD_SIM_NETWORK_LINKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sim/network/topology.h"
#include "sim/system/system_description.h"

namespace chakrad {

struct Link {
  double bytes_per_ns = 0;
  double latency_ns = 0;
};

// What links are like: as their dimension, or as an override says. Immutable. Thread-safe.
class LinkConstants {
 public:
  explicit LinkConstants(const SystemDescription* system);

  // Whether all links of each dimension are alike.
  bool uniform() const { return overrides_.empty(); }
  // Ends as in LinkOverride: of a switch's link one is -1. O(1) where no override names either
  // end.
  Link Of(int dim, int32_t src, int32_t dst) const;

 private:
  bool Named(int dim, int32_t npu) const {
    return npu >= 0 && named_[static_cast<size_t>(npu) * dims_.size() + dim];
  }

  std::vector<Link> dims_;
  std::map<std::tuple<int32_t, int32_t, int32_t>, Link> overrides_;  // By (dim, src, dst).
  std::vector<bool> named_;  // By NPU, then dimension: an end in an override. Empty if uniform.
};

// Where a message is: at an NPU, or (negative) in the switch above NPU ~place, to which it will
// come down.
struct Hop {
  size_t link = 0;    // That it takes next.
  int dim = 0;        // Along this dimension.
  int32_t place = 0;  // Where that brings it.
};

struct LinkEnds {
  int32_t dim = 0;
  int32_t src = -1;
  int32_t dst = -1;
};

// Immutable. Thread-safe.
class Links {
 public:
  // `link_per_pair`: fully connected, an NPU has a link to each place; else one port for all,
  // which takes the place of those links. `topology` must outlive this.
  Links(const Topology* topology, bool link_per_pair);

  size_t count() const { return first_.back(); }
  // The hop of a message at `place` != dst that goes to NPU `dst`; `dim`: of the hop before, when
  // that went up to a switch.
  Hop Next(int32_t place, int dim, int32_t dst) const {
    if (place < 0) return {first_[dim] + 2 * static_cast<size_t>(~place) + 1, dim, ~place};
    dim = topology_->FirstDifferingDim(place, dst);
    const NetworkDim& along = topology_->dims()[dim];
    const int32_t from = topology_->coordinate(place, dim);
    const int32_t to = topology_->coordinate(dst, dim);
    const int32_t stride = topology_->stride(dim);
    const size_t first = first_[dim] + links_per_npu_[dim] * static_cast<size_t>(place);
    if (along.topology == TopologyKind::kSwitch) {
      return {first, dim, ~(place + (to - from) * stride)};
    }
    if (along.topology == TopologyKind::kFullyConnected) {
      return {first + (link_per_pair_ ? to : 0), dim, place + (to - from) * stride};
    }
    if (StepToward(along, from, to) > 0) {
      const int32_t next = from + 1 < along.npus_count ? from + 1 : 0;
      return {first, dim, place + (next - from) * stride};
    }
    const int32_t next = from > 0 ? from - 1 : along.npus_count - 1;
    return {first + 1, dim, place + (next - from) * stride};
  }
  // A port for all has {src, -1}.
  LinkEnds EndsOf(size_t link) const;

 private:
  const Topology* topology_;
  const bool link_per_pair_;
  std::vector<size_t> first_;  // By dimension: its first link; and one more, the end.
  std::vector<size_t> links_per_npu_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_LINKS_H_
