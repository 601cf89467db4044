// Decimal text to integers, without the detour over binary fractions.
#ifndef CHAKRAD_TRACE_READERS_JSON_DECIMAL_H_
#define CHAKRAD_TRACE_READERS_JSON_DECIMAL_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace chakrad {

// `text` ("12", "-0.5", "1.7e15") times 10^scale as a whole number, exact, or
// rounded to the nearest, halves away from zero, where digits are left over;
// `*exact` (may be null) says which. False when it is no decimal number or the
// result is not below 10^36. Times in microseconds become picoseconds at scale 6.
bool ParseDecimal(absl::string_view text, int scale, __int128* value, bool* exact);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_JSON_DECIMAL_H_
