#include "sim/collective/group_shape.h"

#include <algorithm>

namespace chakrad {

GroupShape WholeShape(const SystemDescription& system) {
  GroupShape shape;
  shape.ranks_count = static_cast<int32_t>(NpusCount(system));
  shape.fits = true;
  for (size_t dim = 0; dim < system.dims.size(); ++dim) {
    shape.counts[dim] = system.dims[dim].npus_count;
  }
  return shape;
}

GroupShape FlatShape(int32_t ranks_count) {
  GroupShape shape;
  shape.ranks_count = ranks_count;
  return shape;
}

GroupShape ShapeOf(const SystemDescription& system, const std::vector<int32_t>& ranks) {
  const int32_t ranks_count = static_cast<int32_t>(ranks.size());
  if (ranks_count == NpusCount(system)) return WholeShape(system);
  if (system.semantics == Semantics::kAstra || ranks.empty()) return FlatShape(ranks_count);
  // Along each dimension the coordinates of the members; then the box they span, which has to
  // be the list itself.
  std::vector<std::vector<int32_t>> coordinates(system.dims.size());
  int64_t box_size = 1;
  int32_t stride = 1;
  GroupShape shape = FlatShape(ranks_count);
  for (size_t dim = 0; dim < system.dims.size(); ++dim) {
    std::vector<int32_t>& along = coordinates[dim];
    for (const int32_t rank : ranks) {
      along.push_back(rank / stride % system.dims[dim].npus_count * stride);
    }
    std::sort(along.begin(), along.end());
    along.erase(std::unique(along.begin(), along.end()), along.end());
    shape.counts[dim] = static_cast<int32_t>(along.size());
    box_size *= shape.counts[dim];
    if (box_size > ranks_count) return FlatShape(ranks_count);
    stride *= system.dims[dim].npus_count;
  }
  for (int32_t member = 0; member < ranks_count; ++member) {
    int32_t rest = member, npu = 0;
    for (size_t dim = 0; dim < coordinates.size(); ++dim) {
      npu += coordinates[dim][rest % shape.counts[dim]];
      rest /= shape.counts[dim];
    }
    if (npu != ranks[member]) return FlatShape(ranks_count);
  }
  shape.fits = true;
  return shape;
}

}  // namespace chakrad
