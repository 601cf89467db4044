// The engine on disk: RocksDB, one column family a Family.
#ifndef CHAKRAD_STORAGE_ROCKS_KV_H_
#define CHAKRAD_STORAGE_ROCKS_KV_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/kv.h"

namespace rocksdb {
class Env;
}

namespace chakrad {

// Opens or creates the database in `folder`, whose parent must exist. Batches above
// kRecordBatchBytes (unless they UseReserve) that would leave less than `reserve_bytes` free are
// refused with RESOURCE_EXHAUSTED. After an engine error (a full disk) reads go on, and writes do
// some seconds after its cause is gone: no restart is needed. After a compaction met a damaged
// block, see reopening_kv.h. FAILED_PRECONDITION: it has a family that this version does not know.
// DATA_LOSS: it is damaged. `env` is what it sees of the operating system; null: as it is.
absl::StatusOr<std::unique_ptr<Kv>> OpenRocksKv(const std::string& folder, int64_t reserve_bytes,
                                                rocksdb::Env* env = nullptr);

// The same database for reading alone: nothing in `folder` changes, and every Write is
// FAILED_PRECONDITION. Only of a folder that no one writes: a backup.
absl::StatusOr<std::unique_ptr<Kv>> OpenRocksKvReadOnly(const std::string& folder);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_ROCKS_KV_H_
