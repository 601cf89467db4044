// Text or bytes handed on in pieces, so that no writer holds a whole file.
#ifndef CHAKRAD_TRACE_WRITERS_PIECES_H_
#define CHAKRAD_TRACE_WRITERS_PIECES_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakrad {

// Where a writer's bytes go; may end the writing with its own error.
using ByteSink = std::function<absl::Status(absl::string_view)>;

// Not thread-safe. Append to text(), then call Passed() after each record.
class Pieces {
 public:
  // `sink` must outlive this.
  explicit Pieces(const ByteSink& sink) : sink_(sink) {}
  std::string& text() { return text_; }
  // Hands on what has gathered, if it is enough to be worth a call.
  absl::Status Passed() { return text_.size() < kPieceBytes ? absl::OkStatus() : Flush(); }
  absl::Status Flush() {
    if (text_.empty()) return absl::OkStatus();
    const absl::Status status = sink_(text_);
    text_.clear();
    return status;
  }

 private:
  static constexpr size_t kPieceBytes = 256 << 10;
  const ByteSink& sink_;
  std::string text_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_PIECES_H_
