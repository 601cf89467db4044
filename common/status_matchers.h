// EXPECT_THAT(status, IsOk()); EXPECT_THAT(f(), StatusIs(absl::StatusCode::kNotFound, "part"));
// Both take a Status or a StatusOr.
#ifndef CHAKRAD_COMMON_STATUS_MATCHERS_H_
#define CHAKRAD_COMMON_STATUS_MATCHERS_H_

#include <gmock/gmock.h>

#include <string>

#include "common/status.h"

#define CHAKRAD_TEST_CONCAT_INNER(a, b) a##b
#define CHAKRAD_TEST_CONCAT(a, b) CHAKRAD_TEST_CONCAT_INNER(a, b)
#define ASSERT_OK_AND_ASSIGN_IMPL(result, lhs, expr)                       \
  auto result = (expr);                                                    \
  ASSERT_TRUE(result.ok()) << #expr << ": " << result.status().ToString(); \
  lhs = std::move(result).value()
#define ASSERT_OK_AND_ASSIGN(lhs, expr) \
  ASSERT_OK_AND_ASSIGN_IMPL(CHAKRAD_TEST_CONCAT(status_or_, __LINE__), lhs, expr)

namespace chakrad {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, "is OK") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

// True when the code is `code` and the message contains `part`.
MATCHER_P2(StatusIs, code, part, "has this code and message part") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << status.ToString();
  return status.code() == code && std::string(status.message()).find(part) != std::string::npos;
}

}  // namespace chakrad

#endif  // CHAKRAD_COMMON_STATUS_MATCHERS_H_
