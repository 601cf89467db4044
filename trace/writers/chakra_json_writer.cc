#include "trace/writers/chakra_json_writer.h"

#include <google/protobuf/message.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/readers/chakra_json/json_keys.h"
#include "trace/writers/chakra_messages.h"
#include "trace/writers/message_json.h"
#include "trace/writers/pieces.h"

namespace chakrad {
namespace {

void AppendNode(const google::protobuf::Message& node, std::string* json) {
  if (AppendMessageJson(node, json)) return;
  json->pop_back();
  absl::StrAppend(json, json->back() == '{' ? "\"" : ",\"", kJsonMessageKey, "\":\"",
                  absl::Base64Escape(node.SerializeAsString()), "\"}");
}

}  // namespace

absl::Status WriteChakraJson(const Trace& trace, int32_t rank,
                             const std::function<absl::Status(absl::string_view)>& sink) {
  Pieces pieces(sink);
  int64_t messages = 0;
  RETURN_IF_ERROR(ForEachChakraMessage(trace, rank, [&](const google::protobuf::Message& message) {
    std::string& json = pieces.text();
    if (messages == 0) {
      absl::StrAppend(&json, "{\"", kJsonMetadataKey, "\":");
      AppendMessageJson(message, &json);
      absl::StrAppend(&json, ",\n\"", kJsonNodesKey, "\":[\n");
    } else {
      if (messages > 1) json += ",\n";
      AppendNode(message, &json);
    }
    ++messages;
    return pieces.Passed();
  }));
  pieces.text() += "\n]}\n";
  return pieces.Flush();
}

}  // namespace chakrad
