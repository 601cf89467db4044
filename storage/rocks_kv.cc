#include "storage/rocks_kv.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "storage/limits.h"
#include "storage/posix_file.h"
#include "storage/reopening_kv.h"

namespace chakrad {
namespace {

// Above this part of dead bytes, blob files are rewritten without them: what is
// copied is then at most what is won.
constexpr double kRewriteDeadPart = 0.5;

rocksdb::Slice ToSlice(absl::string_view text) { return {text.data(), text.size()}; }
absl::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

absl::Status FromRocks(const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = absl::StrCat("rocksdb: ", status.ToString());
  if (status.IsNotFound()) return absl::NotFoundError(message);
  if (status.IsNoSpace()) return absl::ResourceExhaustedError(message);
  if (status.IsCorruption()) return absl::DataLossError(message);
  if (status.IsNotSupported()) return absl::FailedPreconditionError(message);
  if (status.IsIOError() || status.IsBusy() || status.IsTimedOut() || status.IsTryAgain() ||
      status.IsIncomplete() || status.IsAborted()) {
    return absl::UnavailableError(message);
  }
  return absl::InternalError(message);
}

// A file of the database that is gone will not come back.
absl::Status FromRead(const rocksdb::Status& status) {
  if (status.IsPathNotFound()) {
    return absl::DataLossError(absl::StrCat("rocksdb: ", status.ToString()));
  }
  return FromRocks(status);
}

rocksdb::DBOptions DatabaseOptions() {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  // A crash may tear only what was written after the last sync, which is at the
  // log's end: reading stops there, and everything acknowledged lies before it.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.max_total_wal_size = kMaxWalBytes;
  options.db_write_buffer_size = kAllWriteBuffersBytes;
  options.max_open_files = kMaxOpenTableFiles;
  options.max_background_jobs = 2;
  // Spreads write-back, so that a sync does not find seconds of it.
  options.bytes_per_sync = 1 << 20;
  options.wal_bytes_per_sync = 1 << 20;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.max_log_file_size = kInfoLogBytes;
  options.keep_log_file_num = 2;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.statistics = rocksdb::CreateDBStatistics();  // Counts only: see KvStats.
  options.statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  return options;
}

rocksdb::ColumnFamilyOptions FamilyOptions(Family family,
                                           const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options;
  // Also what RocksDB wants free before it recovers from a full disk: its default
  // of 64 MiB, in any one family, is more than such a disk may have.
  options.write_buffer_size = kWriteBufferBytes;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kZSTD;
  if (family == Family::kChunks || family == Family::kResults || family == Family::kRaw) {
    // Large values lie in blob files, which compactions leave alone: values of
    // a MiB in the tree itself are copied level by level and stall writers.
    options.enable_blob_files = true;
    options.min_blob_size = kMinBlobBytes;
    options.blob_file_size = kBlobFileBytes;
    options.blob_compression_type = rocksdb::kZSTD;
  }
  if (family == Family::kChunks || family == Family::kRaw) {
    options.compression = rocksdb::kNoCompression;  // Hashes, and values in zstd already.
    options.blob_compression_type = rocksdb::kNoCompression;
  }
  return options;
}

class RocksKv : public Kv {
 public:
  RocksKv(std::string folder, int64_t reserve_bytes, std::unique_ptr<rocksdb::DB> db,
          std::vector<rocksdb::ColumnFamilyHandle*> handles)
      : folder_(std::move(folder)),
        reserve_bytes_(reserve_bytes),
        db_(std::move(db)),
        handles_(std::move(handles)) {}

  ~RocksKv() override {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }

  absl::StatusOr<std::string> Get(Family family, absl::string_view key) override {
    std::string value;
    const rocksdb::Status status = db_->Get({}, HandleOf(family), ToSlice(key), &value);
    if (!status.ok()) return FromRead(status);
    return value;
  }

