#include "storage/quantity_text.h"

#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace chakrad {
namespace {

// A date or time of day never needs more.
constexpr size_t kMaxQuantityBytes = 64;

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// Takes "12" or "1.5" from the front; none when there is no such number.
std::optional<double> TakeNumber(absl::string_view* text) {
  size_t length = 0;
  while (length < text->size() && (IsDigit((*text)[length]) || (*text)[length] == '.')) ++length;
  double number = 0;
  if (length == 0 || !absl::SimpleAtod(text->substr(0, length), &number)) return std::nullopt;
  text->remove_prefix(length);
  return number;
}

absl::string_view TakeLetters(absl::string_view* text) {
  size_t length = 0;
  while (length < text->size() &&
         absl::ascii_isalpha(static_cast<unsigned char>((*text)[length]))) {
    ++length;
  }
  const absl::string_view letters = text->substr(0, length);
  text->remove_prefix(length);
  return letters;
}

// 2^63, the first double that int64_t does not hold.
constexpr double kInt64End = 9223372036854775808.0;

std::optional<int64_t> Truncated(double number) {
  if (!(std::abs(number) < kInt64End)) return std::nullopt;
  return static_cast<int64_t>(number);
}

template <size_t kCount>
std::optional<double> FactorOf(const std::array<std::pair<const char*, double>, kCount>& units,
                               absl::string_view unit) {
  for (const auto& [name, factor] : units) {
    if (unit == name) return factor;
  }
  return std::nullopt;
}

constexpr std::array<std::pair<const char*, double>, 8> kDurationUnits{{{"w", 7 * 86400e9},
                                                                        {"d", 86400e9},
                                                                        {"h", 3600e9},
                                                                        {"m", 60e9},
                                                                        {"s", 1e9},
                                                                        {"ms", 1e6},
                                                                        {"us", 1e3},
                                                                        {"ns", 1}}};
constexpr double kKi = 1024;
constexpr std::array<std::pair<const char*, double>, 12> kSizeUnits{
    {{"", 1},
     {"B", 1},
     {"KiB", kKi},
     {"MiB", kKi* kKi},
     {"GiB", kKi* kKi* kKi},
     {"TiB", kKi* kKi* kKi* kKi},
     {"PiB", kKi* kKi* kKi* kKi* kKi},
     {"KB", 1e3},
     {"MB", 1e6},
     {"GB", 1e9},
     {"TB", 1e12},
     {"PB", 1e15}}};

}  // namespace

std::optional<int64_t> ParseDurationNs(absl::string_view text) {
  if (text.size() > kMaxQuantityBytes) return std::nullopt;
  const bool negative = absl::ConsumePrefix(&text, "-");
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  // Whole parts are added as integers: 2^53 ns are only 104 days.
  int64_t total_ns = 0;
  while (!text.empty()) {
    size_t digits = 0;
    while (digits < text.size() && IsDigit(text[digits])) ++digits;
    int64_t whole = 0;
    const bool has_whole = absl::SimpleAtoi(text.substr(0, digits), &whole);
    const bool is_whole = has_whole && digits < text.size() && text[digits] != '.';
    const std::optional<double> number = TakeNumber(&text);
    if (!number.has_value()) return std::nullopt;
    const std::optional<double> factor = FactorOf(kDurationUnits, TakeLetters(&text));
    if (!factor.has_value()) return std::nullopt;
    int64_t part_ns = 0;
    if (is_whole) {
      if (__builtin_mul_overflow(whole, static_cast<int64_t>(*factor), &part_ns)) {
        return std::nullopt;
      }
    } else {
      const std::optional<int64_t> part = Truncated(*number * *factor);
      if (!part.has_value()) return std::nullopt;
      part_ns = *part;
    }
    if (__builtin_add_overflow(total_ns, part_ns, &total_ns)) return std::nullopt;
  }
  return negative ? -total_ns : total_ns;
}

std::string DurationText(int64_t duration_ns) {
  if (duration_ns == 0) return "0";
  std::string text = duration_ns < 0 ? "-" : "";
  uint64_t rest_ns = duration_ns < 0 ? ~static_cast<uint64_t>(duration_ns) + 1
                                     : static_cast<uint64_t>(duration_ns);
  for (const auto& [unit, factor] : kDurationUnits) {
    const uint64_t unit_ns = static_cast<uint64_t>(factor);
    if (absl::string_view(unit) == "w" || rest_ns < unit_ns) continue;  // "30d", not "4w2d".
    absl::StrAppend(&text, rest_ns / unit_ns, unit);
    rest_ns %= unit_ns;
  }
  return text;
}

std::string SizeText(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  double size = static_cast<double>(bytes);
  while (std::abs(size) >= kKi && unit + 1 < std::size(kUnits)) {
    size /= kKi;
    ++unit;
  }
  return size == std::floor(size) ? absl::StrFormat("%.0f%s", size, kUnits[unit])
                                  : absl::StrFormat("%.1f%s", size, kUnits[unit]);
}

std::optional<int64_t> ParseSizeBytes(absl::string_view text) {
  if (text.size() > kMaxQuantityBytes) return std::nullopt;
  int64_t bytes = 0;
  if (!text.empty() && IsDigit(text[0]) && absl::SimpleAtoi(text, &bytes)) return bytes;
  const std::optional<double> number = TakeNumber(&text);
  if (!number.has_value()) return std::nullopt;
  const std::optional<double> factor =
      FactorOf(kSizeUnits, absl::StripLeadingAsciiWhitespace(text));
  if (!factor.has_value()) return std::nullopt;
  return Truncated(*number * *factor);
}

std::optional<int64_t> ParseTimeUnixNs(absl::string_view text) {
  // absl also reads "infinite-future", years of any length and blanks around.
  if (text.size() < 10 || text.size() > kMaxQuantityBytes) return std::nullopt;
  for (size_t i = 0; i < 4; ++i) {
    if (!IsDigit(text[i])) return std::nullopt;
  }
  if (text[4] != '-' || absl::ascii_isspace(static_cast<unsigned char>(text.back()))) {
    return std::nullopt;
  }
  absl::Time time;
  const char* form = text.size() == 10 ? "%Y-%m-%d" : absl::RFC3339_full;
  if (!absl::ParseTime(form, text, &time, nullptr)) return std::nullopt;
  const int64_t unix_ns = absl::ToUnixNanos(time);
  // Beyond 1677 to 2262 nanoseconds do not fit.
  if (absl::FromUnixNanos(unix_ns) > time ||
      time - absl::FromUnixNanos(unix_ns) >= absl::Nanoseconds(1)) {
    return std::nullopt;
  }
  return unix_ns;
}

std::string TimeText(int64_t unix_ns) {
  return absl::FormatTime(absl::RFC3339_full, absl::FromUnixNanos(unix_ns), absl::UTCTimeZone());
}

std::optional<double> ParsePlainNumber(absl::string_view text) {
  const bool negative = absl::ConsumePrefix(&text, "-");
  if (text.empty() || text.size() > 16 || !IsDigit(text[0]) || !IsDigit(text.back())) {
    return std::nullopt;
  }
  int64_t digits = 0;
  double scale = 1;
  int digits_count = 0;
  bool has_point = false;
  for (const char c : text) {
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (!IsDigit(c) || ++digits_count > 15) return std::nullopt;
    digits = 10 * digits + (c - '0');
    if (has_point) scale *= 10;
  }
  // Both are whole numbers below 2^53: the quotient is the nearest double.
  const double number = static_cast<double>(digits) / scale;
  return negative && digits != 0 ? -number : number;
}

}  // namespace chakrad
