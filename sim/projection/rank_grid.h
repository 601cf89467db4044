// Ranks as a grid with one axis that grows or shrinks.
#ifndef CHAKRAD_SIM_PROJECTION_RANK_GRID_H_
#define CHAKRAD_SIM_PROJECTION_RANK_GRID_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "trace/model/trace.h"

namespace chakrad {

struct ProjectionSpec;  // sim/projection/projection.h

// rank = low + stride * (axis + size * high); `rest` = low + stride * high tells ranks of one place
// on the axis apart.
struct RankGrid {
  int32_t stride = 1;
  int32_t size = 1;      // Along the axis.
  int32_t new_size = 1;  // The same afterwards; a multiple or a divisor.
  // Groups that the axis was found by. With size 1 nothing else tells which groups lie along it.
  std::vector<uint32_t> named;

  int32_t AxisOf(int32_t rank) const { return rank / stride % size; }
  int32_t RestOf(int32_t rank) const { return rank % stride + rank / stride / size * stride; }
  // The rank at that place among the new ones.
  int32_t NewRank(int32_t axis, int32_t rest) const {
    return rest % stride + stride * (axis + new_size * (rest / stride));
  }
};

// INVALID_ARGUMENT: see ProjectTrace.
absl::StatusOr<RankGrid> FindGrid(const Trace& trace, const ProjectionSpec& spec);

// How a group lies in a grid.
struct GroupPlace {
  enum class Kind : uint8_t {
    kWholeAxis,  // With all places of the axis: rescaled.
    kOnePlace,   // At one place of it: copied to new places.
    kIrregular,  // Neither; `fault` says why.
    kUnknown,    // Its members are not known.
  };
  Kind kind = Kind::kUnknown;
  int32_t axis = 0;  // Of kOnePlace.
  std::string fault;
};

// O(members log members).
GroupPlace PlaceOf(const Trace& trace, const RankGrid& grid, uint32_t group);

// "\"dp\" (entry 3)".
std::string NameOfGroup(const Trace& trace, uint32_t group);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_PROJECTION_RANK_GRID_H_
