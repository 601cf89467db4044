// A protobuf message as JSON, by the rules of protobuf's own mapping with the
// original field names: integers of 64 bits as strings, enumerators by name, bytes
// in base64, a member of a oneof even when it is zero. (protobuf's library does
// the same in six times the time, and drops unknown fields without a word.)
#ifndef CHAKRAD_TRACE_WRITERS_MESSAGE_JSON_H_
#define CHAKRAD_TRACE_WRITERS_MESSAGE_JSON_H_

#include <string>

namespace google::protobuf {
class Message;
}

namespace chakrad {

// Appends one object on one line. False when the message, or one inside it, has
// fields that its definition does not know: those are not in the text.
// Recurses as deep as message types nest, which no input decides.
bool AppendMessageJson(const google::protobuf::Message& message, std::string* json);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_MESSAGE_JSON_H_
