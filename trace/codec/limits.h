// Bounds of the trace codec, with unit and reason.
#ifndef CHAKRAD_TRACE_CODEC_LIMITS_H_
#define CHAKRAD_TRACE_CODEC_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace chakrad {

// Nodes, edges and table rows are cut into windows of this many. A window of
// nodes takes about 1 MiB before zstd, at worst 4.3 MiB.
inline constexpr size_t kWindowRows = 65'536;
// Strings and cold blocks are cut into windows of this many bytes before zstd.
inline constexpr size_t kWindowBytes = 1 << 20;
// Runs of strings end where the strings say so, so that tables that are mostly
// equal share most runs: this many bytes, in the mean, after a run has reached the
// smaller size (zstd needs some text to work on; a chunk costs about 100 bytes of
// records), and at the latest when it has the larger one.
inline constexpr uint32_t kStringRunCutBytes = 4 << 10;
inline constexpr size_t kStringRunMinBytes = 4 << 10;
inline constexpr size_t kStringRunMaxBytes = 256 << 10;
// Decoded chunks that a RankReader keeps unless told otherwise: two windows of
// nodes with all that belongs to them.
inline constexpr size_t kReaderCacheBytes = 24 << 20;
// The most that one chunk may claim to hold once decompressed: twice the worst
// window, and what a damaged chunk can make a reader allocate.
inline constexpr size_t kMaxChunkRawBytes = 8 << 20;
// Nodes, and half the edges, for which a decoder reserves columns because a rank's header says
// that they come: 110 MB, of which what stays empty takes addresses only.
inline constexpr size_t kReservedRows = 2 << 20;
// Level 3 is zstd's own default: higher levels gain a few percent on varint
// columns and cost several times the encoding time.
inline constexpr int kZstdLevel = 3;

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_LIMITS_H_
