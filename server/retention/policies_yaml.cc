#include "server/retention/policies_yaml.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "analysis/representative.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/limits.h"
#include "sim/system/yaml_tree.h"
#include "storage/quantity_text.h"

namespace chakrad {
namespace {

constexpr size_t kShownBytes = 64;

std::string Shown(absl::string_view text) {
  return absl::StrCat("\"", ValidUtf8(text, kShownBytes), "\"");
}

absl::Status Wrong(absl::string_view field, const YamlNode& value, absl::string_view wanted) {
  const std::string what = value.is_scalar() ? Shown(value.text)
                           : value.is_list() ? std::string("a list")
                           : value.is_map()  ? std::string("a map")
                                             : std::string("nothing");
  return absl::InvalidArgumentError(
      absl::StrCat(field, " (line ", value.line, "): ", what, " is not ", wanted));
}

absl::Status ReadText(absl::string_view field, const YamlNode& value, std::string* text) {
  if (!value.is_scalar()) return Wrong(field, value, "text");
  *text = value.text;
  return absl::OkStatus();
}

absl::Status ReadName(absl::string_view field, const YamlNode& value, std::string* name) {
  RETURN_IF_ERROR(ReadText(field, value, name));
  bool fits = !name->empty() && name->size() <= kMaxPolicyNameBytes;
  for (const char c : *name) {
    fits = fits && (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_');
  }
  if (fits) return absl::OkStatus();
  return Wrong(field, value,
               absl::StrCat("1 to ", kMaxPolicyNameBytes, " letters, digits, '-' and '_'"));
}

absl::Status ReadCount(absl::string_view field, const YamlNode& value, int64_t highest,
                       int64_t* count) {
  if (value.is_scalar() && absl::SimpleAtoi(value.text, count) && *count >= 1 &&
      *count <= highest) {
    return absl::OkStatus();
  }
  return Wrong(field, value, absl::StrCat("a whole number in [1, ", highest, "]"));
}

absl::Status ReadGroupBy(absl::string_view field, const YamlNode& value,
                         std::vector<std::string>* labels) {
  std::vector<YamlNode> items;
  if (value.is_scalar()) items = {value};  // `group_by: job`
  if (value.is_list()) items = value.items;
  for (const YamlNode& item : items) {
    if (!item.is_scalar() || item.text.empty()) return Wrong(field, item, "a label's key");
    for (const std::string& label : *labels) {
      if (label == item.text) return Wrong(field, item, "listed once only");
    }
    labels->push_back(item.text);
  }
  if (!labels->empty() && labels->size() <= kMaxGroupByLabels) return absl::OkStatus();
  return Wrong(field, value, absl::StrCat("a list of 1 to ", kMaxGroupByLabels, " labels' keys"));
}

absl::Status ReadField(absl::string_view field, const YamlNode& value, RetentionPolicy* policy) {
  constexpr int64_t kAny = int64_t{1} << 40;
  if (field == "name") return ReadName(field, value, &policy->name);
  if (field == "filter") {
    std::string text;
    RETURN_IF_ERROR(ReadText(field, value, &text));
    ASSIGN_OR_RETURN(policy->filter, TraceFilter::Parse(text));
    return absl::OkStatus();
  }
  if (field == "group_by") return ReadGroupBy(field, value, &policy->group_by);
  if (field == "keep_newest") return ReadCount(field, value, kAny, &policy->keep_newest);
  if (field == "keep_representative") {
    return ReadCount(field, value, kMaxRepresentatives, &policy->keep_representative);
  }
  if (field == "keep_for") {
    const std::optional<int64_t> ns =
        value.is_scalar() ? ParseDurationNs(value.text) : std::nullopt;
    if (!ns.has_value() || *ns < 1'000'000'000) {
      return Wrong(field, value, "a duration of at least 1s, such as 30d or 12h");
    }
    policy->keep_for_ns = *ns;
    return absl::OkStatus();
  }
  if (field == "keep_one_a_day") {
    if (!value.is_scalar() || (value.text != "true" && value.text != "false")) {
      return Wrong(field, value, "true or false");
    }
    policy->keep_one_a_day = value.text == "true";
    return absl::OkStatus();
  }
  if (field == "max_bytes") {
    const std::optional<int64_t> bytes =
        value.is_scalar() ? ParseSizeBytes(value.text) : std::nullopt;
    if (!bytes.has_value() || *bytes < 1) {
      return Wrong(field, value, "a size such as 500GiB or 4096");
    }
    policy->max_bytes = *bytes;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      Shown(field), " (line ", value.line,
      "): not known; fields are name, filter, group_by, keep_newest, keep_for, keep_one_a_day, "
      "keep_representative, max_bytes"));
}

absl::StatusOr<RetentionPolicy> ReadPolicy(const YamlNode& node) {
  RetentionPolicy policy;
  if (!node.is_map()) return Wrong("policies", node, "a map with name and rules");
  for (size_t i = 0; i < node.keys.size(); ++i) {  // The name first: errors tell it.
    if (node.keys[i] != "name") continue;
    RETURN_IF_ERROR(ReadName("name", node.items[i], &policy.name));
  }
  if (policy.name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("line ", node.line, ": a policy without name"));
  }
  const std::string context = absl::StrCat("policy ", policy.name);
  for (size_t i = 0; i < node.keys.size(); ++i) {
    const absl::Status status = ReadField(node.keys[i], node.items[i], &policy);
    if (!status.ok()) return Annotate(status, context);
  }
  if (!policy.has_keep_rule() && policy.max_bytes == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(context,
                     ": has no rule; give it one or more of keep_newest, keep_for, keep_one_a_day, "
                     "keep_representative, max_bytes"));
  }
  return policy;
}

}  // namespace

absl::StatusOr<std::vector<RetentionPolicy>> ParsePoliciesYaml(absl::string_view text) {
  std::vector<RetentionPolicy> policies;
  if (text.size() > kMaxPoliciesBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("yaml: ", text.size(), " bytes are more than ", kMaxPoliciesBytes));
  }
  absl::StatusOr<YamlNode> root = ParseYaml(text);
  if (!root.ok()) return Annotate(root.status(), "yaml");
  if (root->kind == YamlNode::Kind::kNothing) return policies;
  if (!root->is_map() || root->keys.size() != 1 || root->keys[0] != "policies") {
    return absl::InvalidArgumentError("yaml: the one key at the top must be `policies`");
  }
  const YamlNode& list = root->items[0];
  if (list.kind == YamlNode::Kind::kNothing) return policies;
  if (!list.is_list()) return Wrong("policies", list, "a list");
  if (list.items.size() > kMaxPolicies) {
    return absl::InvalidArgumentError(
        absl::StrCat("policies: ", list.items.size(), " are more than ", kMaxPolicies));
  }
  for (const YamlNode& item : list.items) {
    ASSIGN_OR_RETURN(RetentionPolicy policy, ReadPolicy(item));
    for (const RetentionPolicy& other : policies) {
      if (other.name != policy.name) continue;
      return absl::InvalidArgumentError(absl::StrCat("policy ", policy.name, ": name (line ",
                                                     item.line, "): another policy has it"));
    }
    policies.push_back(std::move(policy));
  }
  return policies;
}

}  // namespace chakrad