  absl::Status Write(const KvBatch& batch, bool sync) override {
    if (batch.put_bytes() > kRecordBatchBytes && !batch.uses_reserve()) {
      RETURN_IF_ERROR(CheckFreeSpace(folder_, batch.put_bytes(), reserve_bytes_, "store"));
    }
    // The log's file stays open when somebody removes the folder: what is synced to it then
    // is gone with the process.
    if (sync && access((folder_ + "/CURRENT").c_str(), F_OK) != 0) {
      return absl::UnavailableError(absl::StrCat(
          "store: ", folder_, " is gone; restart the daemon on a folder that is there"));
    }
    rocksdb::WriteBatch rocks_batch;
    for (const KvBatch::Op& op : batch.ops()) RETURN_IF_ERROR(FromRocks(Add(op, &rocks_batch)));
    rocksdb::WriteOptions options;
    options.sync = sync;
    // After an error RocksDB tries every five seconds to resume by itself.
    return FromRocks(db_->Write(options, &rocks_batch));
  }

  absl::Status Scan(
      Family family, const KvRange& range, ScanOrder order,
      const std::function<bool(absl::string_view, absl::string_view)>& visit) override {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const rocksdb::Slice begin = range.begin, end = range.end;
    options.iterate_lower_bound = &begin;
    if (!range.end.empty()) options.iterate_upper_bound = &end;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options, HandleOf(family)));
    const bool forward = order == ScanOrder::kForward;
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
         forward ? it->Next() : it->Prev()) {
      if (!visit(ToView(it->key()), ToView(it->value()))) break;
    }
    return FromRead(it->status());
  }

  absl::Status Reclaim(Family family) override {
    rocksdb::CompactRangeOptions options;
    options.exclusive_manual_compaction = false;
    // Keys only: drops the blob files that nothing refers to any more.
    RETURN_IF_ERROR(FromRocks(db_->CompactRange(options, HandleOf(family), nullptr, nullptr)));
    uint64_t total_bytes = 0, dead_bytes = 0;
    db_->GetIntProperty(HandleOf(family), rocksdb::DB::Properties::kLiveBlobFileSize, &total_bytes);
    db_->GetIntProperty(HandleOf(family), rocksdb::DB::Properties::kLiveBlobFileGarbageSize,
                        &dead_bytes);
    if (dead_bytes <= kRewriteDeadPart * total_bytes) return absl::OkStatus();
    options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
    options.blob_garbage_collection_age_cutoff = 1.0;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    return FromRocks(db_->CompactRange(options, HandleOf(family), nullptr, nullptr));
  }

  absl::Status Checkpoint(const std::string& folder) override {
    rocksdb::Checkpoint* checkpoint = nullptr;
    RETURN_IF_ERROR(FromRocks(rocksdb::Checkpoint::Create(db_.get(), &checkpoint)));
    const std::unique_ptr<rocksdb::Checkpoint> owner(checkpoint);
    return FromRocks(checkpoint->CreateCheckpoint(folder));
  }

  KvStats Stats() override {
    using Properties = rocksdb::DB::Properties;
    const auto sum = [this](const std::string& property) {
      int64_t total = 0;
      for (rocksdb::ColumnFamilyHandle* handle : handles_) {
        uint64_t value = 0;
        db_->GetIntProperty(handle, property, &value);
        total += static_cast<int64_t>(value);
      }
      return total;
    };
    const auto one = [this](const std::string& property) {
      uint64_t value = 0;
      db_->GetIntProperty(handles_[0], property, &value);
      return static_cast<int64_t>(value);
    };
    KvStats stats;
    stats.table_bytes = sum(Properties::kTotalSstFilesSize);
    stats.blob_bytes = sum(Properties::kTotalBlobFileSize);
    stats.dead_blob_bytes = sum(Properties::kLiveBlobFileGarbageSize);
    stats.memory_bytes = sum(Properties::kCurSizeAllMemTables) +
                         sum(Properties::kEstimateTableReadersMem) +
                         one(Properties::kBlockCacheUsage);  // One cache for all.
    stats.pending_compaction_bytes = sum(Properties::kEstimatePendingCompactionBytes);
    stats.running_compactions = one(Properties::kNumRunningCompactions);
    stats.writes_stopped = one(Properties::kIsWriteStopped) != 0;
    const rocksdb::Statistics& counts = *db_->GetDBOptions().statistics;
    stats.stall_us = static_cast<int64_t>(counts.getTickerCount(rocksdb::STALL_MICROS));
    stats.cache_hits = static_cast<int64_t>(counts.getTickerCount(rocksdb::BLOCK_CACHE_HIT));
    stats.cache_misses = static_cast<int64_t>(counts.getTickerCount(rocksdb::BLOCK_CACHE_MISS));
    return stats;
  }

 private:
  rocksdb::ColumnFamilyHandle* HandleOf(Family family) const {
    return handles_[static_cast<size_t>(family)];
  }

  rocksdb::Status Add(const KvBatch::Op& op, rocksdb::WriteBatch* batch) const {
    switch (op.kind) {
      case KvBatch::Kind::kPut:
        return batch->Put(HandleOf(op.family), op.key, op.value);
      case KvBatch::Kind::kDelete:
        return batch->Delete(HandleOf(op.family), op.key);
      case KvBatch::Kind::kDeleteRange:
        return batch->DeleteRange(HandleOf(op.family), op.key, op.value);
    }
    return rocksdb::Status::InvalidArgument("unknown operation");
  }

  const std::string folder_;
  const int64_t reserve_bytes_;
  const std::unique_ptr<rocksdb::DB> db_;
  const std::vector<rocksdb::ColumnFamilyHandle*> handles_;  // By Family.
};

