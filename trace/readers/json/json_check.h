// The slow look at JSON that a fast parser refused: where the fault is, and
// which numbers are NaN or Infinity.
#ifndef CHAKRAD_TRACE_READERS_JSON_JSON_CHECK_H_
#define CHAKRAD_TRACE_READERS_JSON_JSON_CHECK_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

// A number that JSON has no spelling for: NaN, nan, inf, Infinity, with or
// without a minus.
struct NonFinite {
  size_t begin = 0;  // Bytes from the text's start.
  size_t size = 0;
};

struct JsonFault {
  bool found = false;
  bool at_end = false;  // Nothing is wrong but that the text ends too early.
  size_t at = 0;        // Bytes from the text's start.
  std::string reason;
};

// Checks that `text` is one JSON value, but lets non-finite numbers pass and
// lists them. Linear time; no recursion; the nesting must be checked before.
JsonFault CheckJson(absl::string_view text, std::vector<NonFinite>* non_finite);

// The same of a text that only starts with a value and may go on behind it;
// `*size` is where the value ends. More than `max_depth` brackets in each other
// are a fault.
JsonFault CheckJsonPrefix(absl::string_view text, size_t max_depth, size_t* size);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_JSON_JSON_CHECK_H_
