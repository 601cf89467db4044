// Plans whose members all do the same at the same time: one of them stands for all.
#ifndef CHAKRAD_SIM_COLLECTIVE_BATCH_SYMMETRIC_H_
#define CHAKRAD_SIM_COLLECTIVE_BATCH_SYMMETRIC_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/collective/collective_plan.h"

namespace chakrad {

// What a message of a phase costs, whoever sends it. `hop`: ring 0; halving-doubling the step;
// direct the peer's distance less 1.
struct SymmetricCosts {
  std::function<int64_t(int64_t hop, double bytes)> delay_ps;
  std::function<int64_t(int64_t hop, double bytes)> port_ps;
  std::function<int64_t(double bytes)> reduce_ps;
};

// How long a chunk is in the phase when all members begin together; ps, at most kHorizonPs.
// O(1) for a ring, O(log places) halving-doubling, O(places log places) direct. The double
// binary tree is not symmetric: CHECKs.
int64_t SymmetricPhasePs(const CollectivePhase& phase, const SymmetricCosts& costs);

// How long all chunks take through all phases, phase i of a chunk taking phase_ps[i], by the
// rules for lanes in collective_engine.h. O(chunks * phases * log).
int64_t PipelinePs(const CollectivePlan& plan, const std::vector<int64_t>& phase_ps);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_BATCH_SYMMETRIC_H_
