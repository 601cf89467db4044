// Page tokens of lists that are ordered by creation, newest first. A token names
// the last entry of its page by position, so it stays good when that entry goes.
#ifndef CHAKRAD_STORAGE_PAGE_TOKEN_H_
#define CHAKRAD_STORAGE_PAGE_TOKEN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/keys.h"
#include "storage/kv.h"

namespace chakrad {

std::string MakePageToken(int64_t create_unix_ns, absl::string_view id);

// INVALID_ARGUMENT: MakePageToken did not make it.
absl::StatusOr<TimeKey> ParsePageToken(absl::string_view token);

struct TimeIndexPage {
  int page_size = 0;
  std::string page_token;  // Empty: the first page.
};

// Walks an index whose keys are `prefix` + time key, newest first, from after
// page.page_token. `take` loads the entry and says whether it belongs on the
// page; it is called with no lock held, until page_size entries are taken and
// one more would be (that one is asked for with keep = false). Returns the next
// page's token, empty at the end. INVALID_ARGUMENT: page_size below 1, or a
// token that MakePageToken did not make.
absl::StatusOr<std::string> WalkTimeIndex(
    Kv* kv, Family family, absl::string_view prefix, const TimeIndexPage& page,
    const std::function<absl::StatusOr<bool>(absl::string_view id, int64_t create_unix_ns,
                                             bool keep)>& take);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_PAGE_TOKEN_H_
