#include "trace/readers/repair/quick_check.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "trace/readers/limits.h"

namespace chakrad {
namespace {

// Records are smaller; larger values are looked at the other way.
constexpr size_t kMaxQuickBytes = 256 << 10;
constexpr int kMaxWait = 4096;

enum CharClass : uint8_t { kPlain = 0, kQuote, kOpen, kClose };

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> classes{};
  classes['"'] = kQuote;
  classes['{'] = classes['['] = kOpen;
  classes['}'] = classes[']'] = kClose;
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = MakeClasses();

// Where the brackets balance that `text` starts with; 0 if they do not.
size_t BalancedSize(absl::string_view text) {
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (kClasses[static_cast<uint8_t>(text[at])]) {
      case kPlain:
        break;
      case kQuote:
        for (++at; at < text.size() && text[at] != '"'; ++at) {
          if (text[at] == '\\') ++at;
        }
        break;
      case kOpen:
        if (++depth > kMaxJsonDepth) return 0;
        break;
      default:
        if (--depth == 0) return at + 1;
    }
  }
  return 0;
}

}  // namespace

struct QuickCheck::Parser {
  simdjson::dom::parser parser;
};

QuickCheck::QuickCheck() : parser_(std::make_unique<Parser>()) {}
QuickCheck::~QuickCheck() = default;

size_t QuickCheck::SizeOfValue(absl::string_view text, int64_t* looks) {
  if (text.empty() || (text[0] != '{' && text[0] != '[')) return 0;
  if (waiting_ > 0) {
    --waiting_;
    return 0;
  }
  text = text.substr(0, kMaxQuickBytes);
  const size_t size = BalancedSize(text);
  simdjson::dom::element unused;
  if (size > 0 && parser_->parser.parse(text.data(), size, true).get(unused) == simdjson::SUCCESS) {
    wait_ = std::max(wait_ - 1, 0);
    return size;
  }
  *looks += static_cast<int64_t>(size > 0 ? size : text.size());
  wait_ = std::min(wait_ * 2 + 1, kMaxWait);
  waiting_ = wait_;
  return 0;
}

}  // namespace chakrad
