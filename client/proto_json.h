// Any message as JSON, under the names of its .proto: integers of 64 bits as numbers, enums by
// name, timestamps as RFC 3339, every field without presence written out, others when set.
#ifndef CHAKRAD_CLIENT_PROTO_JSON_H_
#define CHAKRAD_CLIENT_PROTO_JSON_H_

#include <google/protobuf/message.h>

#include "client/json.h"

namespace chakrad::client {

Json ProtoJson(const google::protobuf::Message& message);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_PROTO_JSON_H_
