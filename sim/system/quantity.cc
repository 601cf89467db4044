#include "sim/system/quantity.h"

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace chakrad {
namespace {

// value = number * times / over: one of the two is 1, so that there is one rounding.
struct Unit {
  const char* name;
  double times;
  double over;
};

constexpr double kKi = 1024;
constexpr Unit kTimeUnits[] = {
    {"ps", 1, 1e3}, {"ns", 1, 1}, {"us", 1e3, 1}, {"ms", 1e6, 1}, {"s", 1e9, 1}};
constexpr Unit kBytesUnits[] = {{"B", 1, 1},
                                {"kB", 1e3, 1},
                                {"MB", 1e6, 1},
                                {"GB", 1e9, 1},
                                {"TB", 1e12, 1},
                                {"KiB", kKi, 1},
                                {"MiB", kKi* kKi, 1},
                                {"GiB", kKi* kKi* kKi, 1},
                                {"TiB", kKi* kKi* kKi* kKi, 1}};
constexpr Unit kBandwidthUnits[] = {{"B/s", 1, 1e9},
                                    {"kB/s", 1, 1e6},
                                    {"MB/s", 1, 1e3},
                                    {"GB/s", 1, 1},
                                    {"TB/s", 1e3, 1},
                                    {"KiB/s", kKi, 1e9},
                                    {"MiB/s", kKi* kKi, 1e9},
                                    {"GiB/s", kKi* kKi* kKi, 1e9},
                                    {"TiB/s", kKi* kKi* kKi* kKi, 1e9},
                                    {"bit/s", 1, 8e9},
                                    {"kbit/s", 1, 8e6},
                                    {"Mbit/s", 1, 8e3},
                                    {"Gbit/s", 1, 8},
                                    {"Tbit/s", 1e3, 8}};
constexpr Unit kComputeRateUnits[] = {{"FLOP/s", 1, 1e9},
                                      {"MFLOP/s", 1, 1e3},
                                      {"GFLOP/s", 1, 1},
                                      {"TFLOP/s", 1e3, 1},
                                      {"PFLOP/s", 1e6, 1}};

std::vector<Unit> UnitsOf(QuantityKind kind) {
  switch (kind) {
    case QuantityKind::kTime:
      return {std::begin(kTimeUnits), std::end(kTimeUnits)};
    case QuantityKind::kBytes:
      return {std::begin(kBytesUnits), std::end(kBytesUnits)};
    case QuantityKind::kBandwidth:
      return {std::begin(kBandwidthUnits), std::end(kBandwidthUnits)};
    case QuantityKind::kComputeRate:
      return {std::begin(kComputeRateUnits), std::end(kComputeRateUnits)};
  }
  return {};
}

// The length of the decimal number that `text` begins with: digits, one point, an exponent.
size_t NumberLength(absl::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[at]))) ++at;
    return at > begin;
  };
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  bool any = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    any = digits() || any;
  }
  if (!any) return 0;
  const size_t mantissa_end = at;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (!digits()) return mantissa_end;
  }
  return at;
}

}  // namespace

std::string QuantityUnits(QuantityKind kind) {
  return absl::StrJoin(UnitsOf(kind), ", ",
                       [](std::string* out, const Unit& unit) { out->append(unit.name); });
}

absl::StatusOr<double> ParseQuantity(QuantityKind kind, absl::string_view text) {
  const auto fault = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(
        text.substr(0, 60), " ", what, ": write a number and one of ", QuantityUnits(kind)));
  };
  const absl::string_view trimmed = absl::StripAsciiWhitespace(text);
  const size_t length = NumberLength(trimmed);
  const absl::string_view name = absl::StripAsciiWhitespace(trimmed.substr(length));
  double number = 0;
  if (length == 0 || !absl::SimpleAtod(trimmed.substr(0, length), &number)) {
    return fault("is not a number with a unit");
  }
  if (name.empty()) return fault("has no unit");
  for (const Unit& unit : UnitsOf(kind)) {
    if (name != unit.name) continue;
    const double value = number * unit.times / unit.over;
    if (!std::isfinite(value)) return fault("is not finite");
    return value;
  }
  return fault("has a unit that is not known here");
}

}  // namespace chakrad
