// Strings of one rank trace, each kept once, named by a dense index.
#ifndef CHAKRAD_TRACE_MODEL_STRING_TABLE_H_
#define CHAKRAD_TRACE_MODEL_STRING_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

// All bytes in one buffer. Append-only; index 0 is always "". Reading is
// thread-safe; views stay valid until the next Append.
class StringTable {
 public:
  StringTable() : end_{0} {}
  // Adds a string without looking for an equal one; returns its index.
  uint32_t Append(absl::string_view text);
  // `index` must be below size().
  absl::string_view Get(uint32_t index) const;
  uint32_t size() const { return static_cast<uint32_t>(end_.size()); }
  int64_t bytes() const { return static_cast<int64_t>(buffer_.size()); }

 private:
  std::string buffer_;
  std::vector<uint64_t> end_;  // end_[i] is where string i ends in buffer_.
};

// Finds or adds strings. Owns the hash index, which only a writer needs.
class StringInterner {
 public:
  // `table` must outlive the interner and be appended to by it alone.
  explicit StringInterner(StringTable* table);
  ~StringInterner();
  // The index of `text`, appended when new.
  uint32_t Intern(absl::string_view text);

 private:
  struct Index;
  StringTable* table_;
  std::unique_ptr<Index> index_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_STRING_TABLE_H_
