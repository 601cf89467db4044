#include "server/rpc/trace_filter.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status.h"
#include "server/limits.h"

namespace chakrad {
namespace {

struct Term {
  std::string label;  // Empty: world_size.
  bool equal = true;
  std::string value;
  int64_t world_size = 0;
};

bool Matches(const Term& term, const TraceInfo& trace) {
  if (term.label.empty()) return (trace.world_size == term.world_size) == term.equal;
  const auto it = trace.labels.find(term.label);
  const absl::string_view value = it == trace.labels.end() ? absl::string_view() : it->second;
  return (value == term.value) == term.equal;
}

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Term>> Parse() {
    std::vector<Term> terms;
    for (;;) {
      ASSIGN_OR_RETURN(Term term, ParseTerm());
      terms.push_back(std::move(term));
      SkipSpace();
      if (at_ == text_.size()) return terms;
      if (Word() != "AND") return Expected("AND");
    }
  }

 private:
  absl::Status Expected(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("filter: expected ", what, " before or at position ", at_, " of ", text_));
  }
  void SkipSpace() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  absl::string_view Word() {
    SkipSpace();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) ||
            absl::string_view("_.-/:").find(text_[at_]) != absl::string_view::npos)) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  absl::StatusOr<std::string> Value() {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != '"') {
      const absl::string_view word = Word();
      if (word.empty()) return Expected("a value");
      return std::string(word);
    }
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && ++at_ == text_.size()) break;
      value += text_[at_];
    }
    if (at_ == text_.size()) return Expected("a closing quote");
    ++at_;
    return value;
  }
  absl::StatusOr<Term> ParseTerm() {
    Term term;
    absl::string_view field = Word();
    if (absl::ConsumePrefix(&field, "labels.") && !field.empty()) {
      term.label = std::string(field);
    } else if (field != "world_size") {
      return Expected("labels.KEY or world_size");
    }
    SkipSpace();
    term.equal = at_ >= text_.size() || text_[at_] != '!';
    if (!term.equal) ++at_;
    if (at_ >= text_.size() || text_[at_] != '=') return Expected("= or !=");
    ++at_;
    ASSIGN_OR_RETURN(term.value, Value());
    if (term.label.empty() && !absl::SimpleAtoi(term.value, &term.world_size)) {
      return Expected("a whole number as world_size");
    }
    return term;
  }

  const absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<std::function<bool(const TraceInfo&)>> ParseTraceFilter(absl::string_view filter) {
  filter = absl::StripAsciiWhitespace(filter);
  if (filter.empty()) return std::function<bool(const TraceInfo&)>();
  if (filter.size() > kMaxFilterBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("filter: ", filter.size(), " bytes are more than ", kMaxFilterBytes));
  }
  ASSIGN_OR_RETURN(std::vector<Term> terms, Parser(filter).Parse());
  return std::function<bool(const TraceInfo&)>([terms = std::move(terms)](const TraceInfo& trace) {
    for (const Term& term : terms) {
      if (!Matches(term, trace)) return false;
    }
    return true;
  });
}

}  // namespace chakrad
