// The bytes of a document that are being looked at, and where they lie in it.
#ifndef CHAKRAD_TRACE_READERS_JSON_JSON_BUFFER_H_
#define CHAKRAD_TRACE_READERS_JSON_JSON_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

class ByteSource;

// Positions are offsets in the uncompressed document. Not thread-safe.
class JsonBuffer {
 public:
  explicit JsonBuffer(ByteSource* source);

  int64_t position() const { return begin_ + static_cast<int64_t>(next_ - kHeadroom); }
  // The byte at position(), after reading more if need be; -1 at the end.
  absl::StatusOr<int> Peek();
  void Advance() { ++next_; }
  // The same after white space.
  absl::StatusOr<int> PeekAfterSpace();
  // Reads on until `want` bytes lie from position() on, or the document ends;
  // returns how many there are. With Keep(position()), all stay.
  absl::StatusOr<size_t> Fill(size_t want);
  void MoveTo(int64_t position) { next_ = kHeadroom + static_cast<size_t>(position - begin_); }
  // Moves position() past the value that starts there: a string, a number or
  // word, or brackets that balance. Contents are not checked.
  absl::Status PassValue();

  // Nothing at or after `position` is thrown away until the next Keep; -1: all may go.
  void Keep(int64_t position) { keep_ = position; }
  // Bytes [from, to), which must have been kept. One byte before and
  // kJsonPadding behind may be written over, if they have been passed.
  char* At(int64_t position) { return data_.data() + kHeadroom + (position - begin_); }
  absl::string_view Bytes(int64_t from, int64_t to) {
    return {At(from), static_cast<size_t>(to - from)};
  }
  // Bytes that may be read from `position` on.
  size_t ReadableFrom(int64_t position) { return data_.data() + data_.size() - At(position); }

  absl::Status Error(int64_t position, absl::string_view reason);

 private:
  static constexpr size_t kHeadroom = 1;
  // Reads more; false at the end of the document.
  absl::StatusOr<bool> Refill();
  absl::Status PassContainer(int64_t start);
  // `start`: of the value that the string is or lies in.
  absl::Status PassString(int64_t start);
  // The reason why a value that starts at `start` never ends.
  absl::Status CutOff(int64_t start);

  ByteSource* source_;
  absl::Status read_error_;  // Of the source: it stays.
  std::vector<char> data_;
  size_t next_ = kHeadroom;   // Index of position() in data_.
  size_t end_ = kHeadroom;    // Index behind the last byte read.
  int64_t begin_ = 0;         // Position of data_[kHeadroom].
  int64_t lines_before_ = 0;  // Line ends before begin_.
  int64_t keep_ = -1;
};

// Bytes behind a text that simdjson may read.
inline constexpr size_t kJsonPadding = 64;

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_JSON_JSON_BUFFER_H_
