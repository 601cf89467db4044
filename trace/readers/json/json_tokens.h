// Where the values of a JSON text lie: found once, walked as often as one likes.
// Inside trace/readers/json only; readers use json_value.h.
#ifndef CHAKRAD_TRACE_READERS_JSON_JSON_TOKENS_H_
#define CHAKRAD_TRACE_READERS_JSON_JSON_TOKENS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace chakrad {

// Splits a text that begins with the '[' of an array into tokens: brackets,
// commas, colons, and the first bytes of strings, numbers and words. simdjson
// finds them (its stage 1, which also checks UTF-8); one walk over them checks
// the grammar and finds the array's elements. Not thread-safe.
class JsonTokens {
 public:
  JsonTokens();
  ~JsonTokens();

  // False when `text` has a fault that shows before its structure does; `size`
  // bytes are looked at, kJsonPadding more may be read. With `cut`, the text may
  // end anywhere, inside a string too: then a quote is put at text[size].
  bool Split(char* text, size_t size, bool cut);

  struct Walked {
    bool clean = true;   // Else: what follows the last element found is no valid JSON.
    bool ended = false;  // The array's end was found.
    size_t end = 0;      // Behind the comma or bracket that follows the last element.
  };
  // Finds the elements that are whole, and followed by a comma or the array's
  // end. `first_required`: the array may not end before the first one.
  Walked FindElements(bool first_required);

  // Positions in the text, ascending; one more behind the last, at its end.
  const uint32_t* at() const;
  // Of a token that opens brackets, the number of the one behind their end.
  const std::vector<uint32_t>& after() const { return after_; }
  // Of each element found, the number of its first token.
  const std::vector<uint32_t>& elements() const { return elements_; }
  bool has_escapes() const { return has_escapes_; }
  // `text` points behind a string's first quote; its value, into `*unescaped`.
  // False when an escape is wrong.
  bool Unescape(const char* text, size_t size, std::string* unescaped) const;

 private:
  struct Simd;
  enum class Found : uint8_t { kValue, kCut, kFault };
  // Moves `*token` past the value that it begins.
  Found PassValue(uint32_t* token);
  bool IsWord(uint32_t token) const;
  bool EscapesAreRight(uint32_t token);

  std::unique_ptr<Simd> simd_;
  const char* text_ = nullptr;
  size_t size_ = 0;
  uint32_t count_ = 0;
  bool has_escapes_ = false;
  std::vector<uint32_t> after_;
  std::vector<uint32_t> elements_;
  std::vector<uint32_t> open_;  // Brackets around where the walk is.
  std::string scratch_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_JSON_JSON_TOKENS_H_
