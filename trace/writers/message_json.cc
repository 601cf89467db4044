#include "trace/writers/message_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "trace/writers/json_text.h"

namespace chakrad {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// One value of a field: of a repeated one the value at `index`, else index is -1.
class FieldValue {
 public:
  FieldValue(const Message& message, const FieldDescriptor* field, int index)
      : message_(message), reflection_(*message.GetReflection()), field_(field), index_(index) {}

  bool Append(std::string* json) const {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        absl::StrAppend(json, Get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32));
        return true;
      case FieldDescriptor::CPPTYPE_UINT32:
        absl::StrAppend(json, Get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32));
        return true;
      case FieldDescriptor::CPPTYPE_INT64:
        absl::StrAppend(json, "\"", Get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64),
                        "\"");
        return true;
      case FieldDescriptor::CPPTYPE_UINT64:
        absl::StrAppend(json, "\"", Get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64),
                        "\"");
        return true;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        AppendJsonDouble(Get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble), json);
        return true;
      case FieldDescriptor::CPPTYPE_FLOAT:
        AppendJsonFloat(Get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat), json);
        return true;
      case FieldDescriptor::CPPTYPE_BOOL:
        *json += Get(&Reflection::GetBool, &Reflection::GetRepeatedBool) ? "true" : "false";
        return true;
      case FieldDescriptor::CPPTYPE_ENUM:
        AppendEnum(json);
        return true;
      case FieldDescriptor::CPPTYPE_STRING:
        AppendString(json);
        return true;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return AppendMessageJson(index_ < 0
                                     ? reflection_.GetMessage(message_, field_)
                                     : reflection_.GetRepeatedMessage(message_, field_, index_),
                                 json);
    }
    return true;
  }

 private:
  template <typename Value>
  Value Get(Value (Reflection::*one)(const Message&, const FieldDescriptor*) const,
            Value (Reflection::*of_many)(const Message&, const FieldDescriptor*, int) const) const {
    return index_ < 0 ? (reflection_.*one)(message_, field_)
                      : (reflection_.*of_many)(message_, field_, index_);
  }

  void AppendEnum(std::string* json) const {
    const int number = Get(&Reflection::GetEnumValue, &Reflection::GetRepeatedEnumValue);
    const auto* value = field_->enum_type()->FindValueByNumber(number);
    if (value == nullptr) {
      absl::StrAppend(json, number);
    } else {
      absl::StrAppend(json, "\"", value->name(), "\"");
    }
  }

  void AppendString(std::string* json) const {
    std::string scratch;
    const std::string& text =
        index_ < 0 ? reflection_.GetStringReference(message_, field_, &scratch)
                   : reflection_.GetRepeatedStringReference(message_, field_, index_, &scratch);
    if (field_->type() == FieldDescriptor::TYPE_BYTES) {
      absl::StrAppend(json, "\"", absl::Base64Escape(text), "\"");
    } else {
      AppendJsonString(text, json);
    }
  }

  const Message& message_;
  const Reflection& reflection_;
  const FieldDescriptor* field_;
  int index_;
};

}  // namespace

bool AppendMessageJson(const Message& message, std::string* json) {
  const Reflection& reflection = *message.GetReflection();
  bool complete = reflection.GetUnknownFields(message).empty();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  char separator = '{';
  if (fields.empty()) json->push_back(separator);
  for (const FieldDescriptor* field : fields) {
    json->push_back(separator);
    separator = ',';
    absl::StrAppend(json, "\"", field->name(), "\":");
    if (!field->is_repeated()) {
      complete &= FieldValue(message, field, -1).Append(json);
      continue;
    }
    const int size = reflection.FieldSize(message, field);
    for (int i = 0; i < size; ++i) {
      json->push_back(i == 0 ? '[' : ',');
      complete &= FieldValue(message, field, i).Append(json);
    }
    json->push_back(']');
  }
  json->push_back('}');
  return complete;
}

}  // namespace chakrad
