// Few traces that stand for many: k-medoids over breakdowns. Each of them is one of
// the given ones, so that it can be kept while the others go.
#ifndef CHAKRAD_ANALYSIS_REPRESENTATIVE_H_
#define CHAKRAD_ANALYSIS_REPRESENTATIVE_H_

#include <cstddef>
#include <vector>

#include "trace/model/trace_breakdown.h"

namespace chakrad {

// Up to so many points every swap is tried (PAM); of more, samples of so many (CLARA).
inline constexpr size_t kMaxPamPoints = 500;
// Beyond it a sample would no longer hold several points for each one chosen.
inline constexpr size_t kMaxRepresentatives = 100;

// The distance of two breakdowns: Euclid's over the six ratios, none weighted. (compute,
// exposed communication, exposed memory and idle add up to 1; comm_ratio adds how much
// communication was hidden, worst_exposed_comm_ratio how unequal the ranks were.)
double BreakdownDistance(const TraceBreakdown& a, const TraceBreakdown& b);

// The sum over all points of the distance to the nearest of `medoids`, which is not empty.
double RepresentationCost(const std::vector<TraceBreakdown>& points,
                          const std::vector<size_t>& medoids);

// Indices of k points, ascending, whose RepresentationCost is as low as PAM gets: first,
// greedily, the points that lower it most (BUILD); then, while some exchange of a chosen
// point and another lowers it, the best such exchange (SWAP). All points when there are at
// most k. That is a local optimum: no single exchange improves it.
//
// Of more than kMaxPamPoints points (CLARA): PAM over five samples of kMaxPamPoints, drawn
// by a fixed sequence, each with the best medoids so far in it; the medoids that cost least
// over all points win.
//
// Deterministic: the same points in the same order give the same answer; of equal choices the
// earlier point wins. CHECKs k <= kMaxRepresentatives. O(n^2 (k + swaps)) for n points up to
// kMaxPamPoints (0.1 s at most), then O(n k) for the rest.
std::vector<size_t> ChooseRepresentatives(const std::vector<TraceBreakdown>& points, size_t k);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_REPRESENTATIVE_H_
