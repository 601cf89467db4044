#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status.h"
#include "common/utf8.h"
#include "storage/limits.h"
#include "storage/quantity_text.h"
#include "storage/trace_filter_node.h"

namespace chakrad {
namespace {

using NodeKind = FilterNode::Kind;

// Of the text that follows an error's position, in its message.
constexpr size_t kShownBytes = 24;

bool Contains(absl::string_view characters, char c) {
  return characters.find(c) != absl::string_view::npos;
}

// A value as it was written: a word, or text in quotes.
struct Value {
  std::vector<std::string> pieces{""};
  bool is_wildcard() const { return pieces.size() == 2 && pieces[0].empty() && pieces[1].empty(); }
  std::string Text() const { return TextPattern(pieces).Text(); }
};

// "a AND (b OR c)" is one kAnd; lists within lists of the same kind become one.
FilterNode Joined(NodeKind kind, std::vector<FilterNode> parts) {
  if (parts.size() == 1) return std::move(parts[0]);
  FilterNode node;
  node.kind = kind;
  for (FilterNode& part : parts) {
    if (part.kind == kind) {
      for (FilterNode& child : part.children) node.children.push_back(std::move(child));
    } else {
      node.children.push_back(std::move(part));
    }
  }
  return node;
}

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<FilterNode> Parse() {
    ASSIGN_OR_RETURN(FilterNode root, ParseExpression(0));
    if (at_ < text_.size()) return Expected("AND, OR or the end: there is no ( to close");
    return root;
  }

 private:
  absl::Status ErrorAt(size_t at, absl::string_view what) const {
    const std::string place =
        at >= text_.size() ? "at the end"
                           : absl::StrCat("at \"", ValidUtf8(text_.substr(at), kShownBytes), "\"");
    return absl::InvalidArgumentError(
        absl::StrCat("filter: position ", at, ", ", place, ": expected ", what));
  }
  absl::Status Expected(absl::string_view what) const { return ErrorAt(at_, what); }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  // Where the word at at_ ends; `stops` end one besides blanks, parentheses and so on.
  size_t WordEnd(absl::string_view stops) const {
    size_t end = at_;
    while (end < text_.size() && !absl::ascii_isspace(static_cast<unsigned char>(text_[end])) &&
           text_[end] != '\0' && !Contains("()\",=<>!", text_[end]) &&
           !Contains(stops, text_[end])) {
      ++end;
    }
    return end;
  }
  absl::string_view PeekWord(absl::string_view stops) const {
    return text_.substr(at_, WordEnd(stops) - at_);
  }
  bool TakeKeyword(absl::string_view keyword) {
    SkipSpace();
    if (PeekWord(":") != keyword) return false;
    at_ += keyword.size();
    return true;
  }

  absl::StatusOr<FilterNode> ParseExpression(int depth) {
    std::vector<FilterNode> factors;
    for (;;) {
      ASSIGN_OR_RETURN(FilterNode factor, ParseFactor(depth));
      factors.push_back(std::move(factor));
      const bool goes_on = TakeKeyword("AND");
      SkipSpace();
      if (!goes_on && (at_ == text_.size() || text_[at_] == ')')) break;
    }
    return Joined(NodeKind::kAnd, std::move(factors));
  }

  absl::StatusOr<FilterNode> ParseFactor(int depth) {
    std::vector<FilterNode> terms;
    do {
      ASSIGN_OR_RETURN(FilterNode term, ParseTerm(depth));
      terms.push_back(std::move(term));
    } while (TakeKeyword("OR"));
    return Joined(NodeKind::kOr, std::move(terms));
  }

  absl::StatusOr<FilterNode> ParseTerm(int depth) {
    bool is_not = TakeKeyword("NOT");
    if (!is_not && Peek() == '-') {
      is_not = true;
      ++at_;
    }
    SkipSpace();
    ASSIGN_OR_RETURN(FilterNode simple, ParseSimple(depth));
    if (!is_not) return simple;
    FilterNode node;
    node.kind = NodeKind::kNot;
    node.children.push_back(std::move(simple));
    return node;
  }

