// Reads parts of one rank: a run of its nodes, or those of a time, with all that
// belongs to them, out of no more chunks than hold it. RankDecoder reads all.
#ifndef CHAKRAD_TRACE_CODEC_RANK_READER_H_
#define CHAKRAD_TRACE_CODEC_RANK_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trace/codec/limits.h"
#include "trace/codec/rank_index.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// Finds a chunk, as stored, by its hash (32 raw bytes). Its errors are the reader's.
using ChunkSource = std::function<absl::StatusOr<std::string>(const std::string& hash)>;

struct RankReaderOptions {
  // Of the table that CommOp::group indexes.
  size_t groups_count = 0;
  // Decoded chunks that are kept: see RankReader.
  size_t cache_bytes = kReaderCacheBytes;
};

// Which nodes: positions in [first, first + count), as far as there are any.
struct NodeRange {
  uint64_t first = 0;
  uint64_t count = 0;
  // Of these only nodes that run at some time in [from_ns, to_ns), from the rank's
  // base. One without a duration counts as a point; one without a start never runs.
  std::optional<int64_t> from_ns;
  std::optional<int64_t> to_ns;
};

struct RankPart {
  // Of each row: where its node is in the rank. Ascends.
  std::vector<uint32_t> position;
  // A row a node, in the columns of a RankTrace with tables of its own: `queues` are
  // the rank's, `comm`, `work_size` and `strings` what the rows use, gap_node a row.
  // Only dep_node is not local: positions in the rank, of nodes that may be elsewhere.
  // No groups, no cold block.
  RankTrace rows;
};

// Dependencies of the nodes [first, first + begin.size() - 1).
struct DependencyRun {
  uint32_t first = 0;
  // Of node first + i: dep_node[begin[i]] up to dep_node[begin[i + 1]].
  std::vector<uint32_t> begin;
  std::vector<uint32_t> dep_node;  // Positions in the rank; each is one.
};

// Nothing that an index or a chunk says is trusted: what does not fit is a Status,
// never a wrong index in what is returned. One thing cannot be seen: a chunk that is
// left out by time because its span, falsely, says that its nodes run elsewhere.
//
// Memory: options.cache_bytes of decoded chunks (a window of 65,536 nodes takes about
// 3.5 MB, its edges about as much), the chunk being decoded (about 8 MB; at most 100 MB of a
// hostile one), 100 bytes a chunk of the index, and what is returned. Not thread-safe.
class RankReader {
 public:
  // INVALID_ARGUMENT: the index's spans leave rows out, overlap, or don't fit its counts.
  // An index without spans is completed first, which reads every hot chunk once: DATA_LOSS
  // as in Read.
  static absl::StatusOr<std::unique_ptr<RankReader>> Open(RankIndex index, ChunkSource source,
                                                          RankReaderOptions options);
  ~RankReader();

  const RankHeader& header() const;

  // INVALID_ARGUMENT: first is above the number of nodes, to_ns not above from_ns.
  // DATA_LOSS: a chunk does not decode, is not what its span says, or rows of it point
  // nowhere. O(rows), and decoding each chunk that is not kept: one of nodes, and those of
  // edges, gaps, side records and strings that the rows use.
  absl::StatusOr<RankPart> Read(const NodeRange& range);

  // Only what nodes wait for: fewer chunks than Read. Errors as Read's.
  absl::StatusOr<DependencyRun> ReadDependencies(uint64_t first, uint64_t count);

 private:
  struct State;
  explicit RankReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_RANK_READER_H_
