#include "storage/ids.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "storage/limits.h"

namespace chakrad {

absl::Status CheckId(absl::string_view field, absl::string_view id) {
  if (id.empty()) return absl::InvalidArgumentError(absl::StrCat(field, ": must not be empty"));
  if (id.size() > kMaxIdBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", id.size(), " bytes, above the limit of ", kMaxIdBytes));
  }
  for (char c : id) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.') {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        field, ": \"", absl::CHexEscape(id), "\" has characters besides letters, digits, -, _, ."));
  }
  if (id[0] == '.') {
    return absl::InvalidArgumentError(absl::StrCat(field, ": \"", id, "\" begins with a dot"));
  }
  return absl::OkStatus();
}

absl::Status CheckLength(absl::string_view field, absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", text.size(), " bytes, above the limit of ", max_bytes));
}

}  // namespace chakrad
