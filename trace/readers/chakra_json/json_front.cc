#include "trace/readers/chakra_json/json_front.h"

#include <google/protobuf/descriptor.h>

#include <string>

#include "absl/strings/strip.h"
#include "chakra/et_def.pb.h"

namespace chakrad {
namespace {

void SkipSpace(absl::string_view* text) {
  while (!text->empty() && absl::string_view(" \t\r\n").find(text->front()) != text->npos) {
    text->remove_prefix(1);
  }
}

bool IsField(const google::protobuf::Descriptor* type, const std::string& key) {
  return type->FindFieldByName(key) != nullptr || type->FindFieldByCamelcaseName(key) != nullptr;
}

// Takes a string off the front, which starts with its quote; false where it has no end.
bool TakeString(absl::string_view* text, std::string* content) {
  for (size_t i = 1; i < text->size(); ++i) {
    if ((*text)[i] == '\\') {
      ++i;
    } else if ((*text)[i] == '"') {
      *content = std::string(text->substr(1, i - 1));
      text->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace

bool IsConcatenatedMessages(absl::string_view front) {
  absl::ConsumePrefix(&front, "\xef\xbb\xbf");
  SkipSpace(&front);
  if (!absl::ConsumePrefix(&front, "{")) return false;
  bool has_attributes = false, expects_key = true;
  std::string text;
  for (int depth = 1; !front.empty();) {
    const char c = front.front();
    if (c == '"') {
      if (!TakeString(&front, &text)) break;
      if (depth > 1 || !expects_key) continue;
      expects_key = false;
      if (!IsField(ChakraProtoMsg::GlobalMetadata::descriptor(), text) &&
          !IsField(ChakraProtoMsg::Node::descriptor(), text)) {
        return false;
      }
      has_attributes |= text == "attr";
      continue;
    }
    front.remove_prefix(1);
    if (c == ',' && depth == 1) expects_key = true;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) {
      SkipSpace(&front);
      return front.empty() ? has_attributes : front.front() == '{';
    }
  }
  return has_attributes;
}

}  // namespace chakrad
