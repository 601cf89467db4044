#include "sim/system/field_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace chakrad {

std::string Shown(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNothing:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return node.text.substr(0, 60);
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      break;
  }
  return "a map";
}

bool ParseFactor(const YamlNode& node, double* value) {
  if (!node.is_scalar()) return false;
  absl::string_view text = node.text;
  const bool percent = absl::ConsumeSuffix(&text, "%");
  double number = 0;
  if (!absl::SimpleAtod(text, &number)) return false;
  if (percent) number /= 100;
  if (!std::isfinite(number) || number <= 0) return false;
  *value = number;
  return true;
}

FieldReader::FieldReader(const YamlNode* node, std::string path, Faults* faults)
    : node_(node), path_(std::move(path)), faults_(faults) {
  if (node_ == nullptr || node_->is_map()) return;
  Fault(node_, path_, absl::StrCat(Shown(*node_), " is not a map"));
  broken_ = true;
  node_ = nullptr;
}

std::string FieldReader::PathOf(absl::string_view key) const {
  return path_.empty() ? std::string(key) : absl::StrCat(path_, ".", key);
}

void FieldReader::Fault(const YamlNode* at, absl::string_view path, absl::string_view what) {
  const std::string line =
      at == nullptr || at->line == 0 ? "" : absl::StrCat("line ", at->line, ": ");
  faults_->push_back(absl::StrCat(line, path.empty() ? "the file" : std::string(path), ": ", what));
}

const YamlNode* FieldReader::Take(const char* key, bool required) {
  asked_.push_back(key);
  if (node_ != nullptr) {
    for (size_t i = 0; i < node_->keys.size(); ++i) {
      if (node_->keys[i] == key) return &node_->items[i];
    }
  }
  if (required && !broken_) Fault(node_, PathOf(key), "is missing");
  return nullptr;
}

bool FieldReader::Quantity(const char* key, QuantityKind kind, Sign sign, bool required,
                           double* value) {
  const YamlNode* node = Take(key, required);
  if (node == nullptr) return false;
  if (!node->is_scalar()) {
    Fault(node, PathOf(key),
          absl::StrCat(Shown(*node), " is not a number and one of ", QuantityUnits(kind)));
    return false;
  }
  const absl::StatusOr<double> parsed = ParseQuantity(kind, node->text);
  if (!parsed.ok()) {
    Fault(node, PathOf(key), parsed.status().message());
    return false;
  }
  if (*parsed < 0 || (sign == Sign::kPositive && *parsed == 0)) {
    Fault(node, PathOf(key),
          absl::StrCat(Shown(*node), sign == Sign::kPositive ? " is not above 0" : " is below 0"));
    return false;
  }
  *value = *parsed;
  return true;
}

bool FieldReader::WholeNumber(const char* key, int64_t low, int64_t high, bool required,
                              int64_t* value) {
  const YamlNode* node = Take(key, required);
  if (node == nullptr) return false;
  int64_t number = 0;
  if (!node->is_scalar() || node->quoted || !absl::SimpleAtoi(node->text, &number) ||
      number < low || number > high) {
    Fault(node, PathOf(key),
          absl::StrCat(Shown(*node), " is not a whole number in [", low, ", ", high, "]"));
    return false;
  }
  *value = number;
  return true;
}

bool FieldReader::Factor(const char* key, bool required, double* value) {
  const YamlNode* node = Take(key, required);
  if (node == nullptr) return false;
  if (ParseFactor(*node, value)) return true;
  Fault(node, PathOf(key),
        absl::StrCat(Shown(*node), " is not a finite factor above 0, such as 1.1 or 110 %"));
  return false;
}

int FieldReader::Choice(const char* key, const std::vector<std::string>& choices, bool required) {
  const YamlNode* node = Take(key, required);
  if (node == nullptr) return -1;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (node->is_scalar() && node->text == choices[i]) return static_cast<int>(i);
  }
  Fault(node, PathOf(key),
        absl::StrCat(Shown(*node), " is not one of ", absl::StrJoin(choices, ", ")));
  return -1;
}

std::vector<const YamlNode*> FieldReader::List(const char* key, int64_t limit, bool required) {
  std::vector<const YamlNode*> entries;
  const YamlNode* node = Take(key, required);
  if (node == nullptr) return entries;
  const auto count = static_cast<int64_t>(node->items.size());
  if (!node->is_list()) {
    Fault(node, PathOf(key), absl::StrCat(Shown(*node), " is not a list"));
  } else if (count > limit || (required && count == 0)) {
    Fault(node, PathOf(key),
          absl::StrCat(count, " entries are not in [", required ? 1 : 0, ", ", limit, "]"));
  } else {
    for (const YamlNode& item : node->items) entries.push_back(&item);
  }
  return entries;
}

void FieldReader::ReportUnknownKeys() {
  if (node_ == nullptr) return;
  for (size_t i = 0; i < node_->keys.size(); ++i) {
    const std::string& key = node_->keys[i];
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    Fault(&node_->items[i], PathOf(key.substr(0, 60)),
          absl::StrCat("is not a known key; known are ", absl::StrJoin(asked_, ", ")));
  }
}

}  // namespace chakrad
