// Retention policies as a person writes them: docs/retention.md has the form.
#ifndef CHAKRAD_SERVER_RETENTION_POLICIES_YAML_H_
#define CHAKRAD_SERVER_RETENTION_POLICIES_YAML_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/retention_plan.h"

namespace chakrad {

// Blank text: no policies. INVALID_ARGUMENT names the policy (or the line) and the field: text
// that is no YAML, a key that is not known, a name twice, a filter or a number that is none, a
// policy without any rule, and what is over the limits of server/limits.h.
absl::StatusOr<std::vector<RetentionPolicy>> ParsePoliciesYaml(absl::string_view text);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RETENTION_POLICIES_YAML_H_
