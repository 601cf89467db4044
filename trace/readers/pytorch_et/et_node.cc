#include "trace/readers/pytorch_et/et_node.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/model/attributes.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

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
  switch (key.empty() ? '\0' : key.front()) {
    case 'f':
      if (key == attr::kFwParent) return ToInt(key, value, &node->fw_parent);
      if (key == attr::kFwTid) return ToInt(key, value, &node->fw_tid);
      break;
    case 'o':
      if (key == attr::kOpSchema) return ToText(key, value, &node->op_schema);
      break;
    case 'r':
      if (key == attr::kRfId) return ToInt(key, value, &node->rf_id);
      break;
    case 's':
      if (key == attr::kSeqId) return ToInt(key, value, &node->seq_id);
      if (key == attr::kScope) return ToInt(key, value, &node->scope);
      break;
    case 't':
      if (key == attr::kTid) return ToInt(key, value, &node->tid);
      break;
    default:
      break;
  }
  AddExtra(key, type, value, node);
  return absl::OkStatus();
}

absl::Status SetAttribute(JsonRef attribute, EtNode* node) {
  absl::string_view key, type;
  JsonValue value;
  for (JsonFields field(attribute); field.Next();) {
    const absl::string_view name = field.key();
    if (name == "name") {
      RETURN_IF_ERROR(ToText("attrs: name", field.value().Take(), &key));
    } else if (name == "type") {
      RETURN_IF_ERROR(ToText("attrs: type", field.value().Take(), &type));
    } else if (name == "value") {
      value = field.value().Take();
    }
  }
  if (key.empty()) return absl::InvalidArgumentError("attrs: an entry has no name");
  if (value.kind == JsonValue::Kind::kMissing) {
    return absl::InvalidArgumentError(absl::StrCat("attrs: ", key, " has no value"));
  }
  return SetCommonField(key, type, value, node);
}

absl::Status SetAttributes(JsonRef value, EtNode* node) {
  if (!value.is_array()) return absl::InvalidArgumentError("attrs: is not a list");
  for (JsonItems entry(value); entry.Next();) {
    if (!entry.value().is_object()) {
      return absl::InvalidArgumentError("attrs: an entry is not an object");
    }
    RETURN_IF_ERROR(SetAttribute(entry.value(), node));
  }
  return absl::OkStatus();
}

// {"values": ..., "shapes": ..., "types": ..., "strides": ...}
void SetArguments(absl::string_view key, JsonRef parts, EtNode* node) {
  const bool input = key == "inputs";
  EtArguments& arguments = node->arguments;
  for (JsonFields field(parts); field.Next();) {
    const absl::string_view name = field.key();
    const JsonValue taken = field.value().Take();
    if (name == "values") {
      (input ? arguments.inputs : arguments.outputs) = taken.text;
    } else if (name == "shapes") {
      (input ? arguments.input_shapes : node->output_shapes) = taken.text;
    } else if (name == "types") {
      (input ? arguments.input_types : node->output_types) = taken.text;
    } else if (name == "strides") {
      (input ? node->input_strides : node->output_strides) = taken.text;
    } else {
      AddExtra(absl::StrCat(key, ".", name), "", taken, node);
    }
  }
}

// Views of list-valued fields; false when `key` is not one of them.
bool SetListField(absl::string_view key, absl::string_view json, EtNode* node) {
  if (key.empty() || (key.front() != 'i' && key.front() != 'o')) return false;
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

absl::Status SetField(absl::string_view key, JsonRef value, Seen* seen, EtNode* node) {
  if (key == "attrs") return SetAttributes(value, node);
  if ((key == "inputs" || key == "outputs") && value.is_object()) {
    SetArguments(key, value, node);
    return absl::OkStatus();
  }
  const JsonValue taken = value.Take();
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

absl::Status ParseEtNode(JsonRef object, EtNode* node) {
  *node = EtNode();
  Seen seen;
  for (JsonFields field(object); field.Next();) {
    RETURN_IF_ERROR(SetField(field.key(), field.value(), &seen, node));
  }
  if (!seen.id) return absl::InvalidArgumentError("id: missing");
  if (!seen.name) return absl::InvalidArgumentError("name: missing");
  if (!seen.parent) {
    return absl::InvalidArgumentError("parent: missing (ctrl_deps from schema 1.0.2 on)");
  }
  return CheckKeys(*node);
}

}  // namespace chakrad
