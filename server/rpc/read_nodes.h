// TraceService.ReadNodes: a window of one rank's nodes.
#ifndef CHAKRAD_SERVER_RPC_READ_NODES_H_
#define CHAKRAD_SERVER_RPC_READ_NODES_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include "absl/status/status.h"
#include "chakrad/v1/trace.pb.h"
#include "storage/trace_store.h"

namespace chakrad {

// Answers by ascending position, in pieces that fit a client's default limit, until all are
// sent or the caller is gone. The trace is leased meanwhile. Reads the chunks that hold the
// window and no others; memory follows a window of chunks, not the rank.
absl::Status ReadNodes(TraceStore* traces, const v1::ReadNodesRequest& request,
                       grpc::ServerContext* context,
                       grpc::ServerWriter<v1::ReadNodesResponse>* stream);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_READ_NODES_H_
