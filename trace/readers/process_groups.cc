#include "trace/readers/process_groups.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;

// Objects directly inside a list, as text; what is behind the last complete one
// is left out, and `*complete` tells whether the list was closed.
std::vector<absl::string_view> SplitObjects(absl::string_view json, bool* complete) {
  std::vector<absl::string_view> objects;
  *complete = false;
  int depth = 0;
  bool in_string = false;
  size_t begin = 0;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth == 2 && c == '{') begin = i;
    } else if (c == '}' || c == ']') {
      if (--depth == 1 && c == '}') objects.push_back(json.substr(begin, i - begin + 1));
      if (depth <= 0) {
        *complete = true;
        break;
      }
    }
  }
  return objects;
}

absl::StatusOr<int64_t> ToInt(const Json& value, absl::string_view key) {
  int64_t number = -1;
  const bool is_number =
      (value.is_number_integer() &&
       !(value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)));
  if (is_number) {
    number = value.get<int64_t>();
  } else if (!value.is_string() || !absl::SimpleAtoi(value.get<std::string>(), &number)) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": is not an integer"));
  }
  return number;
}

std::string ToText(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) return "";
  if (it->is_string()) return it->get<std::string>();
  return it->is_number_integer() ? it->dump() : "";
}

absl::Status AppendRank(const Json& value, std::vector<int32_t>* ranks) {
  ASSIGN_OR_RETURN(const int64_t rank, ToInt(value, "ranks"));
  if (rank < 0 || rank > INT32_MAX) {
    return absl::InvalidArgumentError(absl::StrCat("ranks: ", rank, " is not in [0, 2^31)"));
  }
  ranks->push_back(static_cast<int32_t>(rank));
  return absl::OkStatus();
}

// A list of global ranks, or an object of global rank to group rank.
absl::Status ReadRanks(const Json& value, std::vector<int32_t>* ranks) {
  if (value.is_array()) {
    for (const Json& rank : value) RETURN_IF_ERROR(AppendRank(rank, ranks));
    return absl::OkStatus();
  }
  if (!value.is_object()) return absl::InvalidArgumentError("ranks: is not a list");
  std::map<int64_t, int32_t> by_group_rank;
  for (const auto& [global, group_rank] : value.items()) {
    std::vector<int32_t> one;
    RETURN_IF_ERROR(AppendRank(Json(global), &one));
    ASSIGN_OR_RETURN(const int64_t position, ToInt(group_rank, "ranks"));
    by_group_rank[position] = one[0];
  }
  for (const auto& [position, rank] : by_group_rank) ranks->push_back(rank);
  return absl::OkStatus();
}

struct Entry {
  ProcessGroup group;
  int64_t size = -1;
  bool everyone = false;  // An empty list of ranks: PyTorch's way to write the whole job.
};

absl::StatusOr<Entry> ReadEntry(absl::string_view text) {
  const Json object = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return absl::InvalidArgumentError("is not JSON");
  Entry entry;
  entry.group.name = ToText(object, "pg_name");
  entry.group.description = ToText(object, "pg_desc");
  if (entry.group.name.empty()) return absl::InvalidArgumentError("pg_name: missing");
  if (object.contains("ranks")) RETURN_IF_ERROR(ReadRanks(object["ranks"], &entry.group.ranks));
  for (const char* key : {"group_size", "pg_size"}) {
    if (object.contains(key)) {
      ASSIGN_OR_RETURN(entry.size, ToInt(object[key], key));
    }
  }
  entry.everyone = entry.group.ranks.empty() && object.contains("ranks");
  if (entry.group.ranks.empty() && entry.size > 0) {
    if (entry.size > kMaxGroupRanks) {
      return absl::InvalidArgumentError(
          absl::StrCat("group_size: ", entry.size, " is above ", kMaxGroupRanks));
    }
    for (int32_t rank = 0; rank < entry.size; ++rank) entry.group.ranks.push_back(rank);
  }
  std::vector<int32_t> sorted = entry.group.ranks;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return absl::InvalidArgumentError("ranks: one is named twice");
  }
  return entry;
}

}  // namespace

void ProcessGroupTables::AddNotice(absl::string_view notice) {
  if (++notices_count_ <= kListedMissing) {
    ledger_->notices.push_back(absl::StrCat("process group table", notice));
  } else if (notices_count_ == kListedMissing + 1) {
    ledger_->notices.push_back("process group table: there is more of this kind");
  }
}

void ProcessGroupTables::Add(absl::string_view json) {
  bool complete;
  const std::vector<absl::string_view> entries = SplitObjects(json, &complete);
  if (!complete) {
    AddNotice(absl::StrCat(" is cut off: ", entries.size(), " complete entries were read"));
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    absl::StatusOr<Entry> entry = ReadEntry(entries[i]);
    if (!entry.ok()) {
      AddNotice(absl::StrCat(", entry ", i, ": ", entry.status().message(), "; left out"));
      continue;
    }
    ranks_count_ += static_cast<int64_t>(entry->group.ranks.size());
    if (ranks_count_ > kMaxGroupRanksInAll || static_cast<int64_t>(groups_.size()) >= kMaxGroups) {
      return AddNotice(absl::StrCat(": more than ", kMaxGroups, " groups or ", kMaxGroupRanksInAll,
                                    " members: the rest is left out"));
    }
    const bool is_default = entry->group.description == "default_pg";
    if (entry->size > 0 && (is_default || (entry->everyone && world_size_ == 0))) {
      world_size_ = static_cast<int32_t>(std::min<int64_t>(entry->size, kMaxGroupRanks));
    }
    const auto [it, added] = by_name_.emplace(entry->group.name, groups_.size());
    if (added) {
      groups_.push_back(std::move(entry->group));
    } else if (!entry->group.ranks.empty()) {
      groups_[it->second] = std::move(entry->group);
    }
  }
}

}  // namespace chakrad
