// What one collective over one dimension takes, as a formula. For tests: the engine has to
// agree to the picosecond.
#ifndef CHAKRAD_SIM_COLLECTIVE_CLOSED_FORMS_H_
#define CHAKRAD_SIM_COLLECTIVE_CLOSED_FORMS_H_

#include <cstdint>

#include "sim/collective/collective_plan.h"
#include "sim/system/system_description.h"

namespace chakrad {

// `system` has one dimension on which all paths between different NPUs are alike, or is a ring
// and the algorithm talks to neighbours only. All n NPUs join at 0. With D(m) the delay of a
// message over an idle path (trunc(h L + m / B) ns astra; c + h L + m / B ps physical, c the cost
// of a message), G(m) the time that it holds its sender's port (0 astra; c + m / B physical),
// P(m) the reduction and e the endpoint delay; m = S / n, or S for an all-gather:
//   ring                e + steps (e + D(m)) + reduced P(m); steps 2(n-1) for an all-reduce,
//                       n(n-1)/2 for an all-to-all, else n-1; reduced n-1 or 0
//   direct              2e + (n-2) G(m) + D(m) (+ P(m)); an all-reduce has another
//                       (n-2) G(m) + D(m) + e
//   halving-doubling    e + sum of (e + D(m_i)) + what is reduced; m_i = S/2, S/4, ... S/n, and
//                       back for an all-reduce; S, 2S, ... for an all-gather; physical
//                       all-to-all: log2(n) times S/2. Reduced, physical: m_i of the way down;
//                       astra: m_2 to m_log2(n)
// Astra: that, with S a chunk, for each round of ceil(chunks / active) chunks.
// So with e = P = c = 0, physical: ring all-reduce 2(n-1)(L + S/(nB)), direct all-reduce on a
// switch 2((n-1) S/(nB) + 2L).
int64_t ClosedFormPs(const SystemDescription& system, CollectiveType type, AlgorithmKind kind,
                     int64_t bytes);

// Bytes that each rank sends.
int64_t ClosedFormSentBytes(const SystemDescription& system, CollectiveType type,
                            AlgorithmKind kind, int64_t bytes);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_CLOSED_FORMS_H_