  absl::StatusOr<FilterNode> ParseSimple(int depth) {
    if (Peek() != '(') return ParseRestriction();
    if (depth == kMaxFilterDepth) {
      return Expected(absl::StrCat("at most ", kMaxFilterDepth, " parentheses within each other"));
    }
    ++at_;
    ASSIGN_OR_RETURN(FilterNode inner, ParseExpression(depth + 1));
    SkipSpace();
    if (Peek() != ')') return Expected(")");
    ++at_;
    return inner;
  }

  absl::StatusOr<FilterNode> ParseRestriction() {
    if (++terms_count_ > kMaxFilterTerms) {
      return Expected(absl::StrCat("at most ", kMaxFilterTerms, " terms"));
    }
    const size_t begin = at_;
    if (Peek() == '"' || Peek() == '\'') {
      ASSIGN_OR_RETURN(const Value value, ParseValue());
      SkipSpace();
      if (Contains("=!<>:", Peek()) && at_ < text_.size()) {
        return ErrorAt(begin, "a field without quotes before the operator");
      }
      return Search(value.Text());
    }
    absl::string_view word = PeekWord(":");
    if (absl::StartsWith(word, "labels.'")) word = word.substr(0, 7);
    if (word.empty() || word[0] == '-') return Expected("a field, text to search for, NOT or (");
    if (word == "AND" || word == "OR" || word == "NOT") {
      return Expected("a field or text to search for (in quotes, if it is this)");
    }
    at_ += word.size();
    absl::string_view key = word;
    if (absl::ConsumePrefix(&key, "labels.")) return ParseLabel(begin, key);
    FilterOp op = FilterOp::kEq;
    bool is_has = false;
    const bool is_compared = TakeOp(&op, &is_has);
    if (word == "labels") {
      if (!is_has) return Expected(". and a label's key, or : and one");
      ASSIGN_OR_RETURN(const Value value, ParseValue());
      return Tells(TraceField::Label(value.Text()));
    }
    const std::optional<TraceField> field = TraceField::Find(word);
    if (!is_compared) return BareWord(begin, word, field.has_value());
    if (!field.has_value()) {
      return ErrorAt(begin,
                     absl::StrCat("a field before the operator: one of ", TraceField::AllNames()));
    }
    return ParseArgument(*field, op, is_has);
  }

  // After "labels.": the key is `key`, or follows in quotes.
  absl::StatusOr<FilterNode> ParseLabel(size_t begin, absl::string_view key) {
    std::string label(key);
    if (key.empty()) {
      if (Peek() != '"' && Peek() != '\'') return Expected("a label's key");
      ASSIGN_OR_RETURN(const Value value, ParseValue());
      label = value.Text();
    }
    FilterOp op = FilterOp::kEq;
    bool is_has = false;
    if (!TakeOp(&op, &is_has)) return BareWord(begin, "", /*is_field=*/true);
    return ParseArgument(TraceField::Label(label), op, is_has);
  }

  // A word that no operator follows.
  absl::StatusOr<FilterNode> BareWord(size_t begin, absl::string_view word, bool is_field) const {
    if (is_field) {
      return Expected(
          "an operator after the field, one of = != < <= > >= : (text to search for "
          "that is also a field goes in quotes)");
    }
    if (word == "and" || word == "or" || word == "not") {
      return ErrorAt(begin, "AND, OR, NOT in capitals (text to search for goes in quotes)");
    }
    return Search(word);
  }

  // Takes an operator, if one is next.
  bool TakeOp(FilterOp* op, bool* is_has) {
    SkipSpace();
    static constexpr std::pair<const char*, FilterOp> kOps[] = {
        {"<=", FilterOp::kLe}, {">=", FilterOp::kGe}, {"!=", FilterOp::kNe}, {"=", FilterOp::kEq},
        {"<", FilterOp::kLt},  {">", FilterOp::kGt},  {":", FilterOp::kEq}};
    for (const auto& [text, meaning] : kOps) {
      const absl::string_view token = text;
      if (!absl::StartsWith(text_.substr(at_), token)) continue;
      at_ += token.size();
      *op = meaning;
      *is_has = token == ":";
      return true;
    }
    return false;
  }

