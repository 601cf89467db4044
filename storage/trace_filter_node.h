// A parsed filter as a tree: for trace_filter.cc and the parser only.
#ifndef CHAKRAD_STORAGE_TRACE_FILTER_NODE_H_
#define CHAKRAD_STORAGE_TRACE_FILTER_NODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/text_match.h"
#include "storage/trace_fields.h"

namespace chakrad {

enum class FilterOp : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

struct FilterNode {
  enum class Kind : uint8_t {
    kAnd,       // Of at least two children, none of them kAnd.
    kOr,        // Of at least two children, none of them kOr.
    kNot,       // Of one child.
    kCompare,   // field op value.
    kTells,     // The trace tells `field`.
    kContains,  // `field`, a text, contains `text`.
    kSearch,    // The id or a label's value contains `text`.
  };
  Kind kind = Kind::kAnd;
  std::vector<FilterNode> children;
  std::optional<TraceField> field;
  // Of kCompare: the one that field->kind() asks for.
  FilterOp op = FilterOp::kEq;
  TextPattern pattern;
  std::optional<double> number;  // Of a text that is a plain number.
  int64_t integer = 0;
  double real = 0;
  std::string text;  // In lower case.
};

// `text` is not blank.
absl::StatusOr<FilterNode> ParseFilterNode(absl::string_view text);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_FILTER_NODE_H_
