// A rank trace as chunks, and back. Chunks do not name the rank: ranks that
// recorded the same have the same chunks. chunk.proto says what each holds.
#ifndef CHAKRAD_TRACE_CODEC_RANK_CODEC_H_
#define CHAKRAD_TRACE_CODEC_RANK_CODEC_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/codec/rank_index.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

RankHeader HeaderOf(const RankTrace& rank);

// Calls `sink` with what each chunk holds and the chunk as stored, in the order in which a decoder
// wants them, cold ones last; stops at its first error. INVALID_ARGUMENT: one process group is too
// large for a chunk. `rank` must pass CheckRankColumns. Holds one chunk at a time. O(nodes + edges
// + bytes).
using ChunkSink = std::function<absl::Status(const ChunkSpan& span, absl::string_view stored)>;
absl::Status EncodeRank(const RankTrace& rank, const ChunkSink& sink);

// Puts a rank together again. Any bytes may be added: what does not decode, or
// does not fit together, is DATA_LOSS, and each chunk added takes at most 100 times
// kMaxChunkRawBytes (a chunk of nothing but empty groups). Not thread-safe.
class RankDecoder {
 public:
  explicit RankDecoder(RankHeader header);
  ~RankDecoder();
  // `stored` is the next chunk in EncodeRank's order; cold ones may be left out
  // altogether.
  absl::Status Add(absl::string_view stored);
  // The same of a chunk that an index describes. DATA_LOSS also where it is not what
  // `claimed` says, or has more rows than a window: a RankReader would refuse it, or miss
  // what is in it.
  absl::Status Add(absl::string_view stored, const ChunkSpan& claimed);
  // From here on cold chunks are checked as ever, but of cold blocks only those are kept that
  // `wanted` names, given the rank's nodes and edges: an entry a node. Finish gives all others,
  // and the file's, as empty ones. Call before the first cold chunk; those must come in
  // EncodeRank's order then.
  using ColdFilter = std::function<std::vector<bool>(const RankTrace& rank)>;
  void KeepCold(ColdFilter wanted);
  // The rank trace, columns checked against `groups_count` groups. Without
  // `with_cold`, its cold block is empty. Call once.
  absl::StatusOr<RankTrace> Finish(bool with_cold, size_t groups_count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_RANK_CODEC_H_
