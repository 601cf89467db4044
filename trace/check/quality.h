// The quality score: see docs/conformance.md#quality.
#ifndef CHAKRAD_TRACE_CHECK_QUALITY_H_
#define CHAKRAD_TRACE_CHECK_QUALITY_H_

#include <vector>

#include "trace/check/group_table.h"
#include "trace/check/report.h"
#include "trace/model/ledger.h"

namespace chakrad {

// O(nodes + edges).
QualityParts ComputeQualityParts(const GroupTable& groups, const std::vector<Ledger>& ledgers);

// The mean of the parts, halved when there are errors, and once more when nothing has work; 0
// for a trace without ranks.
double QualityOf(const QualityParts& parts, const Trace& trace, const FindingList& findings);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_QUALITY_H_
