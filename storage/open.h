// Opens the stores over one engine: RocksDB, or memory for tests.
#ifndef CHAKRAD_STORAGE_OPEN_H_
#define CHAKRAD_STORAGE_OPEN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/backup.h"
#include "storage/job_store.h"
#include "storage/limits.h"
#include "storage/series_store.h"
#include "storage/settings_store.h"
#include "storage/store_health.h"
#include "storage/trace_store.h"
#include "storage/upload_store.h"

namespace chakrad {

struct StoreOptions {
  std::string data_dir;
  // Space that stays free on the disk: uploads and traces that would take it are
  // refused with RESOURCE_EXHAUSTED, so that records, deletes and the engine's
  // own work still succeed on a nearly full disk.
  int64_t reserve_bytes = kDiskReserveBytes;
  // Where backups are made; empty: nowhere.
  std::string backup_dir;
  // Told, one line each, of damage that was found and of a migration's progress. May be null.
  std::function<void(const std::string& line)> notice;
};

// Each store shares ownership of the engine, which closes with the last one.
struct Stores {
  std::unique_ptr<TraceStore> traces;
  std::unique_ptr<UploadStore> uploads;
  std::unique_ptr<JobStore> jobs;
  std::unique_ptr<Backups> backups;
  std::unique_ptr<StoreProbe> probe;
  std::unique_ptr<SettingsStore> settings;
  std::unique_ptr<SeriesStore> series;
};

// Opens or creates the stores in options.data_dir, its parents included. Call
// traces->SweepOrphans() and uploads->Recover() before serving.
// FAILED_PRECONDITION: another process has the folder ("data_dir: /x is in use
// by another process"), it is not a folder, or a newer version wrote it.
// PERMISSION_DENIED: it cannot be created or written. DATA_LOSS: it is damaged.
absl::StatusOr<Stores> OpenRocksStores(const StoreOptions& options);

// The same stores in memory; only the bytes of uploads are files, in
// `staging_dir`, which is created.
absl::StatusOr<Stores> OpenMemStores(std::string staging_dir);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_OPEN_H_
