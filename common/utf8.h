// Text that came from files, for places that take valid UTF-8 only: protobuf
// refuses to parse a string field that is not.
#ifndef CHAKRAD_COMMON_UTF8_H_
#define CHAKRAD_COMMON_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace chakrad {

// `text` with each byte that is no part of a valid sequence as '?'; at most
// `max_bytes` of it, cut between characters. O(bytes).
std::string ValidUtf8(absl::string_view text, size_t max_bytes = absl::string_view::npos);

}  // namespace chakrad

#endif  // CHAKRAD_COMMON_UTF8_H_
