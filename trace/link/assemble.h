// Ranks in, one trace out: process groups get one numbering.
#ifndef CHAKRAD_TRACE_LINK_ASSEMBLE_H_
#define CHAKRAD_TRACE_LINK_ASSEMBLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/model/trace.h"

namespace chakrad {

// Ranks of a job; the largest machines have some 100,000 accelerators.
inline constexpr int32_t kMaxWorldSize = 1 << 20;

// `ranks` in any order, each with its own group table. `world_size` 0: the
// largest that a rank number or a group's member asks for, with a notice.
// Entry 0 of the result's groups is the world: it stands for operations without
// a group, and takes over the first full group that the ranks name as default
// ("default_pg" as description, "world" or "0" as name). Groups with equal
// members and name are one; where ranks name a group of the same members
// differently, their first, second, ... in order of first use are one.
// A rank that uses a group without it is a notice, and so is a group with a
// member at or above the world size, which keeps all its members.
// INVALID_ARGUMENT: no ranks, a rank twice, a rank at or above the world size.
// Time: linear in nodes and group members.
absl::StatusOr<Trace> AssembleTrace(std::vector<RankTrace> ranks, int32_t world_size,
                                    std::vector<std::string>* notices);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_ASSEMBLE_H_
