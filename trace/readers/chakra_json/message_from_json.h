// Protobuf messages from JSON, by protobuf's own mapping. Includes simdjson: for
// .cc files only.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_JSON_MESSAGE_FROM_JSON_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_JSON_MESSAGE_FROM_JSON_H_

#include <google/protobuf/message.h>
#include <simdjson.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace chakrad {

// Fills `message`, which must be empty. Keys are field names as in the .proto file
// or in camel case; integers may be numbers, or strings of digits; null is as
// good as no key. INVALID_ARGUMENT names the field ("attr[3].int64_val") and what
// is wrong: another type, out of range, there twice, two values of one oneof.
// Keys that are no field are INVALID_ARGUMENT where `unknown_keys` is null, else
// listed there. Recurses as deep as message types nest.
absl::Status MessageFromJson(simdjson::dom::object object, google::protobuf::Message* message,
                             std::vector<std::string>* unknown_keys);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_JSON_MESSAGE_FROM_JSON_H_
