#include "trace/writers/json_text.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_format.h"
#include "common/utf8.h"

namespace chakrad {
namespace {

template <typename Number>
void AppendShortest(Number value, std::string* json) {
  if (std::isnan(value)) {
    *json += "\"NaN\"";
  } else if (std::isinf(value)) {
    *json += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else if (value == 0) {
    // "-0" would be read as an integer, which has no sign of zero.
    *json += std::signbit(value) ? "-0.0" : "0";
  } else {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    json->append(digits, end);
  }
}

// Escapes what JSON wants escaped; the text is valid UTF-8.
void AppendEscaped(absl::string_view text, std::string* json) {
  json->push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        *json += "\\\"";
        break;
      case '\\':
        *json += "\\\\";
        break;
      case '\n':
        *json += "\\n";
        break;
      case '\r':
        *json += "\\r";
        break;
      case '\t':
        *json += "\\t";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20) {
          absl::StrAppendFormat(json, "\\u%04x", static_cast<unsigned>(c));
        } else {
          json->push_back(c);
        }
    }
  }
  json->push_back('"');
}

}  // namespace

void AppendJsonString(absl::string_view text, std::string* json) {
  for (const char c : text) {
    if (static_cast<uint8_t>(c) >= 0x80) return AppendEscaped(ValidUtf8(text), json);
  }
  AppendEscaped(text, json);
}

void AppendJsonDouble(double value, std::string* json) { AppendShortest(value, json); }

void AppendJsonFloat(float value, std::string* json) {
  const size_t begin = json->size();
  AppendShortest(value, json);
  double wide = 0;
  const auto read = std::from_chars(json->data() + begin, json->data() + json->size(), wide);
  if (!std::isfinite(value) || (read.ec == std::errc() && static_cast<float>(wide) == value))
    return;
  json->resize(begin);
  AppendShortest(static_cast<double>(value), json);
}

}  // namespace chakrad
