#include "client/quantity.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace chakrad::client {
namespace {

uint64_t PowerOf10(int exponent) {
  uint64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// Of the most negative value too, which has no int64_t counterpart.
uint64_t Magnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

std::string Decimal(bool negative, uint64_t magnitude, int digits) {
  const uint64_t scale = PowerOf10(digits);
  std::string text = absl::StrCat(negative && magnitude != 0 ? "-" : "", magnitude / scale);
  if (digits > 0) {
    const std::string fraction = absl::StrCat(magnitude % scale);
    absl::StrAppend(&text, ".", std::string(digits - fraction.size(), '0'), fraction);
  }
  return text;
}

}  // namespace

std::string FixedDecimal(int64_t value, int digits) {
  return Decimal(value < 0, Magnitude(value), digits);
}

std::string RoundedDecimal(int64_t value, int digits, int shown_digits) {
  const uint64_t magnitude = Magnitude(value);
  const uint64_t step = PowerOf10(digits - shown_digits);
  const bool up = magnitude % step >= step - step / 2 && step > 1;
  return Decimal(value < 0, magnitude / step + (up ? 1 : 0), shown_digits);
}

std::string CountText(int64_t count) {
  const std::string digits = absl::StrCat(Magnitude(count));
  std::string text = count < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string BytesText(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* larger : {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}) {
    if (value < 1024) break;
    value /= 1024;
    unit = larger;
  }
  return absl::StrFormat("%.1f %s", value, unit);
}

std::string PercentText(int64_t part, int64_t whole) {
  if (whole == 0) return "-";
  return absl::StrFormat("%.1f", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string DurationText(int64_t ps) {
  struct Unit {
    const char* name;
    int digits;  // Of picoseconds.
  };
  constexpr Unit kUnits[] = {{"s", 12}, {"ms", 9}, {"us", 6}, {"ns", 3}};
  // The magnitude, unsigned: the lowest number has no positive counterpart.
  const uint64_t magnitude = ps < 0 ? 0 - static_cast<uint64_t>(ps) : static_cast<uint64_t>(ps);
  uint64_t one = 1'000'000'000'000;
  for (const Unit& unit : kUnits) {
    if (magnitude >= one) {
      const int shown_digits = magnitude >= 100 * one ? 0 : magnitude >= 10 * one ? 1 : 2;
      return absl::StrCat(RoundedDecimal(ps, unit.digits, shown_digits), " ", unit.name);
    }
    one /= 1000;
  }
  return absl::StrCat(ps, " ps");
}

}  // namespace chakrad::client
