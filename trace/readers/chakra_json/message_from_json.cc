#include "trace/readers/chakra_json/message_from_json.h"

#include <google/protobuf/descriptor.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/readers/chakra_json/json_keys.h"

namespace chakrad {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using simdjson::dom::element;
using simdjson::dom::element_type;

// Field numbers are at most this: one bit each tells which have been seen.
constexpr int kMaxFieldNumber = 63;
// Doubles are whole numbers up to here, all of them.
constexpr double kExactDouble = 9007199254740992.0;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// What a message shows of a value; never its insides.
std::string Show(element value) {
  switch (value.type()) {
    case element_type::STRING:
      return absl::StrCat("\"", View(value.get_string().value()).substr(0, 80), "\"");
    case element_type::OBJECT:
      return "an object";
    case element_type::ARRAY:
      return "a list";
    case element_type::BOOL:
      return value.get_bool().value() ? "true" : "false";
    case element_type::INT64:
      return absl::StrCat(value.get_int64().value());
    case element_type::UINT64:
      return absl::StrCat(value.get_uint64().value());
    case element_type::DOUBLE:
      return absl::StrCat(value.get_double().value());
    default:
      return "null";
  }
}

absl::Status IsNot(element value, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(Show(value), " is not ", what));
}

// Every integer of 64 bits, signed or not.
bool GetInteger(element value, __int128* integer) {
  switch (value.type()) {
    case element_type::INT64:
      *integer = value.get_int64().value();
      return true;
    case element_type::UINT64:
      *integer = value.get_uint64().value();
      return true;
    case element_type::DOUBLE: {
      const double number = value.get_double().value();
      if (!(std::abs(number) <= kExactDouble) || number != std::floor(number)) return false;
      *integer = static_cast<__int128>(number);
      return true;
    }
    case element_type::STRING: {
      const absl::string_view text = View(value.get_string().value());
      int64_t small;
      uint64_t large;
      if (absl::SimpleAtoi(text, &small)) {
        *integer = small;
      } else if (absl::SimpleAtoi(text, &large)) {
        *integer = large;
      } else {
        return false;
      }
      return true;
    }
    default:
      return false;
  }
}

bool GetDouble(element value, double* number) {
  if (value.type() == element_type::STRING) {
    const absl::string_view text = View(value.get_string().value());
    if (text == "NaN") {
      *number = std::numeric_limits<double>::quiet_NaN();
      return true;
    }
    if (text == "Infinity" || text == "-Infinity") {
      const double infinity = std::numeric_limits<double>::infinity();
      *number = text[0] == '-' ? -infinity : infinity;
      return true;
    }
    return absl::SimpleAtod(text, number) && std::isfinite(*number);
  }
  return value.get_double().get(*number) == simdjson::SUCCESS;
}

// Sets, or adds to, one field of a message.
class FieldSetter {
 public:
  FieldSetter(Message* message, const FieldDescriptor* field, std::vector<std::string>* unknown)
      : message_(message),
        reflection_(*message->GetReflection()),
        field_(field),
        unknown_keys_(unknown) {}

