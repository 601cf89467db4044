#include "sim/network/topology.h"

#include <utility>

namespace chakrad {

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

}  // namespace chakrad
