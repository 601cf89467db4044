// The two status macros, and a helper that adds context on the way up.
//
//   RETURN_IF_ERROR(store->Put(key, value));
//   ASSIGN_OR_RETURN(auto trace, store->Get(id));
//   return Annotate(status, "trace t-17, rank 3");
#ifndef CHAKRAD_COMMON_STATUS_H_
#define CHAKRAD_COMMON_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

// Returns `status` with "context: " before its message; OK stays OK.
absl::Status Annotate(const absl::Status& status, absl::string_view context);

}  // namespace chakrad

#define RETURN_IF_ERROR(expr)                                  \
  do {                                                         \
    absl::Status status_macro_result = (expr);                 \
    if (!status_macro_result.ok()) return status_macro_result; \
  } while (false)

#define CHAKRAD_STATUS_CONCAT_INNER(a, b) a##b
#define CHAKRAD_STATUS_CONCAT(a, b) CHAKRAD_STATUS_CONCAT_INNER(a, b)
#define CHAKRAD_ASSIGN_OR_RETURN(result, lhs, expr)    \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = std::move(result).value()
#define ASSIGN_OR_RETURN(lhs, expr) \
  CHAKRAD_ASSIGN_OR_RETURN(CHAKRAD_STATUS_CONCAT(status_or_, __LINE__), lhs, expr)

#endif  // CHAKRAD_COMMON_STATUS_H_
