#include "server/rpc/read_raw_file.h"

#include <memory>
#include <string>

#include "common/status.h"
#include "server/ids.h"
#include "server/limits.h"

namespace chakrad {

absl::Status ReadRawFile(TraceStore* traces, const v1::ReadRawFileRequest& request,
                         grpc::ServerWriter<v1::ReadRawFileResponse>* stream) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "traces", "name"));
  if (request.file().empty()) return absl::InvalidArgumentError("file: must not be empty");
  // The trace stays while it is read.
  ASSIGN_OR_RETURN(const std::unique_ptr<TraceLease> lease, traces->Lease(id));
  bool sent = false;
  v1::ReadRawFileResponse response;
  const auto send = [&](absl::string_view bytes) {
    sent = true;
    response.set_data(bytes.data(), bytes.size());
    return stream->Write(response) ? absl::OkStatus()
                                   : absl::CancelledError("the caller went away");
  };
  RETURN_IF_ERROR(traces->ReadRawFile(id, request.file(), send));
  return sent ? absl::OkStatus() : send("");
}

}  // namespace chakrad
