#include "trace/readers/json/json_check.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace chakrad {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A pushdown automaton over the text; stack_ holds the open brackets.
class Checker {
 public:
  Checker(absl::string_view text, size_t max_depth, std::vector<NonFinite>* non_finite)
      : text_(text), max_depth_(max_depth), non_finite_(non_finite) {}

  // One value; what stands behind it is not looked at.
  JsonFault RunValue() {
    do {
      if (!Value() || !Close()) return fault_;
    } while (!stack_.empty());
    return fault_;
  }
  JsonFault Run() {
    if (RunValue().found) return fault_;
    SkipSpace();
    if (at_ < text_.size()) Fail("unexpected text after the value");
    return fault_;
  }
  size_t at() const { return at_; }

 private:
  bool Fail(absl::string_view reason) {
    if (fault_.found) return false;
    fault_.found = true;
    fault_.at = at_;
    fault_.at_end = at_ >= text_.size();
    fault_.reason = fault_.at_end ? "cut off" : std::string(reason);
    return false;
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  // Goes down to the next scalar or empty container, and past it.
  bool Value() {
    while (true) {
      SkipSpace();
      const char c = Peek();
      if (c == '{') {
        ++at_;
        SkipSpace();
        if (!Open('{')) return false;
        if (Peek() == '}') return true;  // Close() takes it.
        if (!Key()) return false;
      } else if (c == '[') {
        ++at_;
        SkipSpace();
        if (!Open('[')) return false;
        if (Peek() == ']') return true;
      } else {
        return c == '"' ? String() : Scalar();
      }
    }
  }

  bool Open(char bracket) {
    stack_.push_back(bracket);
    return stack_.size() <= max_depth_ || Fail("nesting is too deep");
  }

  // After a value: closes what ends here, or passes the comma to the next value.
  bool Close() {
    while (!stack_.empty()) {
      SkipSpace();
      const bool object = stack_.back() == '{';
      const char c = Peek();
      if (c == (object ? '}' : ']')) {
        ++at_;
        stack_.pop_back();
        continue;
      }
      if (c != ',') return Fail(object ? "expected ',' or '}'" : "expected ',' or ']'");
      ++at_;
      if (!object) {
        SkipSpace();
        if (Peek() == ',' || Peek() == ']') return Fail("extra comma");
        return true;
      }
      return Key();
    }
    return true;
  }

  bool Key() {
    SkipSpace();
    if (Peek() == ',' || Peek() == '}') return Fail("extra comma");
    if (Peek() != '"') return Fail("expected a key in double quotes");
    if (!String()) return false;
    SkipSpace();
    if (Peek() != ':') return Fail("expected ':' after a key");
    ++at_;
    return true;
  }

  bool Hex4(uint32_t* code) {
    *code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = Peek();
      if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return Fail("bad \\u escape");
      *code = *code * 16 + (IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
  }

  bool Escape() {
    ++at_;  // The backslash.
    const char c = Peek();
    if (c != 'u') {
      if (c == '\0' || absl::string_view("\"\\/bfnrt").find(c) == absl::string_view::npos) {
        return Fail("unknown escape in a string");
      }
      ++at_;
      return true;
    }
    ++at_;
    uint32_t code;
    if (!Hex4(&code)) return false;
    if (code >= 0xdc00 && code < 0xe000) return Fail("lone surrogate in a string");
    if (code < 0xd800 || code >= 0xe000) return true;
    if (Peek() != '\\') return Fail("lone surrogate in a string");
    ++at_;
    if (Peek() != 'u') return Fail("lone surrogate in a string");
    ++at_;
    if (!Hex4(&code)) return false;
    if (code < 0xdc00 || code >= 0xe000) return Fail("lone surrogate in a string");
    return true;
  }

  // One character above 0x7f, by the table of well-formed sequences in Unicode.
  bool Utf8() {
    const uint8_t lead = static_cast<uint8_t>(text_[at_]);
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4) return Fail("not UTF-8");
    for (int i = 1; i <= more; ++i) {
      if (at_ + i >= text_.size()) {
        at_ = text_.size();
        return Fail("cut off");
      }
      const uint8_t byte = static_cast<uint8_t>(text_[at_ + i]);
      uint8_t low = 0x80, high = 0xbf;
      if (i == 1 && lead == 0xe0) low = 0xa0;
      if (i == 1 && lead == 0xed) high = 0x9f;
      if (i == 1 && lead == 0xf0) low = 0x90;
      if (i == 1 && lead == 0xf4) high = 0x8f;
      if (byte < low || byte > high) return Fail("not UTF-8");
    }
    at_ += 1 + more;
    return true;
  }

  bool String() {
    ++at_;
    while (at_ < text_.size()) {
      const uint8_t c = static_cast<uint8_t>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return Fail("control character in a string");
      if (c == '\\') {
        if (!Escape()) return false;
      } else if (c >= 0x80) {
        if (!Utf8()) return false;
      } else {
        ++at_;
      }
    }
    return Fail("cut off");
  }

  bool Scalar() {
    const size_t begin = at_;
    size_t end = begin;
    while (end < text_.size() &&
           absl::string_view(" \t\r\n,:]}[{\"").find(text_[end]) == absl::string_view::npos) {
      ++end;
    }
    const absl::string_view token = text_.substr(begin, end - begin);
    if (token.empty()) return Fail("expected a value");
    if (token == "true" || token == "false" || token == "null") {
      at_ = end;
      return true;
    }
    for (absl::string_view name :
         {"NaN", "nan", "Infinity", "inf", "-NaN", "-nan", "-Infinity", "-inf"}) {
      if (token != name) continue;
      non_finite_->push_back({begin, token.size()});
      at_ = end;
      return true;
    }
    if (!IsDigit(token[0]) && token[0] != '-') return Fail("expected a value");
    return Number(token);
  }

  bool Number(absl::string_view token) {
    size_t i = token[0] == '-' ? 1 : 0;
    const size_t first = i;
    while (i < token.size() && IsDigit(token[i])) ++i;
    const size_t int_digits = i - first;
    if (int_digits == 0 || (int_digits > 1 && token[first] == '0')) return Fail("bad number");
    const bool integer = i == token.size();
    if (i < token.size() && token[i] == '.') {
      const size_t dot = i++;
      while (i < token.size() && IsDigit(token[i])) ++i;
      if (i == dot + 1) return Fail("bad number");
    }
    if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
      ++i;
      if (i < token.size() && (token[i] == '+' || token[i] == '-')) ++i;
      const size_t exponent = i;
      while (i < token.size() && IsDigit(token[i])) ++i;
      if (i == exponent) return Fail("bad number");
    }
    if (i != token.size()) return Fail("bad number");
    uint64_t u;
    int64_t s;
    double d;
    if (integer && !absl::SimpleAtoi(token, &u) && !absl::SimpleAtoi(token, &s)) {
      return Fail(absl::StrCat("integer ", token.substr(0, 40), " does not fit 64 bits"));
    }
    if (!integer && (!absl::SimpleAtod(token, &d) || d - d != 0)) {
      return Fail(absl::StrCat("number ", token.substr(0, 40), " is out of range"));
    }
    at_ += token.size();
    return true;
  }

  absl::string_view text_;
  size_t max_depth_;
  std::vector<NonFinite>* non_finite_;
  size_t at_ = 0;
  std::string stack_;
  JsonFault fault_;
};

}  // namespace

JsonFault CheckJson(absl::string_view text, std::vector<NonFinite>* non_finite) {
  return Checker(text, SIZE_MAX, non_finite).Run();
}

JsonFault CheckJsonPrefix(absl::string_view text, size_t max_depth, size_t* size) {
  std::vector<NonFinite> unused;
  Checker checker(text, max_depth, &unused);
  JsonFault fault = checker.RunValue();
  *size = checker.at();
  return fault;
}

}  // namespace chakrad
