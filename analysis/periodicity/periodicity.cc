#include "analysis/periodicity/periodicity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace chakrad {
namespace {

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace

double PeriodicityOf(const std::vector<double>& spans) {
  if (spans.size() < 2) return 0;
  const double median = Median(spans);
  if (!(median > 0)) return 0;
  std::vector<double> deviations;
  for (const double span : spans) deviations.push_back(std::abs(span - median) / median);
  return std::max(0.0, 1 - Median(std::move(deviations)));
}

}  // namespace chakrad
