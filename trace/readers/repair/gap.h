// What stands between two elements of a list, or two pairs of an object.
#ifndef CHAKRAD_TRACE_READERS_REPAIR_GAP_H_
#define CHAKRAD_TRACE_READERS_REPAIR_GAP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace chakrad {

// White space, commas, and blanks in place of what was taken out. Not thread-safe.
class Gap {
 public:
  // Bytes it holds at most: JsonReader stops at 32 MiB of blanks.
  static constexpr size_t kMaxBytes = 16 << 20;
  // Of something taken out, as many bytes are replaced by blanks, so that offsets
  // behind it stay.
  static constexpr size_t kMaxBlankBytes = 64 << 10;

  bool full() const { return text_.size() >= kMaxBytes; }

  // White space or a comma, at `offset` in the file.
  void Add(char c, int64_t offset) {
    if (c == ',') {
      ++commas_;
      if (commas_ == 1) first_comma_ = offset;
      if (commas_ == 2) second_comma_ = offset;
    }
    text_.push_back(c);
  }
  // Takes something out; line ends stay. A record may have had a comma of its own.
  void AddBlanks(absl::string_view text, bool was_record) {
    lost_ += was_record ? 1 : 0;
    text = text.substr(0, std::min(kMaxBlankBytes, kMaxBytes - std::min(kMaxBytes, text_.size())));
    for (const char c : text) text_.push_back(c == '\n' ? '\n' : ' ');
  }

  struct CommaFault {
    const char* reason = nullptr;  // Null: the commas were right.
    int64_t offset = -1;           // -1: at the gap's end.
  };
  // Puts in one comma between two elements and none elsewhere. Commas beside
  // something that was taken out are no fault of their own.
  CommaFault MendCommas(bool has_previous, bool closing) {
    const int wanted = has_previous && !closing ? 1 : 0;
    CommaFault fault;
    if (commas_ == wanted) return fault;
    if (lost_ == 0) {
      if (commas_ == 0) {
        fault = {"a comma was missing", -1};
      } else if (closing) {
        fault = {"a comma before the end", first_comma_};
      } else {
        fault = {"a comma too many", wanted == 1 ? second_comma_ : first_comma_};
      }
    }
    KeepCommas(wanted == 1);
    return fault;
  }
  const std::string& text() const { return text_; }

 private:
  void KeepCommas(bool one) {
    bool placed = !one;
    for (char& c : text_) {
      if (c != ',') continue;
      if (placed) c = ' ';
      placed = true;
    }
    if (placed) return;
    const size_t blank = text_.find_first_of(" \t\r");
    if (blank == std::string::npos) {
      text_.insert(0, 1, ',');
    } else {
      text_[blank] = ',';
    }
  }

  std::string text_;
  int commas_ = 0;
  int lost_ = 0;
  int64_t first_comma_ = -1, second_comma_ = -1;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_REPAIR_GAP_H_
