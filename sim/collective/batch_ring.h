// Rings and pairs of partners as max-plus recurrences: no events, no messages.
//
// Of a ring, with places 0 .. n-1, each of which sends to the next one: S[r] is how long a
// message holds the port of place r, D[r] >= S[r] how long it takes to place r+1. When message
// s of place r leaves at b(r, s), then
//   b(r, s+1) = max(b(r, s) + S[r], b(r-1, s) + D[r-1])
// and with N messages the place is through at b(r, N): everything has come, and left.
// (Astra: S = 0. Endpoint delays and reductions add the same to all places; see callers.)
#ifndef CHAKRAD_SIM_COLLECTIVE_BATCH_RING_H_
#define CHAKRAD_SIM_COLLECTIVE_BATCH_RING_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace chakrad {

// b(r, steps_count) of all places, from b(r, 0) = start_ps[r]; ps. All spans: n >= 2 entries.
// At most kHorizonPs. O(n) where all of port_ps are equal: with the stay's cost taken out, the
// longest way wins, and what is left is a maximum over a window that slides round the ring.
// Else O(steps_count * runs), where a run is a stretch of places with b linear in the place (few,
// when few links and starts are special), and O(steps_count * n) when there are many runs.
// Empty when that would be more than kMaxRingWork.
std::vector<int64_t> RingEnds(absl::Span<const int64_t> start_ps,
                              absl::Span<const int64_t> delay_ps, absl::Span<const int64_t> port_ps,
                              int64_t steps_count);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_BATCH_RING_H_
