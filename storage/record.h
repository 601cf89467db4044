// A record on disk: one version byte, then a protobuf message (record.proto).
#ifndef CHAKRAD_STORAGE_RECORD_H_
#define CHAKRAD_STORAGE_RECORD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class MessageLite;
}

namespace chakrad {

// Raised when a message's fields change their meaning; new fields do not need it.
inline constexpr char kRecordVersion = 1;

std::string PackRecord(const google::protobuf::MessageLite& message);
// DATA_LOSS when `value` is not a record of this version.
absl::Status UnpackRecord(absl::string_view value, google::protobuf::MessageLite* message);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_RECORD_H_
