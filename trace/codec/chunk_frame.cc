#include "trace/codec/chunk_frame.h"

#include <zstd.h>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status.h"
#include "trace/codec/limits.h"

namespace chakrad {
namespace {

constexpr size_t kHeaderBytes = 2;

}  // namespace

struct ChunkFramer::Contexts {
  ZSTD_CCtx* compress = ZSTD_createCCtx();
  ZSTD_DCtx* decompress = ZSTD_createDCtx();
  ~Contexts() {
    ZSTD_freeCCtx(compress);
    ZSTD_freeDCtx(decompress);
  }
};

ChunkFramer::ChunkFramer() : contexts_(std::make_unique<Contexts>()) {
  CHECK(contexts_->compress != nullptr && contexts_->decompress != nullptr);
}

ChunkFramer::~ChunkFramer() = default;

absl::StatusOr<std::string> ChunkFramer::Pack(ChunkKind kind, absl::string_view raw) {
  if (raw.size() > kMaxChunkRawBytes) {
    return absl::InvalidArgumentError(absl::StrCat("chunk of kind ", static_cast<int>(kind), ": ",
                                                   raw.size(), " bytes, above the limit of ",
                                                   kMaxChunkRawBytes));
  }
  std::string stored(kHeaderBytes + ZSTD_compressBound(raw.size()), '\0');
  stored[0] = kChunkVersion;
  stored[1] = static_cast<char>(kind);
  const size_t frame_bytes =
      ZSTD_compressCCtx(contexts_->compress, &stored[kHeaderBytes], stored.size() - kHeaderBytes,
                        raw.data(), raw.size(), kZstdLevel);
  CHECK(!ZSTD_isError(frame_bytes)) << ZSTD_getErrorName(frame_bytes);
  stored.resize(kHeaderBytes + frame_bytes);
  return stored;
}

absl::StatusOr<size_t> ClaimedRawBytes(absl::string_view stored) {
  if (stored.size() < kHeaderBytes || stored[0] != kChunkVersion) {
    return absl::DataLossError("chunk: does not begin with a known version");
  }
  const auto kind = static_cast<uint8_t>(stored[1]);
  if (kind < static_cast<uint8_t>(ChunkKind::kNodes) ||
      kind > static_cast<uint8_t>(kLastChunkKind)) {
    return absl::DataLossError(absl::StrCat("chunk: kind ", kind, " is unknown"));
  }
  stored.remove_prefix(kHeaderBytes);
  const unsigned long long raw_bytes = ZSTD_getFrameContentSize(stored.data(), stored.size());
  // The two error codes are the largest values of the type.
  if (raw_bytes > kMaxChunkRawBytes) {
    return absl::DataLossError("chunk: its frame is damaged or claims too much");
  }
  return raw_bytes;
}

absl::StatusOr<ChunkFramer::Unpacked> ChunkFramer::Unpack(absl::string_view stored) {
  ASSIGN_OR_RETURN(const size_t raw_bytes, ClaimedRawBytes(stored));
  const ChunkKind kind = KindOfChunk(stored);
  if (buffer_.size() < raw_bytes) buffer_.resize(raw_bytes);
  stored.remove_prefix(kHeaderBytes);
  const size_t got = ZSTD_decompressDCtx(contexts_->decompress, buffer_.data(), raw_bytes,
                                         stored.data(), stored.size());
  if (ZSTD_isError(got)) {
    return absl::DataLossError(absl::StrCat("chunk: ", ZSTD_getErrorName(got)));
  }
  if (got != raw_bytes) return absl::DataLossError("chunk: is shorter than its frame says");
  return Unpacked{kind, absl::string_view(buffer_.data(), raw_bytes)};
}

}  // namespace chakrad
