// Whether the columns of a rank trace fit together, so that no reader of them
// has to look before it follows an index.
#ifndef CHAKRAD_TRACE_CODEC_RANK_CHECK_H_
#define CHAKRAD_TRACE_CODEC_RANK_CHECK_H_

#include <cstddef>

#include "absl/status/status.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// INVALID_ARGUMENT naming the column and node: columns differ in length, an index
// points outside its table, a begin column does not ascend, an enumeration has an
// unknown value. `groups_count` is the size of the table that CommOp::group
// indexes. Cycles are not looked for. O(nodes + edges).
absl::Status CheckRankColumns(const RankTrace& rank, size_t groups_count);

// The same of a part of a rank that has `nodes_count` nodes: its dependencies may be
// any of them.
absl::Status CheckPartColumns(const RankTrace& part, size_t groups_count, size_t nodes_count);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_RANK_CHECK_H_
