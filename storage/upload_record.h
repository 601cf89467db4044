// UploadRecord to its header record and back; files and claims have records of their own.
#ifndef CHAKRAD_STORAGE_UPLOAD_RECORD_H_
#define CHAKRAD_STORAGE_UPLOAD_RECORD_H_

#include "absl/status/status.h"
#include "storage/upload_store.h"

namespace chakrad {

namespace storage {
class UploadClaims;
class UploadFile;
class UploadHeader;
}  // namespace storage

void UploadToProto(const UploadRecord& upload, storage::UploadHeader* header);
// DATA_LOSS: unknown state. `upload->id`, files and claims are not set.
absl::Status UploadFromProto(const storage::UploadHeader& header, UploadRecord* upload);

void UploadFileToProto(const std::string& name, const UploadedFile& file,
                       storage::UploadFile* record);
UploadedFile UploadFileFromProto(const storage::UploadFile& record);

void ClaimsToProto(const std::map<std::string, FileDigest>& claims, storage::UploadClaims* record);
std::map<std::string, FileDigest> ClaimsFromProto(const storage::UploadClaims& record);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_UPLOAD_RECORD_H_
