// Stores of older layouts, made into those of this one.
#ifndef CHAKRAD_STORAGE_MIGRATE_H_
#define CHAKRAD_STORAGE_MIGRATE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "storage/kv.h"

namespace chakrad {

using StoreNotice = std::function<void(const std::string& line)>;

// Layout 1 to 2, but for the version itself: writes a card for each manifest, deletes
// unused chunks with their counts and the order of lists. In batches, each of which may
// be repeated, so that after a crash it begins again. `notice` (may be null) is told of
// progress. Traces of before keep their records and chunks. O(traces + chunks' counts).
absl::Status MigrateFrom1(Kv* kv, const StoreNotice& notice);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_MIGRATE_H_
