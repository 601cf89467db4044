#include "client/progress_line.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace chakrad::client {
namespace {

constexpr int kBarWidth = 30;

}  // namespace

void ProgressLine::Draw(int64_t done, int64_t whole, absl::string_view text) {
  if (!is_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_draw_ && done < whole) return;
  next_draw_ = now + std::chrono::milliseconds(100);
  double share = whole > 0 ? static_cast<double>(done) / static_cast<double>(whole) : 0;
  share = std::clamp(share, 0.0, 1.0);
  const int filled = static_cast<int>(share * kBarWidth);
  // "\033[K" clears what a longer line left behind.
  out_ << "\r[" << std::string(filled, '#') << std::string(kBarWidth - filled, '-')
       << absl::StrFormat("] %3d %% ", static_cast<int>(share * 100)) << text << "\033[K"
       << std::flush;
  drawn_ = true;
}

void ProgressLine::Clear() {
  if (drawn_) out_ << "\r\033[K" << std::flush;
  drawn_ = false;
}

}  // namespace chakrad::client
