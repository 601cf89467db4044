// The rules that one rank keeps or breaks by itself: see docs/conformance.md#within-a-rank.
#ifndef CHAKRAD_TRACE_CHECK_CHECK_RANK_H_
#define CHAKRAD_TRACE_CHECK_CHECK_RANK_H_

#include <cstdint>

#include "trace/check/check_graph.h"
#include "trace/check/finding_list.h"
#include "trace/check/group_table.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// Times of two nodes are compared with this much room: recorders that count microseconds
// cut off start and duration.
inline constexpr int64_t kTimeToleranceNs = 2000;
// Calls nested deeper overflow the stack of tools that recurse (Python stops at 1,000).
inline constexpr uint32_t kDeepNesting = 1000;

// Whether the node occupies time of its own: no mark, no metadata.
bool IsWork(const RankTrace& rank, uint32_t node);
bool IsDeviceOp(const RankTrace& rank, uint32_t node);
// Whether any dependency is a host operation.
bool HasHostDependency(const RankTrace& rank, uint32_t node);
// Whether `rank` is a recording in which each timed device operation was launched by some
// host operation: it holds timed host operations.
bool RecordsLaunches(const RankTrace& rank);

// Every rule of one rank. `rank` is a part of the trace of `groups`, `graph` is of `rank`.
// O(nodes log nodes + edges).
void CheckRank(const RankTrace& rank, const CheckGraph& graph, const GroupTable& groups,
               FindingList* findings);

// Parts of the above.
void CheckDependencies(const RankTrace& rank, const CheckGraph& graph, FindingList* findings);
void CheckTimes(const RankTrace& rank, FindingList* findings);
void CheckWork(const RankTrace& rank, FindingList* findings);
void CheckCommFields(const RankTrace& rank, const GroupTable& groups, FindingList* findings);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_CHECK_RANK_H_
