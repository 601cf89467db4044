#include "trace/readers/json/json_tokens.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "trace/readers/json/json_buffer.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

// Longer numbers are looked at more closely: they may be out of range.
constexpr size_t kPlainDigits = 18;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool EndsScalar(char c) { return c == ',' || c == '}' || c == ']' || IsSpace(c); }

// A number that has many digits or an exponent.
bool IsRareNumber(absl::string_view text) {
  if (text.empty()) return false;
  size_t i = text[0] == '-' ? 1 : 0;
  const size_t first = i;
  while (i < text.size() && IsDigit(text[i])) ++i;
  if (i == first || (i - first > 1 && text[first] == '0')) return false;
  if (i == text.size()) {
    uint64_t unsigned_value;
    int64_t value;
    return absl::SimpleAtoi(text, &value) || absl::SimpleAtoi(text, &unsigned_value);
  }
  for (const char mark : {'.', 'e'}) {
    if (i == text.size() || (text[i] | 0x20) != (mark | 0x20)) continue;
    ++i;
    if (mark == 'e' && i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    const size_t digits = i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    if (i == digits) return false;
  }
  double value;
  return i == text.size() && absl::SimpleAtod(text, &value) && value - value == 0;
}

// Whether the bytes from `text` on are a number that JSON and 64 bits allow.
bool IsNumber(const char* text, const char* end) {
  const char* at = text + (*text == '-' ? 1 : 0);
  const char* const whole = at;
  while (IsDigit(*at)) ++at;
  const size_t whole_digits = static_cast<size_t>(at - whole);
  bool plain =
      whole_digits > 0 && whole_digits <= kPlainDigits && (whole_digits == 1 || *whole != '0');
  if (plain && *at == '.') {
    const char* const fraction = ++at;
    while (IsDigit(*at)) ++at;
    plain = at > fraction && static_cast<size_t>(at - fraction) <= kPlainDigits;
  }
  if (plain && EndsScalar(*at)) return true;
  while (at < end && !EndsScalar(*at)) ++at;
  return IsRareNumber(absl::string_view(text, static_cast<size_t>(at - text)));
}

}  // namespace

struct JsonTokens::Simd {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
};

JsonTokens::JsonTokens() : simd_(std::make_unique<Simd>()) {}
JsonTokens::~JsonTokens() = default;

const uint32_t* JsonTokens::at() const { return simd_->parser->structural_indexes.get(); }

bool JsonTokens::Split(char* text, size_t size, bool cut) {
  text_ = text;
  size_ = size;
  if (simd_->parser == nullptr || simd_->parser->capacity() < size + 1) {
    const size_t capacity = std::max<size_t>(size + 1, kJsonWindowBytes + kJsonWindowBytes / 4);
    simd_->parser.reset();
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(
            capacity, 1, simd_->parser) != simdjson::SUCCESS) {
      simd_->parser.reset();
      return false;
    }
  }
  const auto split = [&](size_t bytes) {
    return simd_->parser->stage1(reinterpret_cast<const uint8_t*>(text), bytes,
                                 simdjson::stage1_mode::regular);
  };
  simdjson::error_code error = split(size);
  if (error == simdjson::UNCLOSED_STRING && cut) {
    text[size] = '"';
    error = split(++size_);
  }
  if (error != simdjson::SUCCESS) return false;
  count_ = simd_->parser->n_structural_indexes;
  has_escapes_ = std::memchr(text, '\\', size_) != nullptr;
  return true;
}

bool JsonTokens::Unescape(const char* text, size_t size, std::string* unescaped) const {
  unescaped->resize(size + kJsonPadding);
  auto* const begin = reinterpret_cast<uint8_t*>(unescaped->data());
  const uint8_t* const end =
      simd_->parser->parse_string(reinterpret_cast<const uint8_t*>(text), begin);
  unescaped->resize(end == nullptr ? 0 : static_cast<size_t>(end - begin));
  return end != nullptr;
}

bool JsonTokens::EscapesAreRight(uint32_t token) {
  const char* const begin = text_ + at()[token] + 1;
  const size_t size = at()[token + 1] - at()[token] - 1;
  if (std::memchr(begin, '\\', size) == nullptr) return true;
  return Unescape(begin, size, &scratch_);
}

bool JsonTokens::IsWord(uint32_t token) const {
  const char* const begin = text_ + at()[token];
  for (const absl::string_view word : {"true", "false", "null"}) {
    if (std::strncmp(begin, word.data(), word.size()) == 0) return EndsScalar(begin[word.size()]);
  }
  return false;
}

JsonTokens::Found JsonTokens::PassValue(uint32_t* token) {
  const uint32_t* const at = this->at();
  const char* const text = text_;
  uint32_t i = *token;
  open_.clear();
  bool in_object = false;
  while (true) {
    if (i >= count_) return Found::kCut;
    bool opened = false;
    switch (text[at[i]]) {
      case '"':
        if (has_escapes_ && !EscapesAreRight(i)) return Found::kFault;
        break;
      case '{':
      case '[':
        if (open_.size() >= static_cast<size_t>(kMaxJsonDepth)) return Found::kFault;
        open_.push_back(i);
        in_object = text[at[i]] == '{';
        opened = true;
        break;
      case 't':
      case 'f':
      case 'n':
        if (!IsWord(i)) return Found::kFault;
        break;
      default:
        if (!IsNumber(text + at[i], text + size_)) return Found::kFault;
    }
    ++i;
    // Ends of brackets, then what leads to the next value.
    while (true) {
      if (open_.empty()) {
        *token = i;
        return Found::kValue;
      }
      if (i >= count_) return Found::kCut;
      const char c = text[at[i]];
      if (c == (in_object ? '}' : ']')) {
        after_[open_.back()] = ++i;
        open_.pop_back();
        in_object = !open_.empty() && text[at[open_.back()]] == '{';
        opened = false;
        continue;
      }
      if (!opened) {
        if (c != ',') return Found::kFault;
        ++i;
      }
      break;
    }
    if (!in_object) continue;
    if (i + 1 >= count_) return Found::kCut;
    if (text[at[i]] != '"' || text[at[i + 1]] != ':') return Found::kFault;
    if (has_escapes_ && !EscapesAreRight(i)) return Found::kFault;
    i += 2;
  }
}

JsonTokens::Walked JsonTokens::FindElements(bool first_required) {
  Walked walked;
  const uint32_t* const at = this->at();
  elements_.clear();
  if (after_.size() < count_) after_.resize(count_);
  uint32_t i = 1;
  if (i < count_ && text_[at[i]] == ']') {
    walked.clean = !first_required;
    walked.ended = walked.clean;
    walked.end = at[i] + 1;
    return walked;
  }
  while (true) {
    const uint32_t first = i;
    const Found found = PassValue(&i);
    if (found == Found::kFault) walked.clean = false;
    if (found != Found::kValue || i >= count_) return walked;
    const char c = text_[at[i]];
    if (c != ',' && c != ']') {
      walked.clean = false;
      return walked;
    }
    elements_.push_back(first);
    walked.end = at[i] + 1;
    ++i;
    walked.ended = c == ']';
    if (walked.ended) return walked;
  }
}

}  // namespace chakrad
