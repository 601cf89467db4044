// Uploads: domain types to wire types and back.
#ifndef CHAKRAD_SERVER_RPC_CONVERT_UPLOAD_H_
#define CHAKRAD_SERVER_RPC_CONVERT_UPLOAD_H_

#include "absl/status/statusor.h"
#include "chakrad/v1/ingest.pb.h"
#include "server/ingest/upload_request.h"
#include "storage/upload_store.h"

namespace chakrad {

void ToProto(const UploadRecord& record, v1::Upload* upload);
// INVALID_ARGUMENT: a file is claimed twice. What values mean is checked elsewhere.
absl::StatusOr<UploadRequest> FromProto(const v1::CreateUploadRequest& request);

// Leaves out the last files until the answer fits (kMaxAnswerBytes); files_count
// tells how many there are.
void FitIntoAnswer(v1::Upload* upload);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_CONVERT_UPLOAD_H_
