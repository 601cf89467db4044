#include "storage/page_token.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "storage/ids.h"

namespace chakrad {
namespace {

// First byte of a token: a later layout gets another.
constexpr char kTokenVersion = 1;

}  // namespace

std::string MakePageToken(int64_t create_unix_ns, absl::string_view id) {
  return absl::WebSafeBase64Escape(
      absl::StrCat(std::string(1, kTokenVersion), PackTimeKey(create_unix_ns, id)));
}

absl::StatusOr<TimeKey> ParsePageToken(absl::string_view token) {
  std::string bytes;
  TimeKey key;
  if (!absl::WebSafeBase64Unescape(token, &bytes) || bytes.empty() || bytes[0] != kTokenVersion ||
      !ParseTimeKey(absl::string_view(bytes).substr(1), &key) || !CheckId("", key.id).ok()) {
    return absl::InvalidArgumentError("page_token: is not one that a list returned");
  }
  return key;
}

absl::StatusOr<std::string> WalkTimeIndex(
    Kv* kv, Family family, absl::string_view prefix, const TimeIndexPage& page,
    const std::function<absl::StatusOr<bool>(absl::string_view, int64_t, bool)>& take) {
  if (page.page_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("page_size: ", page.page_size, " is not at least 1"));
  }
  KvRange range = PrefixRange(prefix);
  if (!page.page_token.empty()) {
    ASSIGN_OR_RETURN(const TimeKey position, ParsePageToken(page.page_token));
    range.end = absl::StrCat(prefix, PackTimeKey(position.create_unix_ns, position.id));
  }
  int taken = 0;
  std::string next_page_token, last_token;
  absl::Status failure;
  RETURN_IF_ERROR(
      kv->Scan(family, range, ScanOrder::kBackward, [&](absl::string_view key, absl::string_view) {
        TimeKey at;
        if (!ParseTimeKey(key.substr(prefix.size()), &at)) {
          failure = absl::DataLossError("index: a key is too short");
          return false;
        }
        const absl::StatusOr<bool> wanted = take(at.id, at.create_unix_ns, taken < page.page_size);
        if (!wanted.ok()) failure = wanted.status();
        if (!wanted.ok()) return false;
        if (!*wanted) return true;
        if (taken == page.page_size) {
          next_page_token = last_token;
          return false;
        }
        ++taken;
        last_token = MakePageToken(at.create_unix_ns, at.id);
        return true;
      }));
  RETURN_IF_ERROR(failure);
  return next_page_token;
}

}  // namespace chakrad
