// Walks the values of a JsonWindow.
#ifndef CHAKRAD_TRACE_READERS_JSON_JSON_VALUE_H_
#define CHAKRAD_TRACE_READERS_JSON_JSON_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "trace/readers/json/json_reader.h"

namespace chakrad {

// A value as far as columns need it: strings unescaped, all else as written.
struct JsonValue {
  enum class Kind : uint8_t { kMissing, kString, kNumber, kBool, kOther };
  Kind kind = Kind::kMissing;
  // Valid as long as the window. Of a number that is NaN or Infinity, what the
  // file says.
  absl::string_view text;

  bool is_string() const { return kind == Kind::kString; }
  // Integers, in digits or as a string of digits. False when out of range or not one.
  template <typename Int>
  bool GetInt(Int* value) const {
    // Most are a few digits long.
    if (!text.empty() && text.size() <= 9) {
      uint32_t number = 0;
      const char* at = text.data();
      const char* const end = at + text.size();
      for (; at < end && *at >= '0' && *at <= '9'; ++at) {
        number = number * 10 + static_cast<uint32_t>(*at - '0');
      }
      if (at == end && (kind == Kind::kNumber || kind == Kind::kString) &&
          (sizeof(Int) >= 4 || number <= static_cast<uint32_t>(std::numeric_limits<Int>::max()))) {
        *value = static_cast<Int>(number);
        return true;
      }
    }
    return (kind == Kind::kNumber || kind == Kind::kString) && absl::SimpleAtoi(text, value);
  }
};

// A value in a window, by the number of its first token. Cheap to copy.
class JsonRef {
 public:
  JsonRef() = default;
  JsonRef(const JsonWindow* window, uint32_t token) : window_(window), token_(token) {}
  // The window's element number `i`.
  static JsonRef Element(const JsonWindow& window, size_t i) {
    return {&window, window.element_tokens[i]};
  }

  bool is_object() const { return *begin() == '{'; }
  bool is_array() const { return *begin() == '['; }
  bool is_string() const { return *begin() == '"'; }
  // As written, a string with its quotes; non-finite numbers patched.
  absl::string_view raw() const {
    const char* end = begin();
    if (is_object() || is_array()) {
      end = window_->text + window_->token_at[behind() - 1] + 1;
    } else if (is_string()) {
      end = StringEnd() + 1;
    } else {
      while (*end > ' ' && *end != ',' && *end != '}' && *end != ']') ++end;
    }
    return {begin(), static_cast<size_t>(end - begin())};
  }
  // Of a string: unescaped.
  absl::string_view text() const {
    const char* const first = begin() + 1;
    const absl::string_view text(first, static_cast<size_t>(StringEnd() - first));
    if (!window_->has_escapes || std::memchr(text.data(), '\\', text.size()) == nullptr) {
      return text;
    }
    return window_->Unescape({first, text.size() + 1});
  }
  JsonValue Take() const {
    if (is_string()) {
      for (const JsonWindow::Patch& patch : window_->patches) {
        if (window_->text + patch.at == begin()) return {JsonValue::Kind::kNumber, patch.original};
      }
      return {JsonValue::Kind::kString, text()};
    }
    const char c = *begin();
    return {c == '-' || (c >= '0' && c <= '9') ? JsonValue::Kind::kNumber
            : c == 't' || c == 'f'             ? JsonValue::Kind::kBool
                                               : JsonValue::Kind::kOther,
            raw()};
  }

 private:
  friend class JsonFields;
  friend class JsonItems;
  const char* begin() const { return window_->text + window_->token_at[token_]; }
  // A string ends with the last quote before the next token.
  const char* StringEnd() const {
    const char* end = window_->text + window_->token_at[token_ + 1] - 1;
    while (*end != '"') --end;
    return end;
  }
  uint32_t behind() const {
    return is_object() || is_array() ? window_->token_after[token_] : token_ + 1;
  }

  const JsonWindow* window_ = nullptr;
  uint32_t token_ = 0;
};

// for (JsonFields field(object); field.Next();) { field.key() ... field.value() }
class JsonFields {
 public:
  // `object.is_object()` must hold.
  explicit JsonFields(JsonRef object) : value_(object), next_(object.token_ + 1) {}
  bool Next() {
    const char c = value_.window_->text[value_.window_->token_at[next_]];
    if (c == '}') return false;
    if (c == ',') ++next_;
    value_.token_ = next_ + 2;
    next_ = value_.behind();
    return true;
  }
  absl::string_view key() const { return JsonRef(value_.window_, value_.token_ - 2).text(); }
  JsonRef value() const { return value_; }

 private:
  JsonRef value_;
  uint32_t next_;
};

// for (JsonItems item(array); item.Next();) { item.value() }
class JsonItems {
 public:
  // `array.is_array()` must hold.
  explicit JsonItems(JsonRef array) : value_(array), next_(array.token_ + 1) {}
  bool Next() {
    const char c = value_.window_->text[value_.window_->token_at[next_]];
    if (c == ']') return false;
    if (c == ',') ++next_;
    value_.token_ = next_;
    next_ = value_.behind();
    return true;
  }
  JsonRef value() const { return value_; }

 private:
  JsonRef value_;
  uint32_t next_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_JSON_JSON_VALUE_H_
