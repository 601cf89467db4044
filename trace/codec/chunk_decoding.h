// What single chunks hold, put behind what is there already: shared by RankDecoder
// (all chunks, in order) and RankReader (some of them). Nothing in a chunk is
// trusted: bytes that do not decode, columns that differ in length, rows beyond
// their bounds are DATA_LOSS. Enumerations and indexes into other tables are left to
// rank_check.h.
#ifndef CHAKRAD_TRACE_CODEC_CHUNK_DECODING_H_
#define CHAKRAD_TRACE_CODEC_CHUNK_DECODING_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// "chunk: " and `what`, DATA_LOSS.
absl::Status DamagedChunk(absl::string_view what);

struct NodeBounds {
  uint64_t first_node = 0;   // Where the chunk must begin.
  uint64_t nodes_count = 0;  // Of the rank: no node of the chunk may be beyond.
  uint64_t edges_count = 0;  // dep_begin must not exceed this.
};
// Appends to the node columns of `trace` and to dep_begin.
absl::Status AppendNodes(absl::string_view raw, const NodeBounds& bounds, RankTrace* trace);

// Columns of equal length.
struct EdgeRows {
  std::vector<int64_t> node_minus_dep;
  absl::string_view kind;  // Of the chunk's own bytes.
};
// Edges that begin at `first_edge` and end by `edges_count`.
absl::Status ParseEdges(absl::string_view raw, uint64_t first_edge, uint64_t edges_count,
                        EdgeRows* rows);
// The dependency at this distance before `node`; false when there is no such node.
inline bool DependencyAt(uint64_t node, int64_t node_minus_dep, uint64_t nodes_count,
                         uint32_t* dep) {
  const uint64_t position = node - static_cast<uint64_t>(node_minus_dep);
  *dep = static_cast<uint32_t>(position);
  return position < nodes_count;
}

absl::Status AppendGaps(absl::string_view raw, RankTrace* trace);
absl::Status AppendQueues(absl::string_view raw, std::vector<Queue>* queues);
// `rank` is what peers are relative to.
absl::Status AppendComm(absl::string_view raw, int32_t rank, std::vector<CommOp>* comm);
absl::Status AppendWorkSizes(absl::string_view raw, std::vector<WorkSize>* work_size);
absl::Status AppendGroups(absl::string_view raw, std::vector<ProcessGroup>* groups);
absl::Status AppendLengths(absl::string_view raw, std::vector<uint64_t>* lengths);
absl::Status AppendStrings(absl::string_view raw, StringTable* strings);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_CHUNK_DECODING_H_
