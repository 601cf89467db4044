#include "trace/link/kernel_names.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;
using Match = KernelNames::Rule::Match;

constexpr std::pair<const char*, Match> kMatches[] = {
    {"contains", Match::kContains}, {"prefix", Match::kPrefix}, {"glob", Match::kGlob}};

constexpr absl::string_view kOps[] = {"all_reduce", "all_gather", "all_to_all", "reduce_scatter",
                                      "broadcast",  "reduce",     "gather",     "scatter",
                                      "barrier",    "send",       "recv"};

std::optional<CommKernel> ParseMeaning(absl::string_view meaning) {
  if (meaning == "undecided") return CommKernel{KernelClass::kUndecided, CommKind()};
  if (meaning == "not_comm") return CommKernel{KernelClass::kNotComm, CommKind()};
  for (const absl::string_view op : kOps) {
    if (meaning == op) return CommKernel{KernelClass::kComm, *CommKindOfOp(op)};
  }
  return std::nullopt;
}

absl::Status SetPattern(const std::string& key, Match match, const Json& value, bool* has_pattern,
                        KernelNames::Rule* rule) {
  if (std::exchange(*has_pattern, true)) {
    return absl::InvalidArgumentError("has two of contains, prefix and glob");
  }
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": is not a text"));
  }
  rule->match = match;
  rule->pattern = value.get<std::string>();
  if (rule->pattern.size() > kMaxKernelPatternBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        key, ": ", rule->pattern.size(), " bytes are more than ", kMaxKernelPatternBytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<KernelNames::Rule> ParseRule(const Json& entry) {
  if (!entry.is_object()) return absl::InvalidArgumentError("is not an object");
  KernelNames::Rule rule;
  bool has_pattern = false, has_meaning = false;
  for (const auto& [key, value] : entry.items()) {
    bool known = false;
    for (const auto& [name, match] : kMatches) {
      if (key != name) continue;
      known = true;
      RETURN_IF_ERROR(SetPattern(key, match, value, &has_pattern, &rule));
    }
    if (key == "meaning") {
      known = has_meaning = true;
      const std::string text = value.is_string() ? value.get<std::string>() : "";
      const std::optional<CommKernel> meaning = ParseMeaning(text);
      if (!meaning.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "meaning: \"", text.substr(0, 60), "\" is none of all_reduce, all_gather, all_to_all, ",
            "reduce_scatter, broadcast, reduce, gather, scatter, barrier, send, recv, undecided, ",
            "not_comm"));
      }
      rule.meaning = *meaning;
    }
    if (!known) {
      return absl::InvalidArgumentError(absl::StrCat(
          key.substr(0, 60), ": unknown; contains, prefix, glob and meaning are known"));
    }
  }
  if (!has_pattern) return absl::InvalidArgumentError("has none of contains, prefix and glob");
  if (!has_meaning) return absl::InvalidArgumentError("has no meaning");
  return rule;
}

bool Fits(const KernelNames::Rule& rule, absl::string_view name) {
  switch (rule.match) {
    case Match::kContains:
      return absl::StrContains(name, rule.pattern);
    case Match::kPrefix:
      return absl::StartsWith(name, rule.pattern);
    case Match::kGlob:
      return GlobFits(rule.pattern, name);
  }
  return false;
}

}  // namespace

bool GlobFits(absl::string_view pattern, absl::string_view text) {
  size_t p = 0, t = 0;
  size_t star = absl::string_view::npos, star_text = 0;  // The last *, and what it starts to eat.
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

CommKernel KernelNames::Classify(absl::string_view kernel_name) const {
  const absl::string_view compared = kernel_name.substr(0, kMaxComparedKernelNameBytes);
  for (const Rule& rule : rules_) {
    if (Fits(rule, compared)) return rule.meaning;
  }
  return ClassifyKernel(kernel_name);
}

absl::StatusOr<KernelNames> ParseKernelNames(absl::string_view json) {
  const Json root = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return absl::InvalidArgumentError("kernel_names: not JSON");
  const auto list = root.is_object() ? root.find("kernel_names") : root.end();
  if (!root.is_object() || list == root.end() || !list->is_array()) {
    return absl::InvalidArgumentError("kernel_names: missing, or not a list");
  }
  if (list->size() > kMaxKernelNameRules) {
    return absl::InvalidArgumentError(absl::StrCat("kernel_names: ", list->size(),
                                                   " entries are more than ", kMaxKernelNameRules));
  }
  std::vector<KernelNames::Rule> rules;
  for (const Json& entry : *list) {
    absl::StatusOr<KernelNames::Rule> rule = ParseRule(entry);
    if (!rule.ok()) {
      return Annotate(rule.status(), absl::StrCat("kernel_names[", rules.size(), "]"));
    }
    rules.push_back(*std::move(rule));
  }
  return KernelNames(std::move(rules));
}

}  // namespace chakrad
