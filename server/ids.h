// Resource names: "traces/{id}", "uploads/{id}", "jobs/{id}".
#ifndef CHAKRAD_SERVER_IDS_H_
#define CHAKRAD_SERVER_IDS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

// 16 lower-case hexadecimal digits from the system's random source.
std::string RandomId();

// The id in `name`, which must be "{collection}/{id}" with 1 to 64 characters of
// [a-z0-9-] as id. INVALID_ARGUMENT starts with `field`.
absl::StatusOr<std::string> IdFromName(absl::string_view name, absl::string_view collection,
                                       absl::string_view field);

// A client's request id: 1 to kMaxRequestIdChars of [A-Za-z0-9._-].
absl::Status CheckRequestId(absl::string_view request_id);

// Keys of [a-z0-9_.-], starting with a letter; sizes and count as in limits.h;
// values without control characters.
absl::Status CheckLabels(const std::map<std::string, std::string>& labels);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_IDS_H_
