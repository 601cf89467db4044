// What bounds a timeline: docs/analysis.md#critical-path. And what would bound it if some of
// its operations took more or less time: docs/analysis.md#what-if.
#ifndef CHAKRAD_ANALYSIS_CRITICAL_PATH_CRITICAL_PATH_H_
#define CHAKRAD_ANALYSIS_CRITICAL_PATH_CRITICAL_PATH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/critical_path/causal_graph.h"
#include "analysis/critical_path/replay.h"

namespace chakrad {

// The part of an operation that is on the path, or a gap before one (at the end of the path:
// after one).
struct PathStep {
  int32_t rank = 0;
  uint32_t node = 0;  // Index in the rank's graph; of a gap the operation after it.
  bool is_gap = false;
  IntervalKind kind = IntervalKind::kHost;  // Not of a gap.
  PathEdge edge = PathEdge::kNone;  // From the step before; of a gap and its operation alike.
  int64_t start_ps = 0;
  int64_t end_ps = 0;
};

struct PathShare {
  std::string key;
  int64_t total_ps = 0;
  int64_t count = 0;  // Steps.
  friend bool operator==(const PathShare&, const PathShare&) = default;
};

// Each list adds up to the path's length. The largest total first, equal ones by key.
struct PathShares {
  std::vector<PathShare> by_class;  // "compute", "comm", "memory", "host", "gap".
  std::vector<PathShare> by_edge;   // PathEdgeName; gaps with what comes after them.
  std::vector<PathShare> by_name;   // Names of operations; "(gap)".
  std::vector<PathShare> by_rank;   // Decimal.
};

// "compute", "comm", "memory", "host", "gap".
absl::string_view PathClassName(const PathStep& step);

// Walks back from the operation that ends last (of equals: lowest rank, lowest node) to the
// job's start: before an operation comes the cause that held it back last; in a collective or a
// receive, whoever came last. The steps are in order of time, not empty, and cover
// [graph.start_ps, replay.end_ps()) without holes. O(steps * causes).
std::vector<PathStep> FindCriticalPath(const CausalGraph& graph, const CausalReplay& replay);

// O(steps log steps).
PathShares SharesOf(const CausalGraph& graph, const std::vector<PathStep>& steps);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_CRITICAL_PATH_CRITICAL_PATH_H_
