// Reading one value of a JsonWindow with simdjson. For .cc files only: it
// includes simdjson.
#ifndef CHAKRAD_TRACE_READERS_JSON_JSON_VALUE_H_
#define CHAKRAD_TRACE_READERS_JSON_JSON_VALUE_H_

#include <simdjson.h>

#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "trace/readers/json/json_reader.h"

namespace chakrad {

// A value as far as columns need it: strings unescaped, all else as written.
struct JsonValue {
  enum class Kind : uint8_t { kMissing, kString, kNumber, kBool, kOther };
  Kind kind = Kind::kMissing;
  // Valid until the window's parser starts on another one. Of a number that is
  // NaN or Infinity, what the file says.
  absl::string_view text;

  bool is_string() const { return kind == Kind::kString; }
  // Integers, in digits or as a string of digits. False when out of range or not one.
  template <typename Int>
  bool GetInt(Int* value) const {
    return (kind == Kind::kNumber || kind == Kind::kString) && absl::SimpleAtoi(text, value);
  }
};

// `window` may be null when the text was not patched.
inline JsonValue TakeJsonValue(simdjson::ondemand::value value, const JsonWindow* window) {
  using simdjson::ondemand::json_type;
  JsonValue taken;
  json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return taken;
  if (type == json_type::string) {
    const char* at = value.raw_json_token().data();
    if (window != nullptr) {
      for (const JsonWindow::Patch& patch : window->patches) {
        if (window->text + patch.at != at) continue;
        taken.kind = JsonValue::Kind::kNumber;
        taken.text = patch.original;
        return taken;
      }
    }
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) return taken;
    taken.kind = JsonValue::Kind::kString;
    taken.text = absl::string_view(text.data(), text.size());
    return taken;
  }
  std::string_view text;
  if (simdjson::to_json_string(value).get(text) != simdjson::SUCCESS) return taken;
  taken.text = absl::string_view(text.data(), text.size());
  taken.kind = type == json_type::number    ? JsonValue::Kind::kNumber
               : type == json_type::boolean ? JsonValue::Kind::kBool
                                            : JsonValue::Kind::kOther;
  return taken;
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_JSON_JSON_VALUE_H_
