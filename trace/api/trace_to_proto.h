// What the daemon's contract (proto/chakrad/v1/trace.proto) says of a trace: the
// daemon's answers and the command line's dry runs alike. None of these can
// fail: text that is not UTF-8 is mended.
#ifndef CHAKRAD_TRACE_API_TRACE_TO_PROTO_H_
#define CHAKRAD_TRACE_API_TRACE_TO_PROTO_H_

#include <string>
#include <vector>

#include "chakrad/v1/trace.pb.h"
#include "trace/check/report.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/model/trace_summary.h"

namespace chakrad {

void ToProto(const RankSummary& summary, v1::RankSummary* rank);
void ToProto(const ProcessGroup& group, v1::ProcessGroup* out);
void ToProto(const Ledger& ledger, v1::FileLedger* file);
void ToProto(const CheckReport& report, v1::CheckReport* out);
// The same without its findings.
void ToSummaryProto(const CheckReport& report, v1::CheckReport* out);

// Fills ranks, groups, files, notices, report and the counts that follow from them.
void ToProto(const std::vector<RankSummary>& ranks, const std::vector<ProcessGroup>& groups,
             const std::vector<Ledger>& ledgers, const std::vector<std::string>& notices,
             const CheckReport& report, v1::Trace* trace);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_API_TRACE_TO_PROTO_H_
