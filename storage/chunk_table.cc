#include "storage/chunk_table.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/sha256.h"
#include "common/status.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/trace_keys.h"

namespace chakrad {
namespace {

// Chunks deleted in one batch of a sweep.
constexpr size_t kSweepBatchChunks = 1000;
constexpr size_t kHashBytes = 32;
// A damaged count is taken for this many: its chunk never goes, which costs space;
// too low a count would cost somebody's trace.
constexpr int64_t kUsesOfDamaged = int64_t{1} << 40;
// Of a pending record that belongs to no draft, but to whoever pins the chunk.
constexpr char kNoDraftKey[] = "released";

absl::StatusOr<storage::ChunkUse> ReadUse(Kv* kv, absl::string_view hash) {
  ASSIGN_OR_RETURN(const std::string value, kv->Get(Family::kMeta, ChunkUseKey(hash)));
  storage::ChunkUse use;
  RETURN_IF_ERROR(UnpackRecord(value, &use));
  return use;
}

// As ReadUse, but a count that is damaged is high, and one that is missing is 0.
absl::StatusOr<storage::ChunkUse> ReadUseOrNone(Kv* kv, absl::string_view hash) {
  auto use = ReadUse(kv, hash);
  if (absl::IsNotFound(use.status())) return storage::ChunkUse();
  if (!absl::IsDataLoss(use.status())) return use;
  storage::ChunkUse damaged;
  damaged.set_traces_count(kUsesOfDamaged);
  return damaged;
}

std::string Hex(absl::string_view hash) { return absl::BytesToHexString(hash); }

}  // namespace

std::string ChunkTable::ReleasedKey(absl::string_view hash) {
  return absl::StrCat(kPendingPrefix, kNoDraftKey, hash);
}

ChunkTable::Pinned& ChunkTable::AddPin(const std::string& hash, Pins* pins) {
  Pinned& pinned = pinned_[hash];
  if (pins->insert(hash).second) ++pinned.drafts_count;
  return pinned;
}

absl::StatusOr<bool> ChunkTable::PinIfStored(const std::string& hash, Pins* pins) {
  const auto it = pinned_.find(hash);
  if (it != pinned_.end() && it->second.stored) {
    AddPin(hash, pins);
    return true;
  }
  const auto use = ReadUse(kv_, hash);
  // A damaged count says nothing of its chunk: writing it again does no harm.
  if (absl::IsNotFound(use.status()) || absl::IsDataLoss(use.status())) return false;
  RETURN_IF_ERROR(use.status());
  Pinned& pinned = AddPin(hash, pins);
  pinned.stored = true;
  pinned.stored_bytes = use->stored_bytes();
  return true;
}

absl::StatusOr<bool> ChunkTable::Pin(const std::string& hash, int64_t stored_bytes, Pins* pins) {
  ASSIGN_OR_RETURN(const bool stored, PinIfStored(hash, pins));
  if (stored) return true;
  AddPin(hash, pins).stored_bytes = stored_bytes;
  return false;
}

int64_t ChunkTable::PinnedBytes(const std::string& hash) const {
  const auto it = pinned_.find(hash);
  return it == pinned_.end() ? 0 : it->second.stored_bytes;
}

int64_t ChunkTable::Written(const std::string& hash) {
  const auto it = pinned_.find(hash);
  if (it == pinned_.end()) return 0;
  const bool before = std::exchange(it->second.stored, true);
  return before ? it->second.stored_bytes : 0;
}

absl::Status ChunkTable::Use(const Pins& hashes, KvBatch* batch, ChunkTotals* totals) {
  for (const std::string& hash : hashes) {
    ASSIGN_OR_RETURN(storage::ChunkUse use, ReadUseOrNone(kv_, hash));
    if (use.traces_count() == 0) {
      use.set_stored_bytes(pinned_[hash].stored_bytes);
      ++totals->chunks_count;
      totals->bytes += use.stored_bytes();
    }
    use.set_traces_count(use.traces_count() + 1);
    batch->Put(Family::kMeta, ChunkUseKey(hash), PackRecord(use));
  }
  return absl::OkStatus();
}

absl::Status ChunkTable::Release(const std::set<std::string>& hashes, KvBatch* batch,
                                 ChunkTotals* totals) {
  for (const std::string& hash : hashes) {
    ASSIGN_OR_RETURN(storage::ChunkUse use, ReadUseOrNone(kv_, hash));
    if (use.traces_count() == 0) continue;  // Damage that a reader reports.
    use.set_traces_count(use.traces_count() - 1);
    if (use.traces_count() > 0) {
      batch->Put(Family::kMeta, ChunkUseKey(hash), PackRecord(use));
      continue;
    }
    batch->Delete(Family::kMeta, ChunkUseKey(hash));
    --totals->chunks_count;
    totals->bytes -= use.stored_bytes();
    if (pinned_.count(hash) == 0) {
      batch->Delete(Family::kChunks, hash);
    } else {
      batch->Put(Family::kMeta, ReleasedKey(hash), hash);
    }
  }
  return absl::OkStatus();
}

absl::Status ChunkTable::Restate(const std::set<std::string>& hashes, KvBatch* batch) {
  for (const std::string& hash : hashes) {
    const auto value = kv_->Get(Family::kMeta, ChunkUseKey(hash));
    if (absl::IsNotFound(value.status())) {
      batch->Delete(Family::kMeta, ChunkUseKey(hash));
    } else if (value.ok()) {
      batch->Put(Family::kMeta, ChunkUseKey(hash), *value);
    } else if (!absl::IsDataLoss(value.status())) {
      return value.status();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ChunkTable::Unpin(const Pins& pins, KvBatch* batch) {
  int64_t freed_bytes = 0;
  absl::Status failure;
  for (const std::string& hash : pins) {  // To the end, whatever fails: pins are memory.
    const auto it = pinned_.find(hash);
    const Pinned pinned = it->second;
    if (--it->second.drafts_count == 0) pinned_.erase(it);
    const auto use = ReadUseOrNone(kv_, hash);
    if (!use.ok()) failure = use.status();
    if (!use.ok() || use->traces_count() > 0) continue;
    if (pinned.drafts_count > 1) {
      batch->Put(Family::kMeta, ReleasedKey(hash), hash);
      continue;
    }
    batch->Delete(Family::kChunks, hash);
    freed_bytes += pinned.stored_bytes;
  }
  RETURN_IF_ERROR(failure);
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

absl::Status ChunkTable::CheckUsed(const std::string& hash) const {
  const auto use = ReadUse(kv_, hash);
  if (absl::IsNotFound(use.status()) || (use.ok() && use->traces_count() < 1)) {
    return absl::DataLossError(absl::StrCat("chunk ", Hex(hash), ": its use count is missing"));
  }
  return Annotate(use.status(), absl::StrCat("chunk ", Hex(hash), ": its use count"));
}

absl::StatusOr<int64_t> ChunkTable::Sweep(const std::set<std::string>& living_draft_keys) {
  std::vector<std::string> records;
  std::set<std::string> unused;
  const absl::Status scanned =
      kv_->Scan(Family::kMeta, PrefixRange(kPendingPrefix), ScanOrder::kForward,
                [&](absl::string_view key, absl::string_view value) {
                  const std::string draft_key(key.substr(1, kDraftKeyBytes));
                  if (living_draft_keys.count(draft_key) > 0) return true;
                  records.emplace_back(key);
                  for (; value.size() >= kHashBytes; value.remove_prefix(kHashBytes)) {
                    unused.emplace(value.substr(0, kHashBytes));
                  }
                  return true;
                });
  // What lies behind damage stays: it costs space only.
  if (!scanned.ok() && !absl::IsDataLoss(scanned)) return scanned;
  KvBatch batch;
  int64_t swept = 0;
  for (const std::string& hash : unused) {
    ASSIGN_OR_RETURN(const storage::ChunkUse use, ReadUseOrNone(kv_, hash));
    if (use.traces_count() > 0 || pinned_.count(hash) > 0) continue;
    batch.Delete(Family::kChunks, hash);
    ++swept;
    if (batch.ops().size() < kSweepBatchChunks) continue;
    RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/false));
    batch = KvBatch();
  }
  for (const std::string& key : records) batch.Delete(Family::kMeta, key);
  if (!batch.ops().empty()) RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/false));
  return swept;
}

absl::StatusOr<ChunkTotals> ChunkTable::Count() const {
  ChunkTotals totals;
  const absl::Status scanned =
      kv_->Scan(Family::kMeta, PrefixRange(kChunkUsePrefix), ScanOrder::kForward,
                [&](absl::string_view, absl::string_view value) {
                  storage::ChunkUse use;
                  if (!UnpackRecord(value, &use).ok() || use.traces_count() < 1) return true;
                  ++totals.chunks_count;
                  totals.bytes += use.stored_bytes();
                  return true;
                });
  if (!scanned.ok() && !absl::IsDataLoss(scanned)) return scanned;
  return totals;
}

}  // namespace chakrad
