#include "storage/chunk_table.h"

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/sha256.h"
#include "common/status.h"
#include "storage/record.h"
#include "storage/record.pb.h"

namespace chakrad {
namespace {

// Chunks deleted in one batch of a sweep.
constexpr size_t kSweepBatchChunks = 1000;

std::string UseKey(absl::string_view hash) { return absl::StrCat("c", hash); }

absl::StatusOr<storage::ChunkUse> ReadUse(Kv* kv, absl::string_view hash) {
  ASSIGN_OR_RETURN(const std::string value, kv->Get(Family::kMeta, UseKey(hash)));
  storage::ChunkUse use;
  RETURN_IF_ERROR(UnpackRecord(value, &use));
  return use;
}

void DeleteChunk(absl::string_view hash, KvBatch* batch) {
  batch->Delete(Family::kChunks, hash);
  batch->Delete(Family::kMeta, UseKey(hash));
}

std::string Hex(absl::string_view hash) { return absl::BytesToHexString(hash); }

}  // namespace

absl::Status ChunkTable::Add(const std::string& hash, absl::string_view stored, Pins* pins) {
  if (pins->insert(hash).second) ++pins_count_[hash];
  const auto use = ReadUse(kv_, hash);
  if (!absl::IsNotFound(use.status())) return use.status();
  storage::ChunkUse unused;
  unused.set_stored_bytes(static_cast<int64_t>(stored.size()));
  KvBatch batch;
  batch.Put(Family::kChunks, hash, stored);
  batch.Put(Family::kMeta, UseKey(hash), PackRecord(unused));
  return kv_->Write(batch, /*sync=*/false);
}

absl::Status ChunkTable::Use(const Pins& hashes, KvBatch* batch, KvBatch* undo) {
  for (const std::string& hash : hashes) {
    ASSIGN_OR_RETURN(storage::ChunkUse use, ReadUse(kv_, hash));
    undo->Put(Family::kMeta, UseKey(hash), PackRecord(use));
    use.set_traces_count(use.traces_count() + 1);
    batch->Put(Family::kMeta, UseKey(hash), PackRecord(use));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ChunkTable::Release(const std::set<std::string>& hashes, KvBatch* batch) {
  int64_t freed_bytes = 0;
  for (const std::string& hash : hashes) {
    auto use = ReadUse(kv_, hash);
    if (absl::IsNotFound(use.status())) continue;  // Damage that a reader reports.
    RETURN_IF_ERROR(use.status());
    use->set_traces_count(use->traces_count() - 1);
    if (use->traces_count() > 0 || pins_count_.count(hash) > 0) {
      batch->Put(Family::kMeta, UseKey(hash), PackRecord(*use));
    } else {
      DeleteChunk(hash, batch);
      freed_bytes += use->stored_bytes();
    }
  }
  return freed_bytes;
}

absl::StatusOr<int64_t> ChunkTable::Unpin(const Pins& pins, KvBatch* batch) {
  std::vector<std::string> unpinned;
  for (const std::string& hash : pins) {
    const auto it = pins_count_.find(hash);
    if (--it->second > 0) continue;
    pins_count_.erase(it);
    unpinned.push_back(hash);
  }
  int64_t freed_bytes = 0;
  for (const std::string& hash : unpinned) {
    const auto use = ReadUse(kv_, hash);
    if (absl::IsNotFound(use.status())) continue;
    RETURN_IF_ERROR(use.status());
    if (use->traces_count() > 0) continue;
    DeleteChunk(hash, batch);
    freed_bytes += use->stored_bytes();
  }
  return freed_bytes;
}

absl::StatusOr<std::string> ChunkTable::Read(const std::string& hash) const {
  auto stored = kv_->Get(Family::kChunks, hash);
  if (absl::IsNotFound(stored.status())) {
    return absl::DataLossError(absl::StrCat("chunk ", Hex(hash), " is missing"));
  }
  if (!stored.ok()) return Annotate(stored.status(), absl::StrCat("chunk ", Hex(hash)));
  if (Sha256Of(*stored) != hash) {
    return absl::DataLossError(absl::StrCat("chunk ", Hex(hash), " does not match its hash"));
  }
  return stored;
}

absl::StatusOr<int64_t> ChunkTable::Sweep() {
  std::vector<std::string> unused;
  absl::Status failure;
  RETURN_IF_ERROR(kv_->Scan(Family::kMeta, PrefixRange("c"), ScanOrder::kForward,
                            [&](absl::string_view key, absl::string_view value) {
                              storage::ChunkUse use;
                              failure = UnpackRecord(value, &use);
                              if (!failure.ok()) return false;
                              std::string hash(key.substr(1));
                              if (use.traces_count() <= 0 && pins_count_.count(hash) == 0) {
                                unused.push_back(std::move(hash));
                              }
                              return true;
                            }));
  RETURN_IF_ERROR(failure);
  for (size_t begin = 0; begin < unused.size(); begin += kSweepBatchChunks) {
    KvBatch batch;
    for (size_t i = begin; i < unused.size() && i < begin + kSweepBatchChunks; ++i) {
      DeleteChunk(unused[i], &batch);
    }
    RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/false));
  }
  return static_cast<int64_t>(unused.size());
}

absl::StatusOr<int64_t> ChunkTable::TotalBytes() const {
  int64_t total_bytes = 0;
  absl::Status failure;
  RETURN_IF_ERROR(kv_->Scan(Family::kMeta, PrefixRange("c"), ScanOrder::kForward,
                            [&](absl::string_view, absl::string_view value) {
                              storage::ChunkUse use;
                              failure = UnpackRecord(value, &use);
                              total_bytes += use.stored_bytes();
                              return failure.ok();
                            }));
  RETURN_IF_ERROR(failure);
  return total_bytes;
}

}  // namespace chakrad
