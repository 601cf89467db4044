// Control dependencies that contradict the others.
#ifndef CHAKRAD_TRACE_IMPORT_CONTROL_CYCLES_H_
#define CHAKRAD_TRACE_IMPORT_CONTROL_CYCLES_H_

#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// Drops the control dependencies that lie on a dependency cycle, each a flaw
// "cyclic_control_dependency". For Chakra files: their control dependencies tell
// who called whom, Chakra's feeder ignores them, and old converters wrote some
// that run against the data dependencies. Cycles of other edges stay, for
// CheckAcyclic to refuse. Iterative; O(nodes + edges).
void DropCyclicControlEdges(RankTrace* rank, Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_IMPORT_CONTROL_CYCLES_H_
