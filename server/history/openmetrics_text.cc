#include "server/history/openmetrics_text.h"

#include <array>
#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/check.h"
#include "common/utf8.h"
#include "server/series/series_labels.h"

namespace chakrad {
namespace {

void AppendEscaped(absl::string_view text, std::string* out) {
  for (const char c : text) {
    switch (c) {
      case '\\':
        *out += "\\\\";
        break;
      case '"':
        *out += "\\\"";
        break;
      case '\n':
        *out += "\\n";
        break;
      default:
        *out += c;
    }
  }
}

}  // namespace

std::string FamilyHeaderText(const MetricFamily& family) {
  std::string text = absl::StrCat("# TYPE ", family.name, " gauge\n");
  for (const absl::string_view unit : {"bytes_per_second", "seconds", "bytes", "ratio"}) {
    if (!absl::EndsWith(family.name, absl::StrCat("_", unit))) continue;
    absl::StrAppend(&text, "# UNIT ", family.name, " ", unit, "\n");
    break;
  }
  absl::StrAppend(&text, "# HELP ", family.name, " ");
  AppendEscaped(family.help, &text);
  text += '\n';
  return text;
}

std::string SeriesText(const SeriesKey& key, const MetricSample& sample) {
  std::string text(FamilyOf(sample.id).name);
  char before = '{';
  for (const SeriesLabel& label : LabelsOf(key, sample)) {
    text += before;
    absl::StrAppend(&text, label.name, "=\"");
    AppendEscaped(ValidUtf8(label.value), &text);
    text += '"';
    before = ',';
  }
  if (before == ',') text += '}';
  return text;
}

std::string NumberText(double value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  CHECK(error == std::errc());
  return std::string(buffer.data(), end);
}

std::string TimestampText(int64_t unix_ms) {
  const absl::string_view sign = unix_ms < 0 ? "-" : "";
  const uint64_t ms =
      unix_ms < 0 ? -static_cast<uint64_t>(unix_ms) : static_cast<uint64_t>(unix_ms);
  if (ms % 1'000 == 0) return absl::StrCat(sign, ms / 1'000);
  // The double that is nearest to the text, as every reader has it.
  const double seconds = static_cast<double>(unix_ms) / 1'000;
  const bool cut_off = static_cast<int64_t>(seconds * 1'000) != unix_ms;
  return absl::StrFormat("%s%d.%03d%s", sign, ms / 1'000, ms % 1'000, cut_off ? "2" : "");
}

}  // namespace chakrad
