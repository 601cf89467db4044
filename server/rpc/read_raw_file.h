// TraceService.ReadRawFile: a file as it was uploaded.
#ifndef CHAKRAD_SERVER_RPC_READ_RAW_FILE_H_
#define CHAKRAD_SERVER_RPC_READ_RAW_FILE_H_

#include <grpcpp/support/sync_stream.h>

#include "absl/status/status.h"
#include "chakrad/v1/trace.pb.h"
#include "storage/trace_store.h"

namespace chakrad {

// An empty file has one empty piece. NOT_FOUND: no such trace, or the file was not kept.
absl::Status ReadRawFile(TraceStore* traces, const v1::ReadRawFileRequest& request,
                         grpc::ServerWriter<v1::ReadRawFileResponse>* stream);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_READ_RAW_FILE_H_
