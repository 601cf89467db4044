// Ranks too long to hold: encoded window by window, for measurements of what reads them.
#ifndef CHAKRAD_TRACE_CODEC_LONG_RANK_H_
#define CHAKRAD_TRACE_CODEC_LONG_RANK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_index.h"

namespace chakrad {

enum class LongRankOrder : uint8_t {
  // Like a linked recording: host operations and kernels by turns, each after the one before on
  // its queue, kernels after their launch, a third of all after some node up to 50 before.
  kRecorded,
  // Each node waits for the one that comes after it: the last must be first.
  kBackwards,
  // Each node waits for one that a permutation puts before it: ends are anywhere.
  kScattered,
};

// The header of such a rank.
RankHeader LongRankHeader(LongRankOrder order, uint32_t nodes_count);
// Its hot chunks, as EncodeRank would give them. Memory: one window. O(nodes).
absl::Status EncodeLongRank(LongRankOrder order, uint32_t nodes_count, const ChunkSink& sink);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_LONG_RANK_H_
