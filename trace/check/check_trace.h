// The conformance suite: everything that is wrong with a trace, and how good it is.
// docs/conformance.md lists the rules.
#ifndef CHAKRAD_TRACE_CHECK_CHECK_TRACE_H_
#define CHAKRAD_TRACE_CHECK_CHECK_TRACE_H_

#include <vector>

#include "trace/check/report.h"
#include "trace/model/ledger.h"
#include "trace/model/trace.h"

namespace chakrad {

// `trace` as the import assembled it, or as loaded from the store; it may lack ranks, have
// cycles, or have no ranks at all. Without cold blocks the rules that need them say nothing.
// `ledgers`: of the files it came from; may be empty. Same input, same report.
// O(n log n) for n nodes and edges, about 30 bytes a node beside the trace. Thread-safe:
// only reads its arguments. Not cancellable.
CheckReport CheckTrace(const Trace& trace, const std::vector<Ledger>& ledgers);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_CHECK_TRACE_H_
