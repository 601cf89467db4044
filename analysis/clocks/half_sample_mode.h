// Where a sample is densest.
#ifndef CHAKRAD_ANALYSIS_CLOCKS_HALF_SAMPLE_MODE_H_
#define CHAKRAD_ANALYSIS_CLOCKS_HALF_SAMPLE_MODE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace chakrad {

// The half-sample mode (Bickel and Fruehwirth 2006): the shortest interval that holds half of
// the numbers, again of those, until two or three are left. Unlike a median it stands when most
// of the sample strays to both sides, as ends of collectives do on busy hosts. `ascending` is
// not empty. O(n).
int64_t HalfSampleMode(absl::Span<const int64_t> ascending);

// The median of |x - center|: of an even number the lower one of the middle two. O(n).
int64_t MedianDeviation(absl::Span<const int64_t> values, int64_t center);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_CLOCKS_HALF_SAMPLE_MODE_H_
