#include "trace/readers/manifest/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;

absl::Status Wrong(absl::string_view key, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(key, ": ", what));
}

std::string Show(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60);
}

// An integer in [0, limit).
absl::Status ReadCount(absl::string_view key, const Json& value, int64_t limit, int32_t* count) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() >= static_cast<uint64_t>(limit)) {
    return Wrong(key, absl::StrCat(Show(value), " is not an integer in [0, ", limit, ")"));
  }
  *count = value.get<int32_t>();
  return absl::OkStatus();
}

absl::Status ReadText(absl::string_view key, const Json& value, std::string* text) {
  if (!value.is_string()) return Wrong(key, absl::StrCat(Show(value), " is not a string"));
  *text = value.get<std::string>();
  return absl::OkStatus();
}

// Ranks are below the world size where that is stated.
int64_t RankLimit(const Manifest& manifest) {
  return manifest.world_size > 0 ? manifest.world_size : int64_t{INT32_MAX};
}

absl::Status ReadGroup(const std::string& name, const Json& ranks, Manifest* manifest) {
  const std::string key = absl::StrCat("process_groups: ", name);
  if (!ranks.is_array() || ranks.empty()) return Wrong(key, "is not a list of ranks");
  if (static_cast<int64_t>(ranks.size()) > kMaxGroupRanks) {
    return Wrong(key, absl::StrCat(ranks.size(), " ranks are more than ", kMaxGroupRanks));
  }
  ProcessGroup group;
  group.name = name;
  for (const Json& rank : ranks) {
    int32_t number;
    RETURN_IF_ERROR(ReadCount(key, rank, RankLimit(*manifest), &number));
    group.ranks.push_back(number);
  }
  std::vector<int32_t> sorted = group.ranks;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) return Wrong(key, absl::StrCat("rank ", *twice, " is there twice"));
  manifest->groups.push_back(std::move(group));
  return absl::OkStatus();
}

