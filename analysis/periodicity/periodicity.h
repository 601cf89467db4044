// How alike the steps of a run are: docs/analysis.md#quality.
#ifndef CHAKRAD_ANALYSIS_PERIODICITY_PERIODICITY_H_
#define CHAKRAD_ANALYSIS_PERIODICITY_PERIODICITY_H_

#include <vector>

namespace chakrad {

// 1 - the median of |span - median span| / median span, not below 0; 0 of fewer than two spans,
// or where the median span is 0. Of an even number the mean of the middle two. O(n).
double PeriodicityOf(const std::vector<double>& spans);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_PERIODICITY_PERIODICITY_H_
