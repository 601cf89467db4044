// IngestService.PushTrace: the stream's messages, in order, to a PushSession.
#ifndef CHAKRAD_SERVER_RPC_PUSH_TRACE_H_
#define CHAKRAD_SERVER_RPC_PUSH_TRACE_H_

#include <grpcpp/support/sync_stream.h>

#include "absl/status/status.h"
#include "chakrad/v1/ingest.pb.h"
#include "server/ingest/push_manager.h"

namespace chakrad {

using PushTraceStream = grpc::ServerReaderWriter<v1::PushTraceResponse, v1::PushTraceRequest>;

// Serves one stream to its end. What is wrong with it is INVALID_ARGUMENT, and nothing
// is stored. CANCELLED: the stream broke; what arrived waits for the next one.
absl::Status PushTrace(PushManager* pushes, PushTraceStream* stream);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_PUSH_TRACE_H_
