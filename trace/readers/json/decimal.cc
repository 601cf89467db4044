#include "trace/readers/json/decimal.h"

#include <cstddef>

#include "absl/strings/numbers.h"

namespace chakrad {
namespace {

constexpr int kMaxDigits = 36;      // 10^36 < 2^127.
constexpr int kMaxPlainScale = 18;  // 10^18 < 2^63.

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What recorders write: up to 18 digits, no exponent, no more decimal places than `scale`.
bool ParsePlain(absl::string_view text, int scale, __int128* value) {
  constexpr size_t kMaxPlainBytes = 19;
  if (text.empty() || text.size() > kMaxPlainBytes) return false;
  const char* at = text.data();
  const char* const end = at + text.size();
  uint64_t digits = 0;  // 19 of them fit, before they turn out to be one too many.
  const char* const first = at;
  for (; at < end && IsDigit(*at); ++at) digits = digits * 10 + static_cast<uint64_t>(*at - '0');
  if (at == first) return false;
  int places = 0;
  if (at < end && *at == '.') {
    const char* const point = at++;
    for (; at < end && IsDigit(*at); ++at) digits = digits * 10 + static_cast<uint64_t>(*at - '0');
    places = static_cast<int>(at - point) - 1;
  } else if (text.size() == kMaxPlainBytes) {
    return false;
  }
  if (at != end || places > scale) return false;
  int64_t factor = 1;  // At most 10^18.
  for (int i = places; i < scale; ++i) factor *= 10;
  *value = static_cast<__int128>(digits) * factor;
  return true;
}

}  // namespace

bool ParseDecimal(absl::string_view text, int scale, __int128* value, bool* exact) {
  if (scale <= kMaxPlainScale && ParsePlain(text, scale, value)) {
    if (exact != nullptr) *exact = true;
    return true;
  }
  const bool negative = !text.empty() && text[0] == '-';
  size_t i = negative ? 1 : 0;
  const size_t mantissa = i;
  while (i < text.size() && (IsDigit(text[i]) || text[i] == '.')) ++i;
  const absl::string_view digits = text.substr(mantissa, i - mantissa);
  int64_t exponent = 0;
  if (i < text.size()) {
    if (text[i] != 'e' && text[i] != 'E') return false;
    absl::string_view rest = text.substr(i + 1);
    if (!rest.empty() && rest[0] == '+') rest.remove_prefix(1);
    int32_t stated;
    if (rest.empty() || (!IsDigit(rest[0]) && rest[0] != '-') || !absl::SimpleAtoi(rest, &stated)) {
      return false;
    }
    exponent = stated;
  }
  const size_t dot = digits.find('.');
  if (dot != absl::string_view::npos && digits.find('.', dot + 1) != absl::string_view::npos) {
    return false;
  }
  // Digit k (without the dot) stands for 10^(whole - 1 - k).
  const int64_t whole =
      static_cast<int64_t>(dot == absl::string_view::npos ? digits.size() : dot) + exponent + scale;
  __int128 result = 0;
  int64_t place = whole;  // Digits that still belong before the result's point.
  bool round_up = false, left_over = false, any = false;
  int used = 0;
  for (char c : digits) {
    if (c == '.') continue;
    any = true;
    if (place > 0) {
      if (result != 0 && ++used >= kMaxDigits) return false;
      result = result * 10 + (c - '0');
    } else {
      if (place == 0) round_up = c >= '5';
      left_over |= c != '0';
    }
    --place;
  }
  if (!any) return false;
  for (; place > 0 && result != 0; --place) {
    if (++used >= kMaxDigits) return false;
    result *= 10;
  }
  if (round_up) ++result;
  *value = negative ? -result : result;
  if (exact != nullptr) *exact = !left_over;
  return true;
}

}  // namespace chakrad
