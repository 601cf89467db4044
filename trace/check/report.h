// What the conformance suite found in a trace.
#ifndef CHAKRAD_TRACE_CHECK_REPORT_H_
#define CHAKRAD_TRACE_CHECK_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/check/rules.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

struct Finding {
  // As registered; a rule of a ledger that is not registered keeps its name and is a warning.
  std::string rule;
  Severity severity = Severity::kWarning;
  int32_t rank = kNoRank;  // kNoRank: of no one rank.
  bool has_node = false;
  uint64_t node_id = 0;      // As recorded; only when has_node.
  std::string file;          // Of a ledger's finding; else empty.
  int64_t byte_offset = -1;  // In `file`, uncompressed; -1 unknown.
  std::string message;       // Valid UTF-8, at most kMaxFindingBytes.
};

// The shares that the quality score is made of; each in [0, 1], and 1 where there is
// nothing to count. docs/conformance.md#quality explains them.
struct QualityParts {
  double records = 1;        // Input records that were kept or merged.
  double durations = 1;      // Compute and memory nodes whose duration is known.
  double launches = 1;       // Recorded device operations that a host operation launched.
  double communication = 1;  // Communication nodes with group, peer and size.
  double ranks = 1;          // Ranks of the world that were traced.
};

struct CheckReport {
  // By severity (errors first), rule, rank, node id, then in the order found. At most
  // kListedPerRule of a rule.
  std::vector<Finding> findings;
  std::map<std::string, int64_t> count_by_rule;  // Of all, listed or not.
  int64_t errors_count = 0;                      // Of all, listed or not.
  int64_t warnings_count = 0;
  int64_t infos_count = 0;
  QualityParts parts;
  // In [0, 1]: the mean of `parts`, halved when there are errors, and once more for no_work.
  double quality = 1;
};

// A page of each rule is enough to see what is wrong; counts tell how often.
inline constexpr int64_t kListedPerRule = 20;
// Twenty nodes with their names; longer is not read.
inline constexpr size_t kMaxFindingBytes = 4000;

// For people: the findings one a line, what was not listed, then the score and its parts.
std::string ReportText(const CheckReport& report);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_REPORT_H_
