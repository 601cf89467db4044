#include "sim/projection/rank_grid.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/limits.h"
#include "sim/projection/projection.h"

namespace chakrad {
namespace {

absl::StatusOr<std::vector<uint32_t>> NamedGroups(const Trace& trace, const ProjectionSpec& spec) {
  if (spec.group_index.has_value()) {
    if (!spec.group.empty()) {
      return absl::InvalidArgumentError("group: given by name and by index; one is enough");
    }
    if (*spec.group_index >= trace.groups.size()) {
      return absl::InvalidArgumentError(absl::StrCat("group_index: ", *spec.group_index,
                                                     " is not in [0, ", trace.groups.size(), ")"));
    }
    return std::vector<uint32_t>{*spec.group_index};
  }
  if (spec.group.empty()) return absl::InvalidArgumentError("group: must not be empty");
  std::vector<uint32_t> by_name, by_description;
  for (uint32_t group = 0; group < trace.groups.size(); ++group) {
    if (trace.groups[group].name == spec.group) by_name.push_back(group);
    if (trace.groups[group].description == spec.group) by_description.push_back(group);
  }
  if (!by_name.empty()) return by_name;
  if (!by_description.empty()) return by_description;
  return absl::InvalidArgumentError(
      absl::StrCat("group: no process group has the name or the description \"", spec.group, "\""));
}

// The axis that one group spans.
absl::StatusOr<RankGrid> GridOf(const Trace& trace, uint32_t group) {
  std::vector<int32_t> ranks = trace.groups[group].ranks;
  const std::string name = NameOfGroup(trace, group);
  const auto fault = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("group: ", name, " is no axis of a regular grid of ranks: ", why));
  };
  if (ranks.empty())
    return absl::InvalidArgumentError(absl::StrCat("group: the members of ", name, " are unknown"));
  std::sort(ranks.begin(), ranks.end());
  if (ranks.front() < 0 || ranks.back() >= trace.world_size) {
    return fault(absl::StrCat("it holds ranks outside of [0, ", trace.world_size, ")"));
  }
  RankGrid grid;
  grid.size = static_cast<int32_t>(ranks.size());
  // One rank says nothing about its neighbours on the axis: new ones come after all others.
  grid.stride = grid.size == 1 ? trace.world_size : ranks[1] - ranks[0];
  if (grid.stride == 0) return fault(absl::StrCat("it holds rank ", ranks[0], " twice"));
  for (size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i] - ranks[i - 1] == grid.stride) continue;
    return fault(absl::StrCat("from rank ", ranks[0], " to ", ranks[1], " it is ", grid.stride,
                              ", from ", ranks[i - 1], " to ", ranks[i], " it is ",
                              ranks[i] - ranks[i - 1]));
  }
  const int64_t block = int64_t{grid.stride} * grid.size;
  if (trace.world_size % block != 0) {
    return fault(absl::StrCat(grid.size, " ranks at a distance of ", grid.stride,
                              " do not divide the world of ", trace.world_size));
  }
  if (grid.AxisOf(ranks[0]) != 0) {
    return fault(absl::StrCat("it begins at rank ", ranks[0], ", which is no multiple of ", block,
                              " plus less than ", grid.stride));
  }
  return grid;
}

