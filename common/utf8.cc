#include "common/utf8.h"

#include <cstdint>

namespace chakrad {
namespace {

// Bytes of the valid sequence at the front of `text` (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF); 0 when there is none.
size_t SequenceBytes(absl::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto continues = [&byte](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) >= 0xA0) return 0;
    return 3;
  }
  if (first >= 0xF0 && first < 0xF5) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) >= 0x90) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

std::string ValidUtf8(absl::string_view text, size_t max_bytes) {
  std::string valid;
  while (!text.empty()) {
    const size_t bytes = SequenceBytes(text);
    const absl::string_view part = bytes == 0 ? absl::string_view("?") : text.substr(0, bytes);
    if (valid.size() + part.size() > max_bytes) break;
    valid.append(part.data(), part.size());
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return valid;
}

}  // namespace chakrad
