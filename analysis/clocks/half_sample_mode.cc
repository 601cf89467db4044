#include "analysis/clocks/half_sample_mode.h"

#include <algorithm>
#include <vector>

#include "common/check.h"
#include "common/saturating.h"

namespace chakrad {

int64_t HalfSampleMode(absl::Span<const int64_t> ascending) {
  CHECK(!ascending.empty());
  while (ascending.size() > 3) {
    const size_t half = (ascending.size() + 1) / 2;
    size_t best = 0;
    int64_t width = INT64_MAX;
    for (size_t i = 0; i + half <= ascending.size(); ++i) {
      const int64_t one = SaturatingSubtract(ascending[i + half - 1], ascending[i]);
      if (one < width) width = one, best = i;
    }
    ascending = ascending.subspan(best, half);
  }
  if (ascending.size() == 3) {
    const int64_t below = SaturatingSubtract(ascending[1], ascending[0]);
    const int64_t above = SaturatingSubtract(ascending[2], ascending[1]);
    if (below == above) return ascending[1];
    ascending = ascending.subspan(below < above ? 0 : 1, 2);
  }
  const int64_t first = ascending.front();
  return first + SaturatingSubtract(ascending.back(), first) / 2;
}

int64_t MedianDeviation(absl::Span<const int64_t> values, int64_t center) {
  CHECK(!values.empty());
  std::vector<int64_t> deviations;
  deviations.reserve(values.size());
  for (const int64_t value : values) {
    const int64_t deviation = SaturatingSubtract(value, center);
    deviations.push_back(deviation == INT64_MIN ? INT64_MAX : std::abs(deviation));
  }
  const auto middle = deviations.begin() + static_cast<ptrdiff_t>((deviations.size() - 1) / 2);
  std::nth_element(deviations.begin(), middle, deviations.end());
  return *middle;
}

}  // namespace chakrad
