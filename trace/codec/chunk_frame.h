// A chunk as stored: one version byte, one kind byte, one zstd frame.
#ifndef CHAKRAD_TRACE_CODEC_CHUNK_FRAME_H_
#define CHAKRAD_TRACE_CODEC_CHUNK_FRAME_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

// Raised when the content of a kind changes its meaning.
inline constexpr char kChunkVersion = 1;

// What a chunk holds: a message of chunk.proto, or plain bytes.
enum class ChunkKind : uint8_t {
  kNodes = 1,          // NodeWindow
  kEdges = 2,          // EdgeWindow
  kGaps = 3,           // GapWindow
  kQueues = 4,         // QueueTable
  kComm = 5,           // CommWindow
  kWorkSize = 6,       // WorkSizeWindow
  kGroups = 7,         // GroupWindow
  kStringLengths = 8,  // LengthWindow
  kStringBytes = 9,    // Bytes of the strings, joined.
  kColdLengths = 10,   // LengthWindow
  kColdBytes = 11,     // Bytes of the cold blocks, joined.
  kFileCold = 12,      // Bytes of RankTrace::file_cold.
  kStrings = 13,       // StringWindow
};
inline constexpr ChunkKind kLastChunkKind = ChunkKind::kStrings;
inline constexpr bool IsCold(ChunkKind kind) {
  return kind == ChunkKind::kColdLengths || kind == ChunkKind::kColdBytes ||
         kind == ChunkKind::kFileCold;
}

// Bytes that a chunk takes once decompressed, as it claims: at most kMaxChunkRawBytes.
// DATA_LOSS when it does not begin like a chunk, or claims more. O(1).
absl::StatusOr<size_t> ClaimedRawBytes(absl::string_view stored);
// The kind that a chunk names, unchecked; `stored` has at least two bytes.
inline ChunkKind KindOfChunk(absl::string_view stored) { return static_cast<ChunkKind>(stored[1]); }

// Both directions keep their zstd context, which costs more than a small chunk.
// Not thread-safe.
class ChunkFramer {
 public:
  ChunkFramer();
  ~ChunkFramer();

  // INVALID_ARGUMENT when `raw` is above kMaxChunkRawBytes.
  absl::StatusOr<std::string> Pack(ChunkKind kind, absl::string_view raw);

  struct Unpacked {
    ChunkKind kind;
    absl::string_view raw;  // Until the next call of Unpack.
  };
  // DATA_LOSS for bytes that are not such a chunk; never allocates more than
  // kMaxChunkRawBytes for them, and keeps that for the next.
  absl::StatusOr<Unpacked> Unpack(absl::string_view stored);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
  std::string buffer_;  // As large as the largest chunk unpacked: new pages cost more than zstd.
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_CHUNK_FRAME_H_
