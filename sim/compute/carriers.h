// Which operator's shapes stand for which node. Operators call operators (aten::linear calls
// aten::addmm, which calls aten::copy_) and launch device operations; the work must be
// counted once.
//
// Of the known operators (sim/compute/operator_table.h) around one another, one carries the
// work: the outermost that is no wrapper; where there is none, the innermost wrapper. What
// runs inside a carrier is part of it.
#ifndef CHAKRAD_SIM_COMPUTE_CARRIERS_H_
#define CHAKRAD_SIM_COMPUTE_CARRIERS_H_

#include <cstdint>
#include <vector>

#include "sim/compute/operator_class.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

struct Carriers {
  // By node: the host operation that carries it, itself maybe. A device operation has the
  // carrier of the host operation that launched it. kNone: no known operator is around it.
  std::vector<uint32_t> carrier;
  std::vector<OperatorClass> op_class;  // By node; of compute nodes.
};

// Nested: trace/operators/nesting.h. The class is the carrier's, else that of its own name or
// kernel name; below a mark "Optimizer.step..." elementwise operators, copies and others are of
// class optimiser. O(nodes + edges + names). Names only: arguments are not looked at.
Carriers FindCarriers(const RankTrace& trace);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COMPUTE_CARRIERS_H_
