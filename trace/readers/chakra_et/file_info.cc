#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/model/attributes.h"
#include "trace/readers/chakra_et/attribute_value.h"
#include "trace/readers/chakra_et/node_codec.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

using ChakraProtoMsg::AttributeProto;
using Json = nlohmann::json;

absl::Status ReadQueues(const AttributeProto& attribute, std::vector<Queue>* queues) {
  std::vector<int64_t> values;
  if (!GetIntegers(attribute, &values) || values.size() % 3 != 0 ||
      values.size() / 3 > static_cast<size_t>(UINT16_MAX)) {
    return absl::InvalidArgumentError(
        absl::StrCat(attribute.name(), ": is not a list of at most 65535 times 3 integers"));
  }
  std::set<std::array<int64_t, 3>> seen;
  for (size_t i = 0; i < values.size(); i += 3) {
    Queue queue;
    if (values[i] < 0 || values[i] > 1 || values[i + 1] < INT32_MIN || values[i + 1] > INT32_MAX) {
      return absl::InvalidArgumentError(
          absl::StrCat(attribute.name(), ": entry ", i / 3, " has no known kind or device"));
    }
    queue.kind = static_cast<Queue::Kind>(values[i]);
    queue.device = static_cast<int32_t>(values[i + 1]);
    queue.raw_id = values[i + 2];
    if (!seen.insert({values[i], values[i + 1], values[i + 2]}).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(attribute.name(), ": entry ", i / 3, " is there twice"));
    }
    queues->push_back(queue);
  }
  return absl::OkStatus();
}

absl::StatusOr<ProcessGroup> ReadGroup(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string() ||
      !json.contains("description") || !json["description"].is_string() ||
      !json.contains("ranks") || !json["ranks"].is_array()) {
    return absl::InvalidArgumentError("is not {name, description, ranks}");
  }
  ProcessGroup group{json["name"].get<std::string>(), json["description"].get<std::string>(), {}};
  for (const Json& rank : json["ranks"]) {
    if (!rank.is_number_unsigned() || rank.get<uint64_t>() > INT32_MAX) {
      return absl::InvalidArgumentError(
          absl::StrCat("ranks: an entry of type ", rank.type_name(), " is not in [0, 2^31)"));
    }
    group.ranks.push_back(rank.get<int32_t>());
  }
  return group;
}

absl::Status ReadGroups(const AttributeProto& attribute, std::vector<ProcessGroup>* groups) {
  for (const std::string& text : attribute.string_list().values()) {
    absl::StatusOr<ProcessGroup> group = ReadGroup(text);
    if (!group.ok()) {
      return Annotate(group.status(), absl::StrCat(attribute.name(), ": entry ", groups->size()));
    }
    groups->push_back(*std::move(group));
  }
  return absl::OkStatus();
}

AttributeProto* Add(const char* key, ChakraProtoMsg::GlobalMetadata* metadata) {
  AttributeProto* attribute = metadata->add_attr();
  attribute->set_name(key);
  return attribute;
}

absl::Status DecodeFileAttribute(const AttributeProto& attribute, const AttributeInfo& known,
                                 ChakraFileInfo* info) {
  RETURN_IF_ERROR(CheckAttributeType(attribute, known));
  int64_t value = 0;
  if (attribute.name() == attr::kSchema) {
    info->schema = attribute.string_val();
  } else if (attribute.name() == attr::kFormat) {
    RETURN_IF_ERROR(ReadInteger(attribute, 1, kAttributeFormat, &value));
  } else if (attribute.name() == attr::kRank) {
    RETURN_IF_ERROR(ReadInteger(attribute, kNoRank, INT32_MAX, &value));
    info->rank = static_cast<int32_t>(value);
  } else if (attribute.name() == attr::kBaseUnixNs) {
    RETURN_IF_ERROR(ReadInteger(attribute, 0, INT64_MAX, &info->base_unix_ns));
  } else if (attribute.name() == attr::kQueues) {
    std::vector<Queue> queues;
    RETURN_IF_ERROR(ReadQueues(attribute, &queues));
    info->queues = std::move(queues);
  } else if (attribute.name() == attr::kGroups) {
    std::vector<ProcessGroup> groups;
    RETURN_IF_ERROR(ReadGroups(attribute, &groups));
    info->groups = std::move(groups);
  }
  return absl::OkStatus();
}

}  // namespace

uint32_t ChakraFileInfo::FindGroup(absl::string_view name) {
  for (; groups_indexed_ < groups.size(); ++groups_indexed_) {
    group_index_.emplace(groups[groups_indexed_].name, static_cast<uint32_t>(groups_indexed_));
  }
  const auto [it, added] =
      group_index_.emplace(std::string(name), static_cast<uint32_t>(groups.size()));
  if (added) {
    groups.push_back({std::string(name), "", {}});
    ++groups_indexed_;
  }
  return it->second;
}

absl::StatusOr<ChakraFileInfo> DecodeMetadata(const ChakraProtoMsg::GlobalMetadata& metadata,
                                              const ReadOptions& options,
                                              std::vector<MessageFlaw>* flaws) {
  ChakraFileInfo info;
  ChakraProtoMsg::GlobalMetadata cold = metadata;
  auto* kept = cold.mutable_attr();
  kept->erase(std::remove_if(kept->begin(), kept->end(),
                             [](const AttributeProto& attribute) {
                               return FindAttribute(attribute.name(), AttributeScope::kFile) !=
                                      nullptr;
                             }),
              kept->end());
  cold.SerializeToString(&info.cold);
  for (const AttributeProto& attribute : metadata.attr()) {
    const AttributeInfo* known = FindAttribute(attribute.name(), AttributeScope::kFile);
    if (known == nullptr) continue;
    const absl::Status decoded = DecodeFileAttribute(attribute, *known, &info);
    if (decoded.ok()) continue;
    if (!options.lenient) return decoded;
    flaws->push_back({RuleOfAttribute(attribute, *known), std::string(decoded.message())});
  }
  return info;
}

absl::StatusOr<ChakraProtoMsg::GlobalMetadata> EncodeMetadata(const ChakraFileInfo& info) {
  ChakraProtoMsg::GlobalMetadata metadata;
  if (!metadata.ParseFromString(info.cold)) {
    return absl::DataLossError("the file's cold block does not parse");
  }
  if (!info.schema.empty()) Add(attr::kSchema, &metadata)->set_string_val(info.schema);
  Add(attr::kFormat, &metadata)->set_int64_val(kAttributeFormat);
  Add(attr::kRank, &metadata)->set_int64_val(info.rank);
  Add(attr::kBaseUnixNs, &metadata)->set_int64_val(info.base_unix_ns);
  auto* queues = Add(attr::kQueues, &metadata)->mutable_int64_list();
  for (const Queue& queue : info.queues) {
    queues->add_values(static_cast<int64_t>(queue.kind));
    queues->add_values(queue.device);
    queues->add_values(queue.raw_id);
  }
  auto* groups = Add(attr::kGroups, &metadata)->mutable_string_list();
  for (const ProcessGroup& group : info.groups) {
    const Json json = {
        {"name", group.name}, {"description", group.description}, {"ranks", group.ranks}};
    groups->add_values(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return metadata;
}

}  // namespace chakrad