  absl::Status Set(element value) {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return SetInteger<int32_t>(value, &Reflection::SetInt32, &Reflection::AddInt32);
      case FieldDescriptor::CPPTYPE_UINT32:
        return SetInteger<uint32_t>(value, &Reflection::SetUInt32, &Reflection::AddUInt32);
      case FieldDescriptor::CPPTYPE_INT64:
        return SetInteger<int64_t>(value, &Reflection::SetInt64, &Reflection::AddInt64);
      case FieldDescriptor::CPPTYPE_UINT64:
        return SetInteger<uint64_t>(value, &Reflection::SetUInt64, &Reflection::AddUInt64);
      case FieldDescriptor::CPPTYPE_DOUBLE:
      case FieldDescriptor::CPPTYPE_FLOAT:
        return SetFloating(value);
      case FieldDescriptor::CPPTYPE_BOOL: {
        bool boolean;
        if (value.get_bool().get(boolean) != simdjson::SUCCESS) return IsNot(value, "a bool");
        Put(boolean, &Reflection::SetBool, &Reflection::AddBool);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_ENUM:
        return SetEnum(value);
      case FieldDescriptor::CPPTYPE_STRING:
        return SetString(value);
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        simdjson::dom::object object;
        if (value.get_object().get(object) != simdjson::SUCCESS) return IsNot(value, "an object");
        return MessageFromJson(object,
                               field_->is_repeated() ? reflection_.AddMessage(message_, field_)
                                                     : reflection_.MutableMessage(message_, field_),
                               unknown_keys_);
      }
    }
    return absl::OkStatus();
  }

 private:
  template <typename Value>
  void Put(Value value, void (Reflection::*set)(Message*, const FieldDescriptor*, Value) const,
           void (Reflection::*add)(Message*, const FieldDescriptor*, Value) const) {
    if (field_->is_repeated()) {
      (reflection_.*add)(message_, field_, std::move(value));
    } else {
      (reflection_.*set)(message_, field_, std::move(value));
    }
  }

  template <typename Int>
  absl::Status SetInteger(element value,
                          void (Reflection::*set)(Message*, const FieldDescriptor*, Int) const,
                          void (Reflection::*add)(Message*, const FieldDescriptor*, Int) const) {
    __int128 integer;
    if (!GetInteger(value, &integer)) return IsNot(value, "an integer");
    if (integer < std::numeric_limits<Int>::min() || integer > std::numeric_limits<Int>::max()) {
      return IsNot(value, absl::StrCat("in [", std::numeric_limits<Int>::min(), ", ",
                                       std::numeric_limits<Int>::max(), "]"));
    }
    Put(static_cast<Int>(integer), set, add);
    return absl::OkStatus();
  }

  absl::Status SetFloating(element value) {
    double number;
    if (!GetDouble(value, &number)) return IsNot(value, "a number");
    if (field_->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      Put(number, &Reflection::SetDouble, &Reflection::AddDouble);
      return absl::OkStatus();
    }
    const float narrow = static_cast<float>(number);
    if (std::isfinite(number) && !std::isfinite(narrow)) return IsNot(value, "a float's value");
    Put(narrow, &Reflection::SetFloat, &Reflection::AddFloat);
    return absl::OkStatus();
  }

  absl::Status SetEnum(element value) {
    __int128 number;
    std::string_view name;
    if (value.get_string().get(name) == simdjson::SUCCESS) {
      const auto* known = field_->enum_type()->FindValueByName(std::string(name));
      if (known == nullptr) {
        return IsNot(value, absl::StrCat("a ", field_->enum_type()->name()));
      }
      number = known->number();
    } else if (!GetInteger(value, &number) || number < INT32_MIN || number > INT32_MAX) {
      return IsNot(value, absl::StrCat("a ", field_->enum_type()->name()));
    }
    Put(static_cast<int>(number), &Reflection::SetEnumValue, &Reflection::AddEnumValue);
    return absl::OkStatus();
  }

  absl::Status SetString(element value) {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) return IsNot(value, "a string");
    std::string content(text);
    if (field_->type() == FieldDescriptor::TYPE_BYTES) {
      if (!absl::Base64Unescape(View(text), &content) &&
          !absl::WebSafeBase64Unescape(View(text), &content)) {
        return IsNot(value, "base64");
      }
    }
    Put(std::move(content), &Reflection::SetString, &Reflection::AddString);
    return absl::OkStatus();
  }

  Message* message_;
  const Reflection& reflection_;
  const FieldDescriptor* field_;
  std::vector<std::string>* unknown_keys_;
};

// "name.rest", as a path reads.
absl::Status InField(const absl::Status& status, absl::string_view name, bool is_message) {
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(name, is_message ? "." : ": ", status.message()));
}

absl::Status SetField(const FieldDescriptor* field, element value, Message* message,
                      std::vector<std::string>* unknown_keys) {
  FieldSetter setter(message, field, unknown_keys);
  const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (!field->is_repeated()) {
    // The path goes on into the message, unless the value is none.
    return InField(setter.Set(value), field->name(), is_message && value.is_object());
  }
  simdjson::dom::array values;
  if (value.get_array().get(values) != simdjson::SUCCESS) {
    return InField(IsNot(value, "a list"), field->name(), false);
  }
  int64_t index = 0;
  for (element one : values) {
    const absl::Status status = setter.Set(one);
    if (!status.ok()) {
      return InField(status, absl::StrCat(field->name(), "[", index, "]"),
                     is_message && one.is_object());
    }
    ++index;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MessageFromJson(simdjson::dom::object object, Message* message,
                             std::vector<std::string>* unknown_keys) {
  uint64_t seen = 0;
  const google::protobuf::OneofDescriptor* chosen = nullptr;
  for (const auto& [key, value] : object) {
    const std::string name(key);
    const google::protobuf::Descriptor* type = message->GetDescriptor();
    const FieldDescriptor* field = type->FindFieldByName(name);
    if (field == nullptr) field = type->FindFieldByCamelcaseName(name);
    if (field == nullptr || field->number() > kMaxFieldNumber) {
      if (unknown_keys == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(name.substr(0, 80), ": is no field of ", type->name()));
      }
      unknown_keys->push_back(name.substr(0, 80));
      continue;
    }
    if (value.is_null()) continue;
    const uint64_t bit = uint64_t{1} << field->number();
    if ((seen & bit) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(field->name(), ": is there twice"));
    }
    seen |= bit;
    if (field->containing_oneof() != nullptr) {
      if (chosen != nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(field->name(), ": is a second ", chosen->name()));
      }
      chosen = field->containing_oneof();
    }
    RETURN_IF_ERROR(SetField(field, value, message, unknown_keys));
  }
  return absl::OkStatus();
}

}  // namespace chakrad
