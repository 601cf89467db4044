#include "storage/open.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "storage/job_store_kv.h"
#include "storage/mem_kv.h"
#include "storage/posix_file.h"
#include "storage/rocks_kv.h"
#include "storage/store_version.h"
#include "storage/trace_store_kv.h"
#include "storage/upload_store_kv.h"

namespace chakrad {
namespace {

// Destroyed from the last member up: the lock outlives the engine.
struct Engine {
  std::unique_ptr<FolderLock> lock;
  std::unique_ptr<Kv> kv;
};

absl::StatusOr<std::shared_ptr<Kv>> OpenEngine(const StoreOptions& options) {
  auto engine = std::make_shared<Engine>();
  RETURN_IF_ERROR(MakeFolders(options.data_dir));
  ASSIGN_OR_RETURN(engine->lock, FolderLock::Acquire(options.data_dir));
  ASSIGN_OR_RETURN(engine->kv, OpenRocksKv(options.data_dir + "/db", options.reserve_bytes));
  RETURN_IF_ERROR(Annotate(InitStoreVersion(engine->kv.get(), options.notice), options.data_dir));
  return std::shared_ptr<Kv>(engine, engine->kv.get());
}

absl::StatusOr<Stores> MakeStores(const std::shared_ptr<Kv>& kv, std::string staging_dir,
                                  const StoreOptions& options) {
  TraceStoreOptions trace_options;
  trace_options.notice = options.notice;
  Stores stores;
  ASSIGN_OR_RETURN(stores.traces, OpenTraceStore(kv, trace_options));
  stores.uploads = NewUploadStore(kv, std::move(staging_dir), options.reserve_bytes);
  stores.jobs = NewJobStore(kv);
  stores.backups = NewBackups(kv, options.backup_dir);
  stores.probe = std::make_unique<StoreProbe>(kv, options.data_dir, options.reserve_bytes);
  stores.settings = NewSettingsStore(kv);
  ASSIGN_OR_RETURN(stores.series, NewSeriesStore(kv));
  return stores;
}

}  // namespace

absl::StatusOr<Stores> OpenRocksStores(const StoreOptions& options) {
  if (options.data_dir.empty()) return absl::InvalidArgumentError("data_dir: must not be empty");
  const auto kv = OpenEngine(options);
  if (!kv.ok()) return Annotate(kv.status(), "data_dir");
  auto stores = MakeStores(*kv, options.data_dir + "/staging", options);
  if (!stores.ok()) return Annotate(stores.status(), absl::StrCat("data_dir: ", options.data_dir));
  return stores;
}

absl::StatusOr<Stores> OpenMemStores(std::string staging_dir) {
  RETURN_IF_ERROR(Annotate(MakeFolders(staging_dir), "staging_dir"));
  StoreOptions options;
  options.reserve_bytes = 0;
  return MakeStores(NewMemKv(), std::move(staging_dir), options);
}

}  // namespace chakrad
