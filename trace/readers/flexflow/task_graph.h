// A FlexFlow task graph as it stands in the file: tasks and edges, checked and resolved.
#ifndef CHAKRAD_TRACE_READERS_FLEXFLOW_TASK_GRAPH_H_
#define CHAKRAD_TRACE_READERS_FLEXFLOW_TASK_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/model/string_table.h"
#include "trace/readers/read_options.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

struct TaskGraph {
  struct Task {
    uint64_t id = 0;    // At most INT64_MAX.
    uint32_t name = 0;  // Of `names`: "<name> <type>", or one of them where they are equal.
    bool is_transfer = false;
    int32_t device = 0;                    // Of a computation.
    int32_t src = kNoRank, dst = kNoRank;  // Of a labelled transfer.
    int64_t bytes = 0;
    int64_t link = -1;
    int64_t start_ns = kUnknownNs, dur_ns = kUnknownNs;
    int64_t record = 0, byte_offset = 0;
  };
  // Task `to` starts when `from` has ended; indices into tasks.
  struct Edge {
    uint32_t from = 0, to = 0;
    int64_t record = 0, byte_offset = 0;
  };
  bool is_stock = false;
  std::vector<Task> tasks;  // In the file's order.
  std::vector<Edge> edges;  // The same; none twice.
  StringTable names;
};

// The errors of ReadFlexFlow (flexflow.h). The ledger gets the nodes and the edges that
// are left out; the edges of the result are for the caller to enter.
absl::StatusOr<TaskGraph> ReadTaskGraph(ByteSource* source, const ReadOptions& options,
                                        Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_FLEXFLOW_TASK_GRAPH_H_
