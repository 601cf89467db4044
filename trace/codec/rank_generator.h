// Rank traces for tests: hostile to a codec, or shaped like recorded ones.
#ifndef CHAKRAD_TRACE_CODEC_RANK_GENERATOR_H_
#define CHAKRAD_TRACE_CODEC_RANK_GENERATOR_H_

#include <cstdint>

#include "trace/model/trace.h"

namespace chakrad {

// Columns that fit together and are otherwise as odd as their types allow: every
// node type, edge kind and collective, ids and times over all 64 bits, unknown
// times, empty and binary strings. `groups_count` bounds CommOp::group.
RankTrace RandomRank(uint64_t seed, uint32_t nodes_count, bool cold, uint32_t groups_count);

// Like a linked recording of a training rank: host operations and kernels by turns,
// ids and times that climb, a few hundred names, about two edges a node, a cold
// block of some 60 bytes a node with text that repeats.
RankTrace RecordedLikeRank(uint64_t seed, uint32_t nodes_count, bool cold);

// `ranks_count` RandomRanks of `nodes_count` nodes, two groups, a label. Times and
// bytes stay within +-2^40, because summaries add them up.
Trace RandomTrace(uint64_t seed, int32_t ranks_count, uint32_t nodes_count);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_RANK_GENERATOR_H_
