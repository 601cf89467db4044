// Scalars as JSON text, appended to a string.
#ifndef CHAKRAD_TRACE_WRITERS_JSON_TEXT_H_
#define CHAKRAD_TRACE_WRITERS_JSON_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace chakrad {

// In double quotes and escaped; bytes that are not UTF-8 come out as '?'.
void AppendJsonString(absl::string_view text, std::string* json);

// The shortest decimal that reads as the same number again; NaN and infinities
// as "NaN", "Infinity", "-Infinity" in quotes, as protobuf's JSON spells them.
void AppendJsonDouble(double value, std::string* json);
// The same for a reader that takes a double first and then the nearest float.
void AppendJsonFloat(float value, std::string* json);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_JSON_TEXT_H_
