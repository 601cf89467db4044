// An engine that is opened again when damage has stopped its writes.
#ifndef CHAKRAD_STORAGE_REOPENING_KV_H_
#define CHAKRAD_STORAGE_REOPENING_KV_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "storage/kv.h"

namespace chakrad {

// RocksDB refuses every write once a compaction has met a damaged block. This closes it
// then, and goes on with what `open_again` returns: the same data, opened so that it does
// not compact. Calls meanwhile (tens of milliseconds, and until running scans end) are
// UNAVAILABLE. Reclaim is DATA_LOSS from then on: space is not given back any more.
std::unique_ptr<Kv> NewReopeningKv(std::unique_ptr<Kv> engine,
                                   std::function<absl::StatusOr<std::unique_ptr<Kv>>()> open_again);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_REOPENING_KV_H_
