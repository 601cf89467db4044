// The part of a text that is being looked at.
#ifndef CHAKRAD_TRACE_READERS_REPAIR_TEXT_WINDOW_H_
#define CHAKRAD_TRACE_READERS_REPAIR_TEXT_WINDOW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/status.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/limits.h"

namespace chakrad {

inline bool IsSpace(int c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Not thread-safe.
class TextWindow {
 public:
  explicit TextWindow(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // What is here of the text from position() on. Valid until Grow or Pass.
  absl::string_view rest() const { return absl::string_view(text_).substr(begin_); }
  // The same, to be changed.
  char* mutable_rest() { return text_.data() + begin_; }
  int64_t position() const { return position_; }
  // Nothing comes behind rest().
  bool ended() const { return ended_; }
  // Why the text ended before its source did; OK when it did not.
  const absl::Status& cut_off() const { return cut_off_; }

  // Reads more, as much again as is here. Compressed data that is cut off or
  // damaged is an end.
  absl::Status Grow() {
    text_.erase(0, std::exchange(begin_, 0));
    const size_t size = text_.size();
    const size_t wanted = std::max<size_t>(size, kReadBytes);
    text_.resize(size + wanted);
    size_t got = 0;
    while (got < wanted && !ended_) {
      const absl::StatusOr<size_t> count = source_->Read(text_.data() + size + got, wanted - got);
      if (count.status().code() == absl::StatusCode::kInvalidArgument) {
        cut_off_ = count.status();
        ended_ = true;
      } else if (!count.ok()) {
        return count.status();
      } else {
        got += *count;
        ended_ = *count == 0;
      }
    }
    text_.resize(size + got);
    return absl::OkStatus();
  }

  // The byte `at` behind position(), after reading more if need be; -1 at the end.
  absl::StatusOr<int> Peek(size_t at = 0) {
    while (begin_ + at >= text_.size()) {
      if (ended_) return -1;
      RETURN_IF_ERROR(Grow());
    }
    return static_cast<uint8_t>(text_[begin_ + at]);
  }

  // The same behind white space from `*at` on, which moves to it. Of more than
  // kMaxSpaceBytes the rest is taken for something else.
  absl::StatusOr<int> PeekBehindSpace(size_t* at) {
    const size_t limit = *at + kMaxSpaceBytes;
    while (true) {
      ASSIGN_OR_RETURN(const int c, Peek(*at));
      if (!IsSpace(c) || ++*at > limit) return c;
    }
  }

  void Pass(size_t bytes) {
    begin_ += bytes;
    position_ += static_cast<int64_t>(bytes);
  }

 private:
  static constexpr size_t kMaxSpaceBytes = 16 << 20;
  std::unique_ptr<ByteSource> source_;
  std::string text_;
  size_t begin_ = 0;  // Of rest() in text_.
  int64_t position_ = 0;
  bool ended_ = false;
  absl::Status cut_off_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_REPAIR_TEXT_WINDOW_H_
