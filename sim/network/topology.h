// Where NPUs sit in a network of one or more dimensions.
#ifndef CHAKRAD_SIM_NETWORK_TOPOLOGY_H_
#define CHAKRAD_SIM_NETWORK_TOPOLOGY_H_

#include <cstdint>
#include <vector>

#include "sim/system/system_description.h"

namespace chakrad {

// Hops of a message between places `a` and `b` of one dimension: fully connected
// 1, switch 2 (up and down), ring the shorter way round, mesh |a - b|. 0 when a == b.
inline int32_t HopsCount(const NetworkDim& dim, int32_t a, int32_t b) {
  if (a == b) return 0;
  if (dim.topology == TopologyKind::kFullyConnected) return 1;
  if (dim.topology == TopologyKind::kSwitch) return 2;
  const int32_t one_way = a < b ? b - a : a - b;
  if (dim.topology == TopologyKind::kMesh) return one_way;
  return one_way < dim.npus_count - one_way ? one_way : dim.npus_count - one_way;
}

// Ring and mesh: 1 or -1, the way from place `a` to place `b`, a != b. A tie on a ring goes up.
inline int32_t StepToward(const NetworkDim& dim, int32_t a, int32_t b) {
  if (dim.topology == TopologyKind::kMesh) return b > a ? 1 : -1;
  const int32_t up = b > a ? b - a : b - a + dim.npus_count;
  return up <= dim.npus_count - up ? 1 : -1;
}

// Immutable. Thread-safe.
class Topology {
 public:
  explicit Topology(std::vector<NetworkDim> dims);

  const std::vector<NetworkDim>& dims() const { return dims_; }
  int dims_count() const { return static_cast<int>(dims_.size()); }
  int32_t npus_count() const { return npus_count_; }
  // Distance in NPU ids of neighbours along a dimension: product of the lower ones.
  int32_t stride(int dim) const { return strides_[dim]; }
  // Place of `npu` along `dim`.
  int32_t coordinate(int32_t npu, int dim) const {
    return coordinates_[static_cast<size_t>(npu) * dims_.size() + dim];
  }
  // The lowest dimension in which the two differ; dims_count() when they are one.
  int FirstDifferingDim(int32_t a, int32_t b) const {
    int dim = 0;
    while (dim < dims_count() && coordinate(a, dim) == coordinate(b, dim)) ++dim;
    return dim;
  }

 private:
  std::vector<NetworkDim> dims_;
  std::vector<int32_t> strides_;
  std::vector<int32_t> coordinates_;  // dims_.size() a NPU: divisions are slow.
  int32_t npus_count_ = 1;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_TOPOLOGY_H_
