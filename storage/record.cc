#include "storage/record.h"

#include <google/protobuf/message_lite.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace chakrad {

std::string PackRecord(const google::protobuf::MessageLite& message) {
  std::string value(1, kRecordVersion);
  CHECK(message.AppendToString(&value)) << "message above 2 GiB";
  return value;
}

absl::Status UnpackRecord(absl::string_view value, google::protobuf::MessageLite* message) {
  if (value.empty()) return absl::DataLossError("record: is empty");
  if (value[0] != kRecordVersion) {
    return absl::DataLossError(absl::StrCat("record: version ",
                                            static_cast<int>(static_cast<unsigned char>(value[0])),
                                            " is not ", static_cast<int>(kRecordVersion)));
  }
  if (value.size() - 1 > INT32_MAX ||
      !message->ParseFromArray(value.data() + 1, static_cast<int>(value.size() - 1))) {
    return absl::DataLossError("record: does not parse");
  }
  return absl::OkStatus();
}

}  // namespace chakrad
