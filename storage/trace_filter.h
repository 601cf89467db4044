// Filters over stored traces, in the language of AIP-160:
//   labels.job = "llama*" AND exposed_comm_ratio > 0.2 -pinned=true
// docs/search.md has fields, operators and examples.
#ifndef CHAKRAD_STORAGE_TRACE_FILTER_H_
#define CHAKRAD_STORAGE_TRACE_FILTER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/trace_card.h"

namespace chakrad {

struct FilterNode;  // storage/trace_filter_node.h

// A parsed filter: parse once, ask for every trace. Copies are cheap. Thread-safe.
//
//   expression = factor { [ "AND" ] factor }      terms side by side are joined by AND
//   factor     = term { "OR" term }               OR binds tighter than AND
//   term       = [ "NOT" | "-" ] ( "(" expression ")" | field operator value | text )
//
// Operators: = != < <= > >= and ":" (has). A value is a word or text in quotes; in quotes
// a backslash makes the next character stand for itself. * is a wildcard for = and !=. Text
// without a field is looked for in the id and in the values of labels, as a part, upper
// and lower case alike.
//
// A label that a trace lacks equals "" and nothing else; any other field that it does not
// tell (start_time, end_time, span, ratios) equals nothing. Neither is less or greater than
// anything. != is always the opposite of =. `field:*` holds where the trace tells the field.
class TraceFilter {
 public:
  TraceFilter() = default;  // Holds for every trace.

  // INVALID_ARGUMENT: "filter: position 17, at \"AND\": expected a value". Also above
  // kMaxFilterBytes, kMaxFilterDepth or kMaxFilterTerms. Blank text: every trace.
  static absl::StatusOr<TraceFilter> Parse(absl::string_view text);

  bool matches_all() const { return root_ == nullptr; }
  // O(terms); a term looks at one field, or at all labels.
  bool Matches(const TraceCard& card) const;
  // The same filter in one spelling: equal for filters that differ in blanks, quotes and
  // redundant parentheses only. Parse reads it (if it is not too long). "" for every trace.
  std::string ToString() const;

 private:
  explicit TraceFilter(std::shared_ptr<const FilterNode> root) : root_(std::move(root)) {}

  std::shared_ptr<const FilterNode> root_;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_FILTER_H_
