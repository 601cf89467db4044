// The version of the whole store's layout: one byte at its own key.
#ifndef CHAKRAD_STORAGE_STORE_VERSION_H_
#define CHAKRAD_STORAGE_STORE_VERSION_H_

#include "absl/status/status.h"
#include "storage/kv.h"

namespace chakrad {

inline constexpr char kStoreVersion = 1;
inline constexpr char kStoreVersionKey[] = "v";  // In Family::kMeta.

// Writes the version into an empty store, else checks it. FAILED_PRECONDITION: a
// newer version of chakrad wrote the store. DATA_LOSS: the version is missing
// or damaged.
absl::Status InitStoreVersion(Kv* kv);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_STORE_VERSION_H_
