// Parts of keys that sort as their numbers do. docs/storage_format.md lists the keys.
#ifndef CHAKRAD_STORAGE_KEYS_H_
#define CHAKRAD_STORAGE_KEYS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace chakrad {

// Big-endian with the sign bit flipped: negative numbers sort first.
std::string SortableInt32(int32_t value);
std::string SortableInt64(int64_t value);
// Reads what SortableInt64 wrote from the first 8 bytes of `bytes`.
int64_t ParseSortableInt64(absl::string_view bytes);

// Where something stands in a list ordered by creation: 8 bytes, then its id.
struct TimeKey {
  int64_t create_unix_ns = 0;
  std::string id;
};
std::string PackTimeKey(int64_t create_unix_ns, absl::string_view id);
// False when `bytes` is shorter than a time.
bool ParseTimeKey(absl::string_view bytes, TimeKey* key);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_KEYS_H_
