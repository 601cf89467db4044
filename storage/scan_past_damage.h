// A scan that damage does not end.
#ifndef CHAKRAD_STORAGE_SCAN_PAST_DAMAGE_H_
#define CHAKRAD_STORAGE_SCAN_PAST_DAMAGE_H_

#include <functional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/kv.h"

namespace chakrad {

// Visits the range in key order up to the first damaged place, then, in falling
// order, from its end back to the last one. Returns whether there was damage: pairs
// in between are missed then, all others are visited once.
absl::StatusOr<bool> ScanPastDamage(
    Kv* kv, Family family, const KvRange& range,
    const std::function<void(absl::string_view key, absl::string_view value)>& visit);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_SCAN_PAST_DAMAGE_H_
