// Uploads as text and JSON.
#ifndef CHAKRAD_CLIENT_UPLOAD_VIEW_H_
#define CHAKRAD_CLIENT_UPLOAD_VIEW_H_

#include <string>
#include <vector>

#include "chakrad/v1/ingest.pb.h"
#include "client/json.h"

namespace chakrad::client {

// With the files that the answer lists, if any.
Json UploadJson(const v1::Upload& upload);
std::string UploadText(const v1::Upload& upload);
// A table, in the given order.
std::string UploadListText(const std::vector<v1::Upload>& uploads);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_UPLOAD_VIEW_H_
