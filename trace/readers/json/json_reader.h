// Walks a JSON document of any size from front to back in bounded memory: the
// keys of its top level one by one, small values whole, and the elements of an
// array in windows of complete elements.
#ifndef CHAKRAD_TRACE_READERS_JSON_JSON_READER_H_
#define CHAKRAD_TRACE_READERS_JSON_JSON_READER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

class ByteSource;
class JsonTokens;

// Elements of one array, read together.
struct JsonWindow {
  // A valid JSON array, "[first, second, ...]". `capacity` bytes lie behind
  // `text`, more than `size` by at least what simdjson reads ahead.
  const char* text = nullptr;
  size_t size = 0;
  size_t capacity = 0;
  int64_t first_record = 0;           // Position in the whole array.
  std::vector<int64_t> byte_offsets;  // Of each element, in the uncompressed file.

  // NaN and Infinity stand in `text` as strings of the same length, since JSON
  // has no such numbers. Gives what the file says for a part of `text`.
  std::string AsRecorded(absl::string_view part) const;
  struct Patch {
    size_t at = 0;  // In `text`.
    std::string original;
  };
  std::vector<Patch> patches;

  // For json_value.h: trace/readers/json/json_tokens.h.
  const uint32_t* token_at = nullptr;
  const uint32_t* token_after = nullptr;
  const uint32_t* element_tokens = nullptr;
  bool has_escapes = false;
  // The value of a string with escapes; `text` begins behind its first quote.
  // Valid as long as the window.
  absl::string_view Unescape(absl::string_view text) const;
  const JsonTokens* tokens = nullptr;
  mutable std::deque<std::string> unescaped;
};

// Not thread-safe. Every error is INVALID_ARGUMENT with "byte offset N (line L)"
// in the uncompressed file and the reason; after one, call nothing more. What
// is skipped is checked like what is read. Memory: one window.
class JsonReader {
 public:
  // `source` must outlive the reader.
  explicit JsonReader(ByteSource* source);
  ~JsonReader();

  enum class Top { kObject, kArray };
  // What the document is. An error for an empty file, one of only white space,
  // HTML, and any other that is neither object nor array.
  absl::StatusOr<Top> Open();

  // In an object: the next key; false at the document's end, after a look that
  // nothing follows. Read, skip or walk the value before the next call.
  absl::StatusOr<bool> NextKey(std::string* key);
  // Where the current key's value starts in the uncompressed file.
  int64_t value_offset() const;
  // The value as JSON text, at most kMaxJsonElementBytes.
  absl::StatusOr<std::string> ReadValue();
  absl::Status SkipValue();

  // Starts on the elements of the current key's array. An error if the value
  // is not an array. (Not needed where the document itself is an array.)
  absl::Status BeginArray();
  // The next elements, or null at the array's end. Where the file is faulty,
  // the good elements before the fault come first. Valid until the next call.
  absl::StatusOr<const JsonWindow*> NextWindow();

  // Numbers that were NaN or Infinity so far, and where the first one is.
  int64_t non_finite_count() const;
  int64_t non_finite_offset() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_JSON_JSON_READER_H_
