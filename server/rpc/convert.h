// Domain types to wire types. None of these can fail.
#ifndef CHAKRAD_SERVER_RPC_CONVERT_H_
#define CHAKRAD_SERVER_RPC_CONVERT_H_

#include "chakrad/v1/job.pb.h"
#include "chakrad/v1/trace.pb.h"
#include "server/jobs/job_manager.h"
#include "storage/trace_store.h"

namespace chakrad {

// Everything that is known without loading the trace.
void ToProto(const TraceInfo& info, v1::Trace* trace);
// Without ranks, groups, files and notices: what a list shows.
void ToSummaryProto(const TraceInfo& info, v1::Trace* trace);
// A stored specification or result that does not parse is left out.
void ToProto(const JobView& view, v1::Job* job);

// Clients read messages of at most 4 MiB unless told otherwise; ours stay below.
inline constexpr size_t kMaxAnswerBytes = 3 << 20;
// Shortens the longest lists of an answer until it fits, and adds a notice of
// what was left out.
void FitIntoAnswer(v1::Trace* trace);
void FitIntoAnswer(v1::Job* job);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_CONVERT_H_
