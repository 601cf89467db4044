#include "client/proto_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <map>
#include <string>
#include <utility>

namespace chakrad::client {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

Json MessageJson(const Message& message) {
  if (message.GetDescriptor() == google::protobuf::Timestamp::descriptor()) {
    return google::protobuf::util::TimeUtil::ToString(
        static_cast<const google::protobuf::Timestamp&>(message));
  }
  return ProtoJson(message);
}

Json Value(const Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection->GetInt64(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection->GetUInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection->GetUInt64(message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection->GetDouble(message, field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection->GetFloat(message, field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->GetBool(message, field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection->GetEnum(message, field)->name();
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->GetString(message, field);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageJson(reflection->GetMessage(message, field));
  }
  return nullptr;
}

Json Element(const Message& message, const FieldDescriptor* field, int i) {
  const Reflection* reflection = message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->GetRepeatedInt32(message, field, i);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection->GetRepeatedInt64(message, field, i);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection->GetRepeatedUInt32(message, field, i);
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection->GetRepeatedUInt64(message, field, i);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection->GetRepeatedDouble(message, field, i);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection->GetRepeatedFloat(message, field, i);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->GetRepeatedBool(message, field, i);
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection->GetRepeatedEnum(message, field, i)->name();
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->GetRepeatedString(message, field, i);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageJson(reflection->GetRepeatedMessage(message, field, i));
  }
  return nullptr;
}

Json MapJson(const Message& message, const FieldDescriptor* field) {
  Json json = Json::object();
  const FieldDescriptor* key_field = field->message_type()->FindFieldByNumber(1);
  const FieldDescriptor* value_field = field->message_type()->FindFieldByNumber(2);
  // In the order of keys: a map's own is arbitrary.
  std::map<std::string, Json> sorted;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
    const Message& entry = message.GetReflection()->GetRepeatedMessage(message, field, i);
    const Json key = Value(entry, key_field);
    sorted[key.is_string() ? key.get<std::string>() : key.dump()] = Value(entry, value_field);
  }
  for (auto& [key, value] : sorted) json[key] = std::move(value);
  return json;
}

}  // namespace

Json ProtoJson(const Message& message) {
  Json json = Json::object();
  const google::protobuf::Descriptor* type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    if (field->is_map()) {
      json[field->name()] = MapJson(message, field);
    } else if (field->is_repeated()) {
      Json list = Json::array();
      const int size = message.GetReflection()->FieldSize(message, field);
      for (int at = 0; at < size; ++at) list.push_back(Element(message, field, at));
      json[field->name()] = std::move(list);
    } else if (!field->has_presence() || message.GetReflection()->HasField(message, field)) {
      json[field->name()] = Value(message, field);
    }
  }
  return json;
}

}  // namespace chakrad::client
