#include "sim/network/topology.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace chakrad {

int32_t HopsCount(const NetworkDim& dim, int32_t a, int32_t b) {
  if (a == b) return 0;
  switch (dim.topology) {
    case TopologyKind::kFullyConnected:
      return 1;
    case TopologyKind::kSwitch:
      return 2;
    case TopologyKind::kMesh:
      return std::abs(a - b);
    case TopologyKind::kRing:
      break;
  }
  const int32_t one_way = std::abs(a - b);
  return std::min(one_way, dim.npus_count - one_way);
}

int32_t StepToward(const NetworkDim& dim, int32_t a, int32_t b) {
  if (dim.topology == TopologyKind::kMesh) return b > a ? 1 : -1;
  const int32_t up = b > a ? b - a : b - a + dim.npus_count;
  return up <= dim.npus_count - up ? 1 : -1;
}

Topology::Topology(std::vector<NetworkDim> dims) : dims_(std::move(dims)) {
  for (const NetworkDim& dim : dims_) {
    strides_.push_back(npus_count_);
    npus_count_ *= dim.npus_count;
  }
  coordinates_.reserve(static_cast<size_t>(npus_count_) * dims_.size());
  for (int32_t npu = 0; npu < npus_count_; ++npu) {
    for (size_t dim = 0; dim < dims_.size(); ++dim) {
      coordinates_.push_back(npu / strides_[dim] % dims_[dim].npus_count);
    }
  }
}

int Topology::FirstDifferingDim(int32_t a, int32_t b) const {
  int dim = 0;
  while (dim < static_cast<int>(dims_.size()) && coordinate(a, dim) == coordinate(b, dim)) ++dim;
  return dim;
}

}  // namespace chakrad
