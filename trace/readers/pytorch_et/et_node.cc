#include "trace/readers/pytorch_et/et_node.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/model/attributes.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

namespace ondemand = simdjson::ondemand;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

absl::Status BadField(absl::string_view key, const JsonValue& value, absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat(key, ": ", value.text.substr(0, 60), " is not ", wanted));
}

template <typename Int>
absl::Status ToInt(absl::string_view key, const JsonValue& value, Int* field) {
  if (value.GetInt(field)) return absl::OkStatus();
  return BadField(key, value,
                  absl::StrCat("an integer of ", 8 * sizeof(Int), " bits",
                               Int(-1) > Int(0) ? " without sign" : ""));
}

absl::Status ToText(absl::string_view key, const JsonValue& value, absl::string_view* field) {
  if (!value.is_string()) return BadField(key, value, "a string");
  *field = value.text;
  return absl::OkStatus();
}

void AddExtra(absl::string_view key, absl::string_view type, const JsonValue& value, EtNode* node) {
  node->extras.push_back({std::string(key), std::string(type), value});
}

// Fields that are node fields in the flat layout and attributes in the newer.
absl::Status SetCommonField(absl::string_view key, absl::string_view type, const JsonValue& value,
                            EtNode* node) {
  if (key == attr::kRfId) return ToInt(key, value, &node->rf_id);
  if (key == attr::kFwParent) return ToInt(key, value, &node->fw_parent);
  if (key == attr::kSeqId) return ToInt(key, value, &node->seq_id);
  if (key == attr::kScope) return ToInt(key, value, &node->scope);
  if (key == attr::kTid) return ToInt(key, value, &node->tid);
  if (key == attr::kFwTid) return ToInt(key, value, &node->fw_tid);
  if (key == attr::kOpSchema) return ToText(key, value, &node->op_schema);
  AddExtra(key, type, value, node);
  return absl::OkStatus();
}

absl::Status SetAttribute(ondemand::object attribute, const JsonWindow& window, EtNode* node) {
  absl::string_view key, type;
  JsonValue value;
  for (auto field : attribute) {
    std::string_view name;
    ondemand::value part;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS ||
        field.value().get(part) != simdjson::SUCCESS) {
      return absl::InvalidArgumentError("attrs: an entry cannot be read");
    }
    const JsonValue taken = TakeJsonValue(part, &window);
    if (name == "name") RETURN_IF_ERROR(ToText("attrs: name", taken, &key));
    if (name == "type") RETURN_IF_ERROR(ToText("attrs: type", taken, &type));
    if (name == "value") value = taken;
  }
  if (key.empty()) return absl::InvalidArgumentError("attrs: an entry has no name");
  if (value.kind == JsonValue::Kind::kMissing) {
    return absl::InvalidArgumentError(absl::StrCat("attrs: ", key, " has no value"));
  }
  return SetCommonField(key, type, value, node);
}

absl::Status SetAttributes(ondemand::value value, const JsonWindow& window, EtNode* node) {
  ondemand::array attributes;
  if (value.get_array().get(attributes) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError("attrs: is not a list");
  }
  for (auto entry : attributes) {
    ondemand::object attribute;
    if (entry.get_object().get(attribute) != simdjson::SUCCESS) {
      return absl::InvalidArgumentError("attrs: an entry is not an object");
    }
    RETURN_IF_ERROR(SetAttribute(attribute, window, node));
  }
  return absl::OkStatus();
}

// {"values": ..., "shapes": ..., "types": ..., "strides": ...}
absl::Status SetArguments(absl::string_view key, ondemand::value value, const JsonWindow& window,
                          EtNode* node) {
  ondemand::object parts;
  if (value.get_object().get(parts) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": is neither a list nor an object"));
  }
  const bool input = key == "inputs";
  EtArguments& arguments = node->arguments;
  for (auto field : parts) {
    std::string_view name;
    ondemand::value part;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS ||
        field.value().get(part) != simdjson::SUCCESS) {
      return absl::InvalidArgumentError(absl::StrCat(key, ": cannot be read"));
    }
    const JsonValue taken = TakeJsonValue(part, &window);
    if (name == "values") {
      (input ? arguments.inputs : arguments.outputs) = taken.text;
    } else if (name == "shapes") {
      (input ? arguments.input_shapes : node->output_shapes) = taken.text;
    } else if (name == "types") {
      (input ? arguments.input_types : node->output_types) = taken.text;
    } else if (name == "strides") {
      (input ? node->input_strides : node->output_strides) = taken.text;
    } else {
      AddExtra(absl::StrCat(key, ".", View(name)), "", taken, node);
    }
  }
  return absl::OkStatus();
}

