// Byte sources and bytes for the readers' tests.
#ifndef CHAKRAD_TRACE_READERS_TESTING_SOURCES_H_
#define CHAKRAD_TRACE_READERS_TESTING_SOURCES_H_

#include <zlib.h>

#include <string>

#include "absl/strings/string_view.h"
#include "trace/readers/byte_source.h"

namespace chakrad {

// Hands out at most `piece_bytes` at a time, so that every boundary falls
// somewhere inside.
class PiecewiseSource final : public ByteSource {
 public:
  PiecewiseSource(absl::string_view bytes, size_t piece_bytes)
      : bytes_(bytes), piece_bytes_(piece_bytes) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    const absl::string_view piece =
        bytes_.substr(next_, capacity < piece_bytes_ ? capacity : piece_bytes_);
    piece.copy(buffer, piece.size());
    next_ += piece.size();
    return piece.size();
  }
  int64_t offset() const override { return static_cast<int64_t>(next_); }

 private:
  absl::string_view bytes_;
  size_t piece_bytes_;
  size_t next_ = 0;
};

inline std::string Gzip(absl::string_view text) {
  z_stream stream = {};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// All bytes of a source, in reads of `piece_bytes`.
inline absl::StatusOr<std::string> ReadAll(ByteSource* source, size_t piece_bytes = 7) {
  std::string all, piece(piece_bytes, '\0');
  while (true) {
    const absl::StatusOr<size_t> count = source->Read(piece.data(), piece.size());
    if (!count.ok()) return count.status();
    if (*count == 0) return all;
    all.append(piece, 0, *count);
  }
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_TESTING_SOURCES_H_
