// Where a feeder takes nodes from: a rank trace in memory, or the chunks of one, read
// window by window.
#ifndef CHAKRAD_TRACE_FEED_NODE_SOURCE_H_
#define CHAKRAD_TRACE_FEED_NODE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "trace/feed/limits.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

class RankReader;  // trace/codec/rank_reader.h

// One node, as recorded. trace/model/rank_trace.h says what each column means.
struct FeedNode {
  uint32_t position = 0;  // In the rank: what Feeder hands out.
  uint64_t id = 0;        // As recorded.
  NodeType type = NodeType::kInvalid;
  bool is_host = false;  // Runs on the host.
  Queue queue;           // The thread or stream that it runs on.
  int64_t start_ns = kUnknownNs;
  int64_t dur_ns = kUnknownNs;
  int64_t work_ns = kUnknownNs;  // How long it occupies its queue.
  int64_t gap_ns = 0;            // Idle time before its start that nothing explains.
  absl::string_view name;
  const CommOp* comm = nullptr;         // Of communication nodes; null: none recorded.
  const WorkSize* work_size = nullptr;  // Of compute and memory nodes; null: none recorded.
};

// Not thread-safe.
class NodeSource {
 public:
  virtual ~NodeSource() = default;
  virtual uint32_t nodes_count() const = 0;
  // Positions of what a node, below nodes_count, waits for. In memory they may be
  // anything; a stored one that is no position of the rank is DATA_LOSS. Good until
  // the next call.
  virtual absl::StatusOr<absl::Span<const uint32_t>> DependenciesOf(uint32_t position) = 0;
  // Good (name, comm and work_size) until the next call. DATA_LOSS: stored bytes are
  // damaged. INVALID_ARGUMENT: no such position.
  virtual absl::StatusOr<FeedNode> Read(uint32_t position) = 0;
};

// `rank` must outlive the source; its columns, dependencies apart, must fit together
// (CheckRankColumns in trace/codec/rank_check.h).
std::unique_ptr<NodeSource> NewMemorySource(const RankTrace* rank);

struct ReaderSourceOptions {
  // More helps graphs whose nodes wait for nodes at random places: each run of 65,536
  // nodes that is not kept costs some ten milliseconds when it is needed.
  size_t dependency_cache_bytes = kDependencyCacheBytes;
};
// `reader` must outlive the source. Takes dependency_cache_bytes, 10 MB of nodes, and
// what the reader takes.
std::unique_ptr<NodeSource> NewReaderSource(RankReader* reader,
                                            const ReaderSourceOptions& options = {});

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_FEED_NODE_SOURCE_H_
