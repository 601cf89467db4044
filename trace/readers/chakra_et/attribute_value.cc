#include "trace/readers/chakra_et/attribute_value.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status.h"

namespace chakrad {
namespace {

using ChakraProtoMsg::AttributeProto;

// "string_val \"abc\"": the value as a message shows it.
std::string Show(const AttributeProto& attribute) {
  AttributeProto value = attribute;
  value.clear_name();
  value.clear_doc_string();
  return value.ShortDebugString().substr(0, 80);
}

std::string ShowInteger(__int128 value) {
  // Every integer kind fits one of the two.
  return value < 0 ? absl::StrCat(static_cast<int64_t>(value))
                   : absl::StrCat(static_cast<uint64_t>(value));
}

template <typename List>
bool Append(const List& list, std::vector<int64_t>* values) {
  for (const auto value : list.values()) {
    if (static_cast<__int128>(value) > INT64_MAX) return false;
    values->push_back(static_cast<int64_t>(value));
  }
  return true;
}

}  // namespace

bool GetInteger(const AttributeProto& attribute, __int128* value) {
  switch (attribute.value_case()) {
    case AttributeProto::kInt32Val:
      *value = attribute.int32_val();
      return true;
    case AttributeProto::kInt64Val:
      *value = attribute.int64_val();
      return true;
    case AttributeProto::kUint32Val:
      *value = attribute.uint32_val();
      return true;
    case AttributeProto::kUint64Val:
      *value = attribute.uint64_val();
      return true;
    case AttributeProto::kSint32Val:
      *value = attribute.sint32_val();
      return true;
    case AttributeProto::kSint64Val:
      *value = attribute.sint64_val();
      return true;
    case AttributeProto::kFixed32Val:
      *value = attribute.fixed32_val();
      return true;
    case AttributeProto::kFixed64Val:
      *value = attribute.fixed64_val();
      return true;
    case AttributeProto::kSfixed32Val:
      *value = attribute.sfixed32_val();
      return true;
    case AttributeProto::kSfixed64Val:
      *value = attribute.sfixed64_val();
      return true;
    default:
      return false;
  }
}

bool GetBool(const AttributeProto& attribute, bool* value) {
  __int128 integer;
  if (attribute.value_case() == AttributeProto::kBoolVal) {
    *value = attribute.bool_val();
    return true;
  }
  if (!GetInteger(attribute, &integer) || integer < 0 || integer > 1) return false;
  *value = integer == 1;
  return true;
}

bool GetIntegers(const AttributeProto& attribute, std::vector<int64_t>* values) {
  values->clear();
  switch (attribute.value_case()) {
    case AttributeProto::kInt32List:
      return Append(attribute.int32_list(), values);
    case AttributeProto::kInt64List:
      return Append(attribute.int64_list(), values);
    case AttributeProto::kUint32List:
      return Append(attribute.uint32_list(), values);
    case AttributeProto::kUint64List:
      return Append(attribute.uint64_list(), values);
    case AttributeProto::kSint32List:
      return Append(attribute.sint32_list(), values);
    case AttributeProto::kSint64List:
      return Append(attribute.sint64_list(), values);
    case AttributeProto::kFixed32List:
      return Append(attribute.fixed32_list(), values);
    case AttributeProto::kFixed64List:
      return Append(attribute.fixed64_list(), values);
    case AttributeProto::kSfixed32List:
      return Append(attribute.sfixed32_list(), values);
    case AttributeProto::kSfixed64List:
      return Append(attribute.sfixed64_list(), values);
    default:
      return false;
  }
}

absl::Status CheckAttributeType(const AttributeProto& attribute, const AttributeInfo& info) {
  __int128 integer;
  bool boolean;
  std::vector<int64_t> integers;
  bool fits = false;
  switch (info.type) {
    case AttributeType::kInt:
      fits = GetInteger(attribute, &integer) && integer <= INT64_MAX;
      break;
    case AttributeType::kUint:
      fits = GetInteger(attribute, &integer) && integer >= 0;
      break;
    case AttributeType::kBool:
      fits = GetBool(attribute, &boolean);
      break;
    case AttributeType::kString:
      fits = attribute.value_case() == AttributeProto::kStringVal;
      break;
    case AttributeType::kBoolList:
      fits = attribute.value_case() == AttributeProto::kBoolList;
      break;
    case AttributeType::kIntList:
      fits = GetIntegers(attribute, &integers);
      break;
    case AttributeType::kStringList:
      fits = attribute.value_case() == AttributeProto::kStringList;
      break;
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(attribute.name(), ": ", Show(attribute),
                                                 " is not ", AttributeTypeName(info.type)));
}

const char* RuleOfAttribute(const AttributeProto& attribute, const AttributeInfo& info) {
  __int128 integer;
  const bool asks_integer = info.type == AttributeType::kInt || info.type == AttributeType::kUint ||
                            info.type == AttributeType::kBool;
  return asks_integer && GetInteger(attribute, &integer) ? "attribute_range" : "attribute_type";
}

absl::Status ReadInteger(const AttributeProto& attribute, int64_t low, int64_t high,
                         int64_t* value) {
  __int128 integer;
  if (!GetInteger(attribute, &integer)) {
    return absl::InvalidArgumentError(
        absl::StrCat(attribute.name(), ": ", Show(attribute), " is not an integer"));
  }
  if (integer < low || integer > high) {
    return absl::InvalidArgumentError(absl::StrCat(attribute.name(), ": ", ShowInteger(integer),
                                                   " is not in [", low, ", ", high, "]"));
  }
  *value = static_cast<int64_t>(integer);
  return absl::OkStatus();
}

}  // namespace chakrad