absl::Status SetNewSize(const ProjectionSpec& spec, int32_t world_size, RankGrid* grid) {
  const int given = (spec.new_size != 0) + (spec.multiply_by != 0) + (spec.divide_by != 0);
  if (given != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("new_size, multiply_by, divide_by: ", given, " are given, one is wanted"));
  }
  for (const auto& [field, value] : {std::pair{"new_size", spec.new_size},
                                     {"multiply_by", spec.multiply_by},
                                     {"divide_by", spec.divide_by}}) {
    if (value < 0)
      return absl::InvalidArgumentError(absl::StrCat(field, ": ", value, " is not at least 1"));
  }
  int64_t new_size = spec.new_size;
  if (spec.multiply_by != 0) new_size = int64_t{grid->size} * spec.multiply_by;
  if (spec.divide_by != 0) {
    if (grid->size % spec.divide_by != 0) {
      return absl::InvalidArgumentError(absl::StrCat("divide_by: ", spec.divide_by,
                                                     " does not divide the ", grid->size,
                                                     " ranks along the group"));
    }
    new_size = grid->size / spec.divide_by;
  }
  if (new_size % grid->size != 0 && grid->size % new_size != 0) {
    return absl::InvalidArgumentError(absl::StrCat("new_size: ", new_size,
                                                   " is neither a multiple nor a divisor of the ",
                                                   grid->size, " ranks along the group"));
  }
  const int64_t rest = world_size / grid->size;
  if (new_size > kMaxNpusCount / rest) {
    return absl::InvalidArgumentError(
        absl::StrCat("new_size: ", new_size, " x ", rest, " ranks are more than ", kMaxNpusCount));
  }
  grid->new_size = static_cast<int32_t>(new_size);
  return absl::OkStatus();
}

}  // namespace

std::string NameOfGroup(const Trace& trace, uint32_t group) {
  return absl::StrCat("\"", trace.groups[group].name, "\" (entry ", group, ")");
}

absl::StatusOr<RankGrid> FindGrid(const Trace& trace, const ProjectionSpec& spec) {
  ASSIGN_OR_RETURN(std::vector<uint32_t> named, NamedGroups(trace, spec));
  ASSIGN_OR_RETURN(RankGrid grid, GridOf(trace, named[0]));
  for (const uint32_t group : named) {
    ASSIGN_OR_RETURN(const RankGrid other, GridOf(trace, group));
    if (other.size == grid.size && other.stride == grid.stride) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "group: ", NameOfGroup(trace, named[0]), " and ", NameOfGroup(trace, group),
        " are both called so, and lie along different axes: ", grid.size,
        " ranks at a distance of ", grid.stride, ", ", other.size, " at ", other.stride));
  }
  grid.named = std::move(named);
  RETURN_IF_ERROR(SetNewSize(spec, trace.world_size, &grid));
  return grid;
}

GroupPlace PlaceOf(const Trace& trace, const RankGrid& grid, uint32_t group) {
  using Kind = GroupPlace::Kind;
  const std::vector<int32_t>& ranks = trace.groups[group].ranks;
  if (ranks.empty()) return {};
  std::map<int32_t, std::vector<int32_t>> places_of;  // Of each `rest`.
  for (const int32_t rank : ranks) {
    if (rank < 0 || rank >= trace.world_size) {
      return {Kind::kIrregular, 0, absl::StrCat("rank ", rank, " is not in the world")};
    }
    places_of[grid.RestOf(rank)].push_back(grid.AxisOf(rank));
  }
  for (auto& [rest, places] : places_of) std::sort(places.begin(), places.end());
  const std::vector<int32_t>& first = places_of.begin()->second;
  for (const auto& [rest, places] : places_of) {
    if (places == first) continue;
    return {Kind::kIrregular, 0,
            absl::StrCat("it holds ", places.size(), " of the ranks along the axis through rank ",
                         rest, " and other ones elsewhere")};
  }
  if (std::adjacent_find(first.begin(), first.end()) != first.end()) {
    return {Kind::kIrregular, 0, "it holds a rank twice"};
  }
  const bool named = std::find(grid.named.begin(), grid.named.end(), group) != grid.named.end();
  const bool whole = static_cast<int32_t>(first.size()) == grid.size;
  if (whole && (grid.size > 1 || group == kWorldGroup || named)) {
    if (!std::is_sorted(ranks.begin(), ranks.end())) {
      return {Kind::kIrregular, 0, "its ranks are not in ascending order"};
    }
    return {Kind::kWholeAxis, 0, ""};
  }
  if (first.size() == 1) return {Kind::kOnePlace, first[0], ""};
  return {Kind::kIrregular, 0,
          absl::StrCat("it holds ", first.size(), " of the ", grid.size, " ranks along the axis")};
}

}  // namespace chakrad