// {"tp0": [0, 1]} or [{"name": "tp0", "ranks": [0, 1], "description": "..."}].
absl::Status ReadGroups(const Json& groups, Manifest* manifest) {
  if (groups.is_object()) {
    for (const auto& [name, ranks] : groups.items()) {
      RETURN_IF_ERROR(ReadGroup(name, ranks, manifest));
    }
    return absl::OkStatus();
  }
  if (!groups.is_array()) return Wrong("process_groups", "is neither an object nor a list");
  for (const Json& entry : groups) {
    if (!entry.is_object() || !entry.contains("name") || !entry.contains("ranks")) {
      return Wrong("process_groups", absl::StrCat(Show(entry), " is not {name, ranks}"));
    }
    std::string name;
    RETURN_IF_ERROR(ReadText("process_groups: name", entry["name"], &name));
    for (const ProcessGroup& group : manifest->groups) {
      if (group.name == name) {
        return Wrong("process_groups", absl::StrCat(name, " is there twice"));
      }
    }
    RETURN_IF_ERROR(ReadGroup(name, entry["ranks"], manifest));
    if (entry.contains("description")) {
      RETURN_IF_ERROR(ReadText("process_groups: description", entry["description"],
                               &manifest->groups.back().description));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadFiles(const Json& files, Manifest* manifest) {
  if (!files.is_object()) return Wrong("files", "is not an object of file name to rank");
  for (const auto& [name, rank] : files.items()) {
    if (name.empty() || absl::StrContains(name, "/")) {
      return Wrong("files", absl::StrCat("\"", name, "\" is not the name of a file beside this"));
    }
    int32_t number;
    RETURN_IF_ERROR(ReadCount(absl::StrCat("files: ", name), rank, RankLimit(*manifest), &number));
    manifest->rank_by_file[name] = number;
  }
  return absl::OkStatus();
}

absl::Status ReadRule(const Json& json, Manifest* manifest) {
  if (!json.is_object() || !json.contains("groups") || !json["groups"].is_array() ||
      json["groups"].empty()) {
    return Wrong("collective_rules", absl::StrCat(Show(json), " is not {op, under, groups}"));
  }
  CollectiveRule rule;
  for (auto [key, field] : {std::pair{"op", &rule.op}, std::pair{"under", &rule.under}}) {
    if (!json.contains(key)) continue;
    RETURN_IF_ERROR(ReadText(absl::StrCat("collective_rules: ", key), json[key], field));
  }
  for (const Json& group : json["groups"]) {
    std::string name;
    RETURN_IF_ERROR(ReadText("collective_rules: groups", group, &name));
    const bool known =
        std::any_of(manifest->groups.begin(), manifest->groups.end(),
                    [&name](const ProcessGroup& group) { return group.name == name; });
    if (!known) {
      return Wrong("collective_rules",
                   absl::StrCat("group \"", name, "\" is not in process_groups"));
    }
    rule.groups.push_back(std::move(name));
  }
  manifest->collective_rules.push_back(std::move(rule));
  return absl::OkStatus();
}

// What the recorder says about each rank is not needed, but a rank beyond the
// world means that the file belongs to another job.
absl::Status CheckRanks(const Json& ranks, const Manifest& manifest) {
  if (!ranks.is_array()) return Wrong("ranks", "is not a list");
  for (const Json& entry : ranks) {
    if (!entry.is_object() || !entry.contains("rank")) continue;
    int32_t unused;
    RETURN_IF_ERROR(ReadCount("ranks: rank", entry["rank"], RankLimit(manifest), &unused));
  }
  return absl::OkStatus();
}

// ASTRA-sim's file of communicator groups: {"1": [0, 1, 2, 3], "2": [2, 3]}.
bool IsCommGroupFile(const Json& object) {
  if (object.empty()) return false;
  for (const auto& [name, ranks] : object.items()) {
    if (!IsGroupNumber(name) || !ranks.is_array()) return false;
  }
  return true;
}

}  // namespace

bool IsGroupNumber(absl::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
}

bool LooksLikeManifest(absl::string_view json) {
  if (static_cast<int64_t>(json.size()) > kMaxManifestBytes) return false;
  const Json object = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return false;
  if (IsCommGroupFile(object)) return true;
  return (object.contains("world_size") || object.contains("world") ||
          object.contains("process_groups")) &&
         !object.contains("nodes") && !object.contains("traceEvents");
}

absl::StatusOr<Manifest> ParseManifest(absl::string_view json) {
  if (static_cast<int64_t>(json.size()) > kMaxManifestBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest: ", json.size(), " bytes are more than ", kMaxManifestBytes));
  }
  const Json object = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return absl::InvalidArgumentError("manifest: not a JSON object");
  Manifest manifest;
  if (IsCommGroupFile(object)) {
    RETURN_IF_ERROR(ReadGroups(object, &manifest));
    return manifest;
  }
  // The world size first: it bounds the ranks of all the others.
  for (const char* key : {"world_size", "world"}) {  // The first that is there.
    if (!object.contains(key)) continue;
    RETURN_IF_ERROR(ReadCount(key, object[key], INT32_MAX, &manifest.world_size));
    if (manifest.world_size == 0) return Wrong(key, "0 is not in [1, 2^31)");
    break;
  }
  if (object.contains("ranks")) RETURN_IF_ERROR(CheckRanks(object["ranks"], manifest));
  if (object.contains("files")) RETURN_IF_ERROR(ReadFiles(object["files"], &manifest));
  if (object.contains("process_groups")) {
    RETURN_IF_ERROR(ReadGroups(object["process_groups"], &manifest));
  }
  if (object.contains("collective_rules")) {
    const Json& rules = object["collective_rules"];
    if (!rules.is_array()) return Wrong("collective_rules", "is not a list");
    for (const Json& rule : rules) RETURN_IF_ERROR(ReadRule(rule, &manifest));
  }
  return manifest;
}

}  // namespace chakrad
