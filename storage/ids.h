// What ids and names a store takes.
#ifndef CHAKRAD_STORAGE_IDS_H_
#define CHAKRAD_STORAGE_IDS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakrad {

// INVALID_ARGUMENT, naming `field`, unless `id` has 1 to kMaxIdBytes of letters,
// digits, '-', '_' and '.', not beginning with '.': fit for a key and a folder name.
absl::Status CheckId(absl::string_view field, absl::string_view id);

// INVALID_ARGUMENT, naming `field`, when `text` is longer than `max_bytes`.
absl::Status CheckLength(absl::string_view field, absl::string_view text, size_t max_bytes);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_IDS_H_
