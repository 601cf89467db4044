// TraceService.VerifyTraces: one trace or all, read and checked.
#ifndef CHAKRAD_SERVER_RPC_VERIFY_TRACES_H_
#define CHAKRAD_SERVER_RPC_VERIFY_TRACES_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include "absl/status/status.h"
#include "chakrad/v1/trace.pb.h"
#include "storage/trace_store.h"

namespace chakrad {

// Answers trace by trace, oldest first, until all are done or the caller is gone. A
// trace that is deleted meanwhile is left out. Reads as fast as the disk gives:
// other calls share it.
absl::Status VerifyTraces(TraceStore* traces, const v1::VerifyTracesRequest& request,
                          grpc::ServerContext* context,
                          grpc::ServerWriter<v1::VerifyTracesResponse>* stream);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_VERIFY_TRACES_H_
