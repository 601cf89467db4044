// The version of the whole store's layout: one byte at its own key.
#ifndef CHAKRAD_STORAGE_STORE_VERSION_H_
#define CHAKRAD_STORAGE_STORE_VERSION_H_

#include "absl/status/status.h"
#include "storage/kv.h"
#include "storage/migrate.h"

namespace chakrad {

inline constexpr char kStoreVersion = 2;
// In Family::kMeta, and once more in Family::kIndex: damage of one is survived.
inline constexpr char kStoreVersionKey[] = "v";

// Writes the version into an empty store, else checks it, and migrates a store of an
// older one; `notice` (may be null) is told of that. FAILED_PRECONDITION: a
// newer version of chakrad wrote the store. DATA_LOSS: the version is missing
// or damaged.
absl::Status InitStoreVersion(Kv* kv, const StoreNotice& notice = nullptr);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_STORE_VERSION_H_
