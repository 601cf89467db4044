// The rules of the conformance suite: see docs/conformance.md, which has one row
// for each of them.
#ifndef CHAKRAD_TRACE_CHECK_RULES_H_
#define CHAKRAD_TRACE_CHECK_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

enum class Severity : uint8_t {
  kInfo = 0,     // Worth knowing; nothing is wrong.
  kWarning = 1,  // A result may mislead; the trace can be used.
  kError = 2,    // The trace contradicts itself: a simulation fails or means nothing.
};

// "info", "warning", "error".
absl::string_view SeverityName(Severity severity);

struct Rule {
  absl::string_view id;  // Stable, lower_snake_case.
  Severity severity = Severity::kWarning;
  absl::string_view meaning;  // What was found.
  absl::string_view fix;      // One line: what to do about it.
};

// Those of readers (rules in ledgers), of one rank and of ranks among each other.
const std::vector<Rule>& AllRules();

// Null for an id that is not registered. Every id that starts with "repaired_" is
// the rule "repaired_". O(log rules).
const Rule* FindRule(absl::string_view id);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_RULES_H_
