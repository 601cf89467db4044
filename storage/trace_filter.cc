#include "storage/trace_filter.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status.h"
#include "storage/limits.h"
#include "storage/quantity_text.h"
#include "storage/text_match.h"
#include "storage/trace_filter_node.h"

namespace chakrad {
namespace {

using NodeKind = FilterNode::Kind;

template <typename Value>
bool Holds(FilterOp op, const Value& left, const Value& right) {
  switch (op) {
    case FilterOp::kEq:
      return left == right;
    case FilterOp::kNe:
      return left != right;
    case FilterOp::kLt:
      return left < right;
    case FilterOp::kLe:
      return left <= right;
    case FilterOp::kGt:
      return left > right;
    case FilterOp::kGe:
      return left >= right;
  }
  return false;
}

bool TextHolds(const FilterNode& node, const std::string* value) {
  const bool is_equality = node.op == FilterOp::kEq || node.op == FilterOp::kNe;
  if (value == nullptr) {
    if (!is_equality) return false;
    const bool is_empty = !node.pattern.has_wildcard() && node.pattern.pieces()[0].empty();
    return is_empty == (node.op == FilterOp::kEq);
  }
  if (node.number.has_value()) {
    const std::optional<double> number = ParsePlainNumber(*value);
    if (number.has_value()) return Holds(node.op, *number, *node.number);
    if (!is_equality) return false;
  }
  if (is_equality) return node.pattern.Matches(*value) == (node.op == FilterOp::kEq);
  return Holds(node.op, *value, node.pattern.Text());
}

bool CompareHolds(const FilterNode& node, const TraceCard& card) {
  switch (node.field->kind()) {
    case TraceFieldKind::kText:
      return TextHolds(node, node.field->Text(card));
    case TraceFieldKind::kReal: {
      const std::optional<double> value = node.field->Real(card);
      return value.has_value() ? Holds(node.op, *value, node.real) : node.op == FilterOp::kNe;
    }
    default: {
      const std::optional<int64_t> value = node.field->Integer(card);
      return value.has_value() ? Holds(node.op, *value, node.integer) : node.op == FilterOp::kNe;
    }
  }
}

bool Tells(const TraceField& field, const TraceCard& card) {
  switch (field.kind()) {
    case TraceFieldKind::kText:
      return field.Text(card) != nullptr;
    case TraceFieldKind::kReal:
      return field.Real(card).has_value();
    default:
      return field.Integer(card).has_value();
  }
}

bool SearchHolds(const FilterNode& node, const TraceCard& card) {
  if (ContainsLowerCase(card.id, node.text)) return true;
  for (const auto& [key, value] : card.labels) {
    if (ContainsLowerCase(value, node.text)) return true;
  }
  return false;
}

// As deep as kMaxFilterDepth allows, and a little: each level of parentheses is at most
// three nodes (kNot, kAnd, kOr).
bool NodeHolds(const FilterNode& node, const TraceCard& card) {
  switch (node.kind) {
    case NodeKind::kAnd:
      for (const FilterNode& child : node.children) {
        if (!NodeHolds(child, card)) return false;
      }
      return true;
    case NodeKind::kOr:
      for (const FilterNode& child : node.children) {
        if (NodeHolds(child, card)) return true;
      }
      return false;
    case NodeKind::kNot:
      return !NodeHolds(node.children[0], card);
    case NodeKind::kCompare:
      return CompareHolds(node, card);
    case NodeKind::kTells:
      return Tells(*node.field, card);
    case NodeKind::kContains: {
      const std::string* value = node.field->Text(card);
      return value != nullptr && ContainsLowerCase(*value, node.text);
    }
    case NodeKind::kSearch:
      return SearchHolds(node, card);
  }
  return false;
}

const char* OpText(FilterOp op) {
  switch (op) {
    case FilterOp::kEq:
      return "=";
    case FilterOp::kNe:
      return "!=";
    case FilterOp::kLt:
      return "<";
    case FilterOp::kLe:
      return "<=";
    case FilterOp::kGt:
      return ">";
    case FilterOp::kGe:
      return ">=";
  }
  return "?";
}

std::string ValueText(const FilterNode& node) {
  switch (node.field->kind()) {
    case TraceFieldKind::kText:
      return node.pattern.Quoted();
    case TraceFieldKind::kTime:
      return QuotedText(TimeText(node.integer));
    case TraceFieldKind::kDuration:
      return absl::StrCat(node.integer, "ns");
    case TraceFieldKind::kBool:
      return node.integer != 0 ? "true" : "false";
    case TraceFieldKind::kReal:
      return absl::StrFormat("%.17g", node.real);
    case TraceFieldKind::kCount:
    case TraceFieldKind::kSize:
      return absl::StrCat(node.integer);
  }
  return "";
}

std::string NodeText(const FilterNode& node);

// `inside` is what the text becomes a part of: OR binds tighter than AND, NOT tightest.
std::string PartText(const FilterNode& node, NodeKind inside) {
  const bool is_tighter = node.kind == NodeKind::kOr && inside == NodeKind::kAnd;
  const bool is_list = node.kind == NodeKind::kAnd || node.kind == NodeKind::kOr;
  const bool is_twice_not = node.kind == NodeKind::kNot && inside == NodeKind::kNot;
  if ((is_list && !is_tighter) || is_twice_not) return absl::StrCat("(", NodeText(node), ")");
  return NodeText(node);
}

std::string NodeText(const FilterNode& node) {
  switch (node.kind) {
    case NodeKind::kAnd:
    case NodeKind::kOr: {
      std::vector<std::string> parts;
      for (const FilterNode& child : node.children) parts.push_back(PartText(child, node.kind));
      return absl::StrJoin(parts, node.kind == NodeKind::kAnd ? " AND " : " OR ");
    }
    case NodeKind::kNot:
      return absl::StrCat("NOT ", PartText(node.children[0], node.kind));
    case NodeKind::kCompare:
      return absl::StrCat(node.field->Name(), " ", OpText(node.op), " ", ValueText(node));
    case NodeKind::kTells:
      return absl::StrCat(node.field->Name(), ":*");
    case NodeKind::kContains:
      return absl::StrCat(node.field->Name(), ":", QuotedText(node.text));
    case NodeKind::kSearch:
      return QuotedText(node.text);
  }
  return "";
}

}  // namespace

absl::StatusOr<TraceFilter> TraceFilter::Parse(absl::string_view text) {
  if (absl::StripAsciiWhitespace(text).empty()) return TraceFilter();
  if (text.size() > kMaxFilterBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("filter: ", text.size(), " bytes are more than ", kMaxFilterBytes));
  }
  ASSIGN_OR_RETURN(FilterNode root, ParseFilterNode(text));
  return TraceFilter(std::make_shared<const FilterNode>(std::move(root)));
}

bool TraceFilter::Matches(const TraceCard& card) const {
  return root_ == nullptr || NodeHolds(*root_, card);
}

std::string TraceFilter::ToString() const { return root_ == nullptr ? "" : NodeText(*root_); }

}  // namespace chakrad