// RocksDB would take a folder that lost its file CURRENT for a new one, and remove the rest.
absl::Status CheckNew(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    const std::string extension = it->path().extension().string();
    if (name.rfind("MANIFEST-", 0) != 0 && extension != ".sst" && extension != ".blob") continue;
    return absl::DataLossError(
        absl::StrCat(folder, ": has ", name, ", but its file CURRENT is gone; restore a backup"));
  }
  return absl::OkStatus();
}

// FAILED_PRECONDITION when the database has a family that is none of ours.
absl::Status CheckFamilies(const std::string& folder, const rocksdb::DBOptions& options) {
  std::error_code error;
  if (!std::filesystem::exists(folder + "/CURRENT", error)) return CheckNew(folder);
  std::vector<std::string> names;
  RETURN_IF_ERROR(FromRocks(rocksdb::DB::ListColumnFamilies(options, folder, &names)));
  for (const std::string& name : names) {
    bool known = name == rocksdb::kDefaultColumnFamilyName;
    for (int i = 0; i < kFamiliesCount; ++i) {
      known = known || name == std::string(FamilyName(static_cast<Family>(i)));
    }
    if (known) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        folder, ": a newer version of chakrad wrote it: its family \"", name, "\" is unknown"));
  }
  return absl::OkStatus();
}

struct OpenMode {
  int64_t reserve_bytes = 0;
  bool read_only = false;
  bool compactions = true;  // By themselves; CompactRange does in any case.
  rocksdb::Env* env = nullptr;
};

absl::StatusOr<std::unique_ptr<Kv>> Open(const std::string& folder, const OpenMode& mode) {
  rocksdb::DBOptions options = DatabaseOptions();
  if (mode.env != nullptr) options.env = mode.env;
  RETURN_IF_ERROR(CheckFamilies(folder, options));
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (int i = 0; i < kFamiliesCount; ++i) {
    const auto family = static_cast<Family>(i);
    families.emplace_back(std::string(FamilyName(family)), FamilyOptions(family, cache));
  }
  for (auto& family : families) family.options.disable_auto_compactions = !mode.compactions;
  // RocksDB insists on this one; it stays empty.
  families.emplace_back(rocksdb::kDefaultColumnFamilyName, FamilyOptions(Family::kMeta, cache));
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  RETURN_IF_ERROR(FromRocks(
      mode.read_only ? rocksdb::DB::OpenForReadOnly(options, folder, families, &handles, &db)
                     : rocksdb::DB::Open(options, folder, families, &handles, &db)));
  return std::make_unique<RocksKv>(folder, mode.reserve_bytes, std::unique_ptr<rocksdb::DB>(db),
                                   std::move(handles));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kv>> OpenRocksKv(const std::string& folder, int64_t reserve_bytes,
                                                rocksdb::Env* env) {
  OpenMode mode;
  mode.reserve_bytes = reserve_bytes;
  mode.env = env;
  ASSIGN_OR_RETURN(std::unique_ptr<Kv> engine, Open(folder, mode));
  mode.compactions = false;
  return NewReopeningKv(std::move(engine), [folder, mode] { return Open(folder, mode); });
}

absl::StatusOr<std::unique_ptr<Kv>> OpenRocksKvReadOnly(const std::string& folder) {
  OpenMode mode;
  mode.read_only = true;
  return Open(folder, mode);
}

}  // namespace chakrad
