// Counts of a trace: what lists and reports show without loading its columns.
#ifndef CHAKRAD_TRACE_MODEL_TRACE_SUMMARY_H_
#define CHAKRAD_TRACE_MODEL_TRACE_SUMMARY_H_

#include <cstdint>
#include <map>
#include <string>

#include "trace/model/rank_trace.h"

namespace chakrad {

struct CommCount {
  int64_t count = 0;
  int64_t bytes = 0;  // Sum of CommOp::bytes.
  friend bool operator==(const CommCount&, const CommCount&) = default;
};

struct RankSummary {
  int32_t rank = 0;
  std::string schema;
  int64_t nodes_count = 0;
  int64_t host_nodes_count = 0;
  int64_t device_nodes_count = 0;
  int64_t span_ns = 0;                                 // First start to last end; 0 without times.
  std::map<std::string, int64_t> nodes_count_by_type;  // NodeTypeName.
  std::map<std::string, int64_t> edges_count_by_kind;  // EdgeKindName.
  std::map<std::string, CommCount> comm_by_type;       // CollectiveTypeName, "SEND", "RECV".
  friend bool operator==(const RankSummary&, const RankSummary&) = default;
};

// O(nodes + edges).
RankSummary SummarizeRank(const RankTrace& rank);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_TRACE_SUMMARY_H_
