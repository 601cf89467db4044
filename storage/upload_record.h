// UploadRecord to its header record and back; files have records of their own.
#ifndef CHAKRAD_STORAGE_UPLOAD_RECORD_H_
#define CHAKRAD_STORAGE_UPLOAD_RECORD_H_

#include "absl/status/status.h"
#include "storage/upload_store.h"

namespace chakrad {

namespace storage {
class UploadHeader;
}

void UploadToProto(const UploadRecord& upload, storage::UploadHeader* header);
// DATA_LOSS: unknown state. `upload->id` and committed_bytes are not set.
absl::Status UploadFromProto(const storage::UploadHeader& header, UploadRecord* upload);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_UPLOAD_RECORD_H_