  absl::StatusOr<Value> ParseValue() {
    SkipSpace();
    Value value;
    const char quote = Peek();
    if (quote != '"' && quote != '\'') {
      const absl::string_view word = PeekWord("");
      if (word.empty() || word == "AND" || word == "OR" || word == "NOT") {
        return Expected("a value: a word, or text in quotes");
      }
      for (const char c : word) Append(c, /*is_literal=*/false, &value);
      at_ += word.size();
      return value;
    }
    const size_t begin = at_;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      const bool is_literal = text_[at_] == '\\';
      if (is_literal && ++at_ == text_.size()) break;
      Append(text_[at_], is_literal, &value);
    }
    if (at_ == text_.size()) return ErrorAt(begin, "a closing quote");
    ++at_;
    return value;
  }
  static void Append(char c, bool is_literal, Value* value) {
    if (c == '*' && !is_literal) {
      value->pieces.emplace_back();
    } else {
      value->pieces.back().push_back(c);
    }
  }

  absl::StatusOr<FilterNode> ParseArgument(const TraceField& field, FilterOp op, bool is_has) {
    SkipSpace();
    const size_t begin = at_;
    ASSIGN_OR_RETURN(Value value, ParseValue());
    if (is_has && value.is_wildcard()) return Tells(field);
    FilterNode node;
    node.kind = NodeKind::kCompare;
    node.field = field;
    node.op = op;
    if (field.kind() == TraceFieldKind::kText) {
      if (is_has) {
        node.kind = NodeKind::kContains;
        node.text = absl::AsciiStrToLower(value.Text());
        return node;
      }
      if (!field.is_label() && absl::StartsWith(value.pieces[0], "traces/")) {
        value.pieces[0].erase(0, absl::string_view("traces/").size());
      }
      node.pattern = TextPattern(std::move(value.pieces));
      if (field.is_label()) node.number = ParsePlainNumber(node.pattern.Text());
      return node;
    }
    if (field.kind() == TraceFieldKind::kBool && op != FilterOp::kEq && op != FilterOp::kNe) {
      return ErrorAt(begin, absl::StrCat("only = or != before a value of ", field.Name()));
    }
    const char* const wanted = ReadNumber(field.kind(), value.Text(), &node);
    if (wanted != nullptr) return ErrorAt(begin, absl::StrCat(wanted, " as ", field.Name()));
    return node;
  }

  // Sets the node's value of a field of a kind besides kText; else returns what it should be.
  static const char* ReadNumber(TraceFieldKind kind, const std::string& text, FilterNode* node) {
    std::optional<int64_t> integer;
    switch (kind) {
      case TraceFieldKind::kTime:
        integer = ParseTimeUnixNs(text);
        if (!integer.has_value()) return "a time such as \"2026-11-01T08:00:00Z\" or 2026-11-01";
        break;
      case TraceFieldKind::kDuration:
        integer = ParseDurationNs(text);
        if (!integer.has_value()) return "a duration such as 20s, 5m or 1h30m";
        break;
      case TraceFieldKind::kSize:
        integer = ParseSizeBytes(text);
        if (!integer.has_value()) return "a number of bytes such as 4096 or 10GiB";
        break;
      case TraceFieldKind::kCount:
        if (int64_t count = 0; absl::SimpleAtoi(text, &count)) integer = count;
        if (!integer.has_value()) return "a whole number";
        break;
      case TraceFieldKind::kBool:
        if (text == "true" || text == "false") integer = text == "true";
        if (!integer.has_value()) return "true or false";
        break;
      case TraceFieldKind::kReal:
        if (!absl::SimpleAtod(text, &node->real) || !std::isfinite(node->real)) {
          return "a number such as 0.25";
        }
        return nullptr;
      case TraceFieldKind::kText:
        return nullptr;
    }
    node->integer = *integer;
    return nullptr;
  }

  static FilterNode Tells(const TraceField& field) {
    FilterNode node;
    node.kind = NodeKind::kTells;
    node.field = field;
    return node;
  }
  static FilterNode Search(absl::string_view text) {
    FilterNode node;
    node.kind = NodeKind::kSearch;
    node.text = absl::AsciiStrToLower(text);
    return node;
  }

  const absl::string_view text_;
  size_t at_ = 0;
  int terms_count_ = 0;
};

}  // namespace

absl::StatusOr<FilterNode> ParseFilterNode(absl::string_view text) { return Parser(text).Parse(); }

}  // namespace chakrad
