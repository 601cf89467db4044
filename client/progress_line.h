// A progress bar on one line of a terminal; nothing elsewhere.
#ifndef CHAKRAD_CLIENT_PROGRESS_LINE_H_
#define CHAKRAD_CLIENT_PROGRESS_LINE_H_

#include <chrono>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"

namespace chakrad::client {

// Not thread-safe.
class ProgressLine {
 public:
  // Draws only when `is_terminal`. `out` must outlive this.
  ProgressLine(std::ostream* out, bool is_terminal) : out_(*out), is_terminal_(is_terminal) {}
  ~ProgressLine() { Clear(); }

  // "[#####-----]  50 % TEXT", at most ten times a second; the full bar always.
  void Draw(int64_t done, int64_t whole, absl::string_view text);
  // Removes the line, so that a result starts on an empty one.
  void Clear();

 private:
  std::ostream& out_;
  const bool is_terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_draw_{};
};

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_PROGRESS_LINE_H_
