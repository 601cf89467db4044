#include "trace/readers/chakra_json/workload_graph.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/model/attributes.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

using ChakraProtoMsg::AttributeProto;
using ChakraProtoMsg::Node;
using simdjson::dom::element;
using simdjson::dom::element_type;

absl::Status Wrong(absl::string_view key, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(key, ": is not ", what));
}

absl::Status SetDeps(absl::string_view key, element value,
                     google::protobuf::RepeatedField<uint64_t>* deps) {
  simdjson::dom::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return Wrong(key, "a list");
  for (element one : list) {
    uint64_t id;
    if (one.get_uint64().get(id) != simdjson::SUCCESS) return Wrong(key, "a list of node ids");
    deps->Add(id);
  }
  return absl::OkStatus();
}

absl::Status SetRuntime(element value, Node* node) {
  double micros;
  if (value.get_double().get(micros) != simdjson::SUCCESS || !(micros >= 0) ||
      micros > static_cast<double>(kMaxRecordingNs) / 1e3) {
    return Wrong("runtime", absl::StrCat("in [0, ", kMaxRecordingNs / 1000, "]"));
  }
  node->set_duration_micros(static_cast<uint64_t>(micros));
  if (micros == std::floor(micros)) return absl::OkStatus();
  for (const char* key : {attr::kDurNs, attr::kWorkNs}) {
    AttributeProto* exact = node->add_attr();
    exact->set_name(key);
    exact->set_int64_val(std::llround(micros * 1e3));
  }
  return absl::OkStatus();
}

absl::Status SetType(element value, Node* node) {
  int64_t number;
  std::string_view name;
  if (value.get_int64().get(number) == simdjson::SUCCESS && number >= INT32_MIN &&
      number <= INT32_MAX) {
    node->set_type(static_cast<ChakraProtoMsg::NodeType>(number));
    return absl::OkStatus();
  }
  ChakraProtoMsg::NodeType type;
  if (value.get_string().get(name) == simdjson::SUCCESS &&
      ChakraProtoMsg::NodeType_Parse(std::string(name), &type)) {
    node->set_type(type);
    return absl::OkStatus();
  }
  return Wrong("NodeType", "a NodeType");
}

// False when the value is no scalar.
bool AddAttribute(absl::string_view key, element value, Node* node) {
  AttributeProto attribute;
  attribute.set_name(std::string(key));
  switch (value.type()) {
    case element_type::INT64:
      attribute.set_int64_val(value.get_int64().value());
      break;
    case element_type::UINT64:
      attribute.set_uint64_val(value.get_uint64().value());
      break;
    case element_type::DOUBLE:
      attribute.set_double_val(value.get_double().value());
      break;
    case element_type::BOOL:
      attribute.set_bool_val(value.get_bool().value());
      break;
    case element_type::STRING:
      attribute.set_string_val(std::string(value.get_string().value()));
      break;
    default:
      return false;
  }
  *node->add_attr() = std::move(attribute);
  return true;
}

}  // namespace

absl::Status NodeFromWorkloadGraph(simdjson::dom::object object, Node* node,
                                   std::vector<std::string>* unknown_keys) {
  bool has_id = false, has_type = false, has_runtime = false, has_deps = false;
  for (const auto& [name, value] : object) {
    const absl::string_view key(name.data(), name.size());
    if (value.is_null()) continue;
    if (key == "Id") {
      uint64_t id;
      if (has_id || value.get_uint64().get(id) != simdjson::SUCCESS) {
        return Wrong("Id", "one integer from 0 on");
      }
      has_id = true;
      node->set_id(id);
    } else if (key == "Name") {
      std::string_view text;
      if (value.get_string().get(text) != simdjson::SUCCESS) return Wrong("Name", "a string");
      node->set_name(std::string(text));
    } else if (key == "NodeType") {
      has_type = true;
      RETURN_IF_ERROR(SetType(value, node));
    } else if (key == "runtime") {
      if (std::exchange(has_runtime, true)) return Wrong("runtime", "there once");
      RETURN_IF_ERROR(SetRuntime(value, node));
    } else if (key == "data_deps") {
      if (std::exchange(has_deps, true)) return Wrong("data_deps", "there once");
      RETURN_IF_ERROR(SetDeps(key, value, node->mutable_data_deps()));
    } else if (!AddAttribute(key, value, node)) {
      if (unknown_keys == nullptr) {
        return Wrong(key.substr(0, 80), "a number, a bool or a string, and no key of the feeder's");
      }
      unknown_keys->push_back(std::string(key.substr(0, 80)));
    }
  }
  if (!has_id) return absl::InvalidArgumentError("Id: is missing");
  if (!has_type) return absl::InvalidArgumentError("NodeType: is missing");
  return absl::OkStatus();
}

}  // namespace chakrad
