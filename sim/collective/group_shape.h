// Where the members of a process group sit: whether they fill a box of the network, so that
// their collectives can run dimension by dimension.
#ifndef CHAKRAD_SIM_COLLECTIVE_GROUP_SHAPE_H_
#define CHAKRAD_SIM_COLLECTIVE_GROUP_SHAPE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sim/limits.h"
#include "sim/system/system_description.h"

namespace chakrad {

struct GroupShape {
  int32_t ranks_count = 0;
  // The members are all combinations of some coordinates along each dimension, listed in the
  // order of their NPUs (dimension 0 varies fastest). Whole dimensions and parts of them both
  // do: {0, 1, 4, 5} of 4 x 2 NPUs is 2 x 2. Astra: only the whole system fits.
  bool fits = false;
  std::array<int32_t, kMaxDims> counts{};  // Where it fits: coordinates along each dimension.
  friend bool operator==(const GroupShape&, const GroupShape&) = default;
};

// All NPUs. O(dimensions).
GroupShape WholeShape(const SystemDescription& system);

// A group that fits no dimensions.
GroupShape FlatShape(int32_t ranks_count);

// Of the group with these ranks, which differ and are in [0, NpusCount). A group of all NPUs is
// the whole system, whatever its order. O(ranks * dimensions).
GroupShape ShapeOf(const SystemDescription& system, const std::vector<int32_t>& ranks);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_GROUP_SHAPE_H_