// Views of list-valued fields; false when `key` is not one of them.
bool SetListField(absl::string_view key, absl::string_view json, EtNode* node) {
  if (key == "inputs") {
    node->arguments.inputs = json;
  } else if (key == "input_shapes") {
    node->arguments.input_shapes = json;
  } else if (key == "input_types") {
    node->arguments.input_types = json;
  } else if (key == "outputs") {
    node->arguments.outputs = json;
  } else if (key == "output_shapes") {
    node->output_shapes = json;
  } else if (key == "output_types") {
    node->output_types = json;
  } else {
    return false;
  }
  return true;
}

struct Seen {
  bool id = false, name = false, parent = false;
};

absl::Status SetField(absl::string_view key, ondemand::value value, const JsonWindow& window,
                      Seen* seen, EtNode* node) {
  if (key == "attrs") return SetAttributes(value, window, node);
  ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": cannot be read"));
  }
  if ((key == "inputs" || key == "outputs") && type == ondemand::json_type::object) {
    return SetArguments(key, value, window, node);
  }
  const JsonValue taken = TakeJsonValue(value, &window);
  if (key == "id") {
    seen->id = true;
    return ToInt(key, taken, &node->id);
  }
  if (key == "name") {
    seen->name = true;
    RETURN_IF_ERROR(ToText(key, taken, &node->name));
    if (static_cast<int64_t>(node->name.size()) <= kMaxNameBytes) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("name: ", node->name.size(), " bytes are more than ", kMaxNameBytes));
  }
  if (key == "parent" || key == "ctrl_deps") {
    seen->parent = true;
    return ToInt(key, taken, &node->parent);
  }
  if (SetListField(key, taken.text, node)) return absl::OkStatus();
  if (JsonValue* linked = node->linked.Find(key); linked != nullptr) {
    node->is_linked = true;
    *linked = taken;
    // All but the category are columns, groups or dependencies later.
    if (key != "cat") return absl::OkStatus();
  }
  return SetCommonField(key, "", taken, node);
}

absl::Status CheckKeys(const EtNode& node) {
  if (node.extras.size() > kMaxNodeAttributes) {
    return absl::InvalidArgumentError(
        absl::StrCat("attrs: ", node.extras.size(), " are more than ", kMaxNodeAttributes));
  }
  for (size_t i = 0; i < node.extras.size(); ++i) {
    const std::string& key = node.extras[i].key;
    if (absl::StartsWith(key, attr::kOwnPrefix)) {
      return absl::InvalidArgumentError(absl::StrCat(key, ": the prefix is reserved"));
    }
    for (size_t j = 0; j < i; ++j) {
      if (node.extras[j].key == key) {
        return absl::InvalidArgumentError(absl::StrCat(key, ": is there twice"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseEtNode(ondemand::object object, const JsonWindow& window, EtNode* node) {
  *node = EtNode();
  Seen seen;
  for (auto field : object) {
    std::string_view key;
    ondemand::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS ||
        field.value().get(value) != simdjson::SUCCESS) {
      return absl::InvalidArgumentError("cannot be read");
    }
    RETURN_IF_ERROR(SetField(View(key), value, window, &seen, node));
  }
  if (!seen.id) return absl::InvalidArgumentError("id: missing");
  if (!seen.name) return absl::InvalidArgumentError("name: missing");
  if (!seen.parent) {
    return absl::InvalidArgumentError("parent: missing (ctrl_deps from schema 1.0.2 on)");
  }
  return CheckKeys(*node);
}

}  // namespace chakrad
