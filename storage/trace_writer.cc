#include "storage/trace_writer.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "storage/card_record.h"
#include "storage/limits.h"
#include "storage/raw_files.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/trace_keys.h"
#include "trace/codec/rank_index.pb.h"

namespace chakrad {
namespace {

// Chunks of a commit that are written before it, not with it: the batch of a commit
// is written under the lock.
constexpr int64_t kCommitChunkBytes = 64 << 10;

std::string RandomKey() {
  std::random_device device;
  std::string key;
  while (key.size() < kDraftKeyBytes) key.push_back(static_cast<char>(device()));
  return key;
}

// What takes the records of a trace away, but for its chunks and raw pieces.
void DeleteRecords(absl::string_view id, const std::vector<std::string>& rank_keys,
                   KvBatch* batch) {
  batch->Delete(Family::kMeta, ManifestKey(id));
  for (const std::string& key : rank_keys) batch->Delete(Family::kMeta, key);
  batch->Delete(Family::kMeta, PinnedKey(id));
  batch->Delete(Family::kIndex, CardKey(id));
}

// One by one: reads of a family slow down with every deleted range.
void DeletePending(const DraftState& draft, KvBatch* batch) {
  for (uint32_t i = 0; i < draft.pending_records; ++i) {
    batch->Delete(Family::kMeta, PendingKey(draft.key, i));
  }
}

TraceTotals Plus(TraceTotals a, const TraceTotals& b, int sign) {
  a.traces_count += sign * b.traces_count;
  a.chunks.chunks_count += sign * b.chunks.chunks_count;
  a.chunks.bytes += sign * b.chunks.bytes;
  a.raw_bytes += sign * b.raw_bytes;
  return a;
}

void DeleteRaw(absl::string_view draft_key, KvBatch* batch) {
  const KvRange pieces = RawPieceKeys(draft_key);
  batch->DeleteRange(Family::kRaw, pieces.begin, pieces.end);
}

// A manifest's time goes after its other fields: the last one counts.
std::string WithTime(std::string manifest, int64_t create_unix_ns) {
  storage::TraceManifest time;
  time.set_create_unix_ns(create_unix_ns);
  return absl::StrCat(manifest, time.SerializeAsString());
}

}  // namespace

absl::StatusOr<TraceTotals> ReadTotals(Kv* kv) {
  ASSIGN_OR_RETURN(const std::string value, kv->Get(Family::kMeta, kTotalsKey));
  storage::StoreTotals record;
  RETURN_IF_ERROR(UnpackRecord(value, &record));
  return TraceTotals{
      record.traces_count(), {record.chunks_count(), record.chunk_bytes()}, record.raw_bytes()};
}

std::string PackTotals(const TraceTotals& totals) {
  storage::StoreTotals record;
  record.set_traces_count(totals.traces_count);
  record.set_chunks_count(totals.chunks.chunks_count);
  record.set_chunk_bytes(totals.chunks.bytes);
  record.set_raw_bytes(totals.raw_bytes);
  return PackRecord(record);
}

TraceWriter::TraceWriter(std::shared_ptr<Kv> kv, std::shared_ptr<TraceCatalog> catalog,
                         TraceTotals totals, int64_t draft_batch_bytes)
    : kv_(std::move(kv)),
      catalog_(std::move(catalog)),
      draft_batch_bytes_(draft_batch_bytes),
      chunks_(kv_.get()),
      totals_(totals),
      newest_unix_ns_(catalog_->newest_create_unix_ns()) {}

TraceWriter::~TraceWriter() {
  MutexLock lock(&mutex_);
  Settle().IgnoreError();  // What is left, the next start sweeps.
}

std::unique_ptr<DraftState> TraceWriter::Begin() {
  auto draft = std::make_unique<DraftState>();
  draft->key = RandomKey();
  MutexLock lock(&mutex_);
  living_drafts_.insert(draft->key);
  return draft;
}

absl::Status TraceWriter::AddChunk(const std::string& hash, absl::string_view stored,
                                   DraftState* draft) {
  const bool rotten = draft->rotten.erase(hash) > 0;
  if (!rotten) {
    if (draft->pins.count(hash) > 0) return absl::OkStatus();
    bool there = false;
    {
      MutexLock lock(&mutex_);
      ASSIGN_OR_RETURN(there, chunks_.Pin(hash, static_cast<int64_t>(stored.size()), &draft->pins));
    }
    if (there) {
      ASSIGN_OR_RETURN(const bool sound, IsSound(hash));
      if (sound) return absl::OkStatus();
    }
  }
  draft->pending.Put(Family::kChunks, hash, stored);
  draft->pending_hashes += hash;
  return draft->pending.put_bytes() < draft_batch_bytes_ ? absl::OkStatus() : Flush(draft);
}

absl::StatusOr<bool> TraceWriter::HasChunk(const std::string& hash, DraftState* draft) {
  if (draft->pins.count(hash) > 0) return draft->rotten.count(hash) == 0;
  {
    MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(const bool there, chunks_.PinIfStored(hash, &draft->pins));
    if (!there) return false;
  }
  ASSIGN_OR_RETURN(const bool sound, IsSound(hash));
  if (!sound) draft->rotten.insert(hash);
  return sound;
}

absl::StatusOr<bool> TraceWriter::IsSound(const std::string& hash) {
  const absl::Status read = chunks_.Read(hash).status();
  if (absl::IsDataLoss(read)) return false;
  RETURN_IF_ERROR(read);
  return true;
}

int64_t TraceWriter::PinnedBytes(const std::string& hash) {
  MutexLock lock(&mutex_);
  return chunks_.PinnedBytes(hash);
}

absl::Status TraceWriter::Flush(DraftState* draft) {
  if (draft->pending.ops().empty()) return absl::OkStatus();
  KvBatch batch = draft->pending;  // Kept: a full disk may get space, and the caller try again.
  batch.Put(Family::kMeta, PendingKey(draft->key, draft->pending_records), draft->pending_hashes);
  RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/false));
  MutexLock lock(&mutex_);
  for (const KvBatch::Op& op : draft->pending.ops()) dead_chunk_bytes_ += chunks_.Written(op.key);
  ++draft->pending_records;
  draft->pending = KvBatch();
  draft->pending_hashes.clear();
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> TraceWriter::WriteTrace(NewTrace* trace, Failed* attempt) {
  TraceInfo& info = trace->info;
  bool taken = catalog_->Has(info.id);
  for (const Committing& other : committing_) taken = taken || other.card->id == info.id;
  if (taken) return absl::AlreadyExistsError(absl::StrCat("trace ", info.id, " exists"));
  if (newest_unix_ns_ != INT64_MAX) {
    info.create_unix_ns = std::max(info.create_unix_ns, newest_unix_ns_ + 1);
  }
  DraftState& draft = *attempt->draft;
  KvBatch batch;
  TraceTotals& added = attempt->added;
  added.traces_count = 1;
  added.raw_bytes = draft.raw_bytes;
  RETURN_IF_ERROR(chunks_.Use(draft.pins, &batch, &added.chunks));
  batch.Append(draft.pending);
  batch.Append(trace->rank_indexes);
  auto card = std::make_shared<const TraceCard>(CardOf(info));
  batch.Put(Family::kMeta, ManifestKey(info.id),
            WithTime(std::move(trace->manifest), info.create_unix_ns));
  batch.Put(Family::kIndex, CardKey(info.id), PackCard(*card));
  batch.Put(Family::kMeta, kTotalsKey, PackTotals(Plus(totals_, added, 1)));
  DeletePending(draft, &batch);
  if (draft.has_raw) batch.Delete(Family::kMeta, PendingRawKey(draft.key));
  const absl::Status written = kv_->Write(batch, /*sync=*/false);
  if (!written.ok()) {
    failed_.push_back(std::move(*attempt));
    Settle().IgnoreError();
    return written;
  }
  attempt->applied = true;
  totals_ = Plus(totals_, added, 1);
  newest_unix_ns_ = info.create_unix_ns;
  committing_.push_back({next_number_++, std::move(card)});
  return committing_.back().number;
}

absl::StatusOr<int64_t> TraceWriter::Commit(std::unique_ptr<DraftState> draft, NewTrace trace) {
  absl::Status status;
  if (draft->pending.put_bytes() > kCommitChunkBytes) status = Flush(draft.get());
  Failed attempt{trace.info.id, {}, std::move(draft), {}};
  for (const KvBatch::Op& op : trace.rank_indexes.ops()) attempt.rank_keys.push_back(op.key);
  uint64_t number = 0;
  if (status.ok()) {
    MutexLock lock(&mutex_);
    status = Settle();
    if (status.ok()) {
      const absl::StatusOr<uint64_t> written = WriteTrace(&trace, &attempt);
      status = written.status();
      number = written.value_or(0);
    }
  }
  if (status.ok()) {
    // Outside the lock: commits share one sync, and a later one's covers an earlier.
    status = FinishCommit(number, kv_->Write({}, /*sync=*/true), std::move(attempt));
  } else if (attempt.draft != nullptr) {
    Abandon(std::move(attempt.draft));
  }
  if (status.ok()) return trace.info.create_unix_ns;
  MaybeReclaim();
  if (absl::IsAlreadyExists(status)) return status;
  return Annotate(status, absl::StrCat("trace ", trace.info.id));
}

void TraceWriter::PublishUpTo(uint64_t number) {
  while (!committing_.empty() && committing_.front().number <= number) {
    catalog_->Add(std::move(committing_.front().card));
    committing_.pop_front();
  }
}

absl::Status TraceWriter::FinishCommit(uint64_t number, const absl::Status& synced,
                                       Failed attempt) {
  MutexLock lock(&mutex_);
  const auto it = std::find_if(committing_.begin(), committing_.end(),
                               [number](const Committing& one) { return one.number == number; });
  if (synced.ok()) {
    PublishUpTo(number);                 // A sync reaches everything that was written before it.
  } else if (it != committing_.end()) {  // Nor did anybody else's sync reach it.
    committing_.erase(it);
    totals_ = Plus(totals_, attempt.added, -1);
    failed_.push_back(std::move(attempt));
    Settle().IgnoreError();
    return synced;
  }
  attempt.draft->has_raw = false;  // They are the trace's now.
  attempt.draft->pending_records = 0;
  AbandonLocked(*attempt.draft);
  return absl::OkStatus();
}

absl::Status TraceWriter::Settle() {
  while (!failed_.empty()) {
    RETURN_IF_ERROR(Undo(failed_.back()));
    AbandonLocked(*failed_.back().draft);
    failed_.pop_back();
  }
  return absl::OkStatus();
}

absl::Status TraceWriter::Undo(const Failed& failed) {
  KvBatch batch;
  batch.UseReserve();
  const DraftState& draft = *failed.draft;
  if (failed.applied) {
    ChunkTotals ignored;
    RETURN_IF_ERROR(chunks_.Release(draft.pins, &batch, &ignored));
  } else {
    RETURN_IF_ERROR(chunks_.Restate(draft.pins, &batch));
  }
  DeleteRecords(failed.id, failed.rank_keys, &batch);
  batch.Put(Family::kMeta, kTotalsKey, PackTotals(totals_));
  // The failed batch took the draft's marks away.
  std::string hashes;
  for (const std::string& hash : draft.pins) hashes += hash;
  batch.Put(Family::kMeta, PendingKey(draft.key, draft.pending_records), hashes);
  if (draft.has_raw) batch.Put(Family::kMeta, PendingRawKey(draft.key), "");
  RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/false));
  ++failed.draft->pending_records;
  return absl::OkStatus();
}

void TraceWriter::Abandon(std::unique_ptr<DraftState> draft) {
  {
    MutexLock lock(&mutex_);
    AbandonLocked(*draft);
  }
  MaybeReclaim();
}

void TraceWriter::AbandonLocked(const DraftState& draft) {
  living_drafts_.erase(draft.key);
  KvBatch batch;
  batch.UseReserve();
  const absl::StatusOr<int64_t> freed_bytes = chunks_.Unpin(draft.pins, &batch);
  if (!freed_bytes.ok()) return;  // What fails here leaves orphans, which the next start sweeps.
  DeletePending(draft, &batch);
  if (draft.has_raw) {
    DeleteRaw(draft.key, &batch);
    batch.Delete(Family::kMeta, PendingRawKey(draft.key));
  }
  if (batch.ops().empty() || !kv_->Write(batch, /*sync=*/false).ok()) return;
  dead_chunk_bytes_ += *freed_bytes;
  if (draft.has_raw) dead_raw_bytes_ += draft.raw_bytes;
}

absl::StatusOr<TraceWriter::Content> TraceWriter::ReadContent(absl::string_view id) {
  Content content;
  // Damaged records do not keep a trace from being deleted: what only they name stays
  // behind, and costs space.
  const absl::Status scanned =
      kv_->Scan(Family::kMeta, RankKeys(id), ScanOrder::kForward,
                [&content](absl::string_view key, absl::string_view value) {
                  content.rank_keys.emplace_back(key);
                  codec::RankIndexRecord record;
                  if (!UnpackRecord(value, &record).ok()) return true;
                  for (const auto& hash : record.hot_chunks()) content.hashes.insert(hash);
                  for (const auto& hash : record.cold_chunks()) content.hashes.insert(hash);
                  return true;
                });
  content.all_rank_keys = scanned.ok();
  if (!scanned.ok() && !absl::IsDataLoss(scanned)) return scanned;
  const auto value = kv_->Get(Family::kMeta, ManifestKey(id));
  storage::TraceManifest manifest;
  if (value.ok() && UnpackRecord(*value, &manifest).ok()) {
    content.raw_key = manifest.raw_key();
    for (const auto& file : manifest.raw_files()) content.raw_bytes += file.stored_bytes();
  } else if (!value.ok() && !absl::IsNotFound(value.status()) &&
             !absl::IsDataLoss(value.status())) {
    return value.status();
  }
  return content;
}

absl::Status TraceWriter::WriteDelete(absl::string_view id, const Content& content) {
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(Settle());
  KvBatch batch;
  batch.UseReserve();
  DeleteRecords(id, content.rank_keys, &batch);
  if (!content.all_rank_keys) {
    const KvRange ranks = RankKeys(id);
    batch.DeleteRange(Family::kMeta, ranks.begin, ranks.end);
  }
  if (!content.raw_key.empty()) DeleteRaw(content.raw_key, &batch);
  TraceTotals freed{-1, {}, -content.raw_bytes};
  RETURN_IF_ERROR(chunks_.Release(content.hashes, &batch, &freed.chunks));
  batch.Put(Family::kMeta, kTotalsKey, PackTotals(Plus(totals_, freed, 1)));
  RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/false));
  totals_ = Plus(totals_, freed, 1);
  dead_chunk_bytes_ -= freed.chunks.bytes;
  dead_raw_bytes_ += content.raw_bytes;
  return absl::OkStatus();
}

absl::Status TraceWriter::Delete(absl::string_view id) {
  RETURN_IF_ERROR(catalog_->BeginDelete(id));
  const absl::StatusOr<Content> content = ReadContent(id);
  const absl::Status written = content.ok() ? WriteDelete(id, *content) : content.status();
  if (!written.ok()) {
    catalog_->CancelDelete(id);
    return written;
  }
  // Gone for everybody here, whether or not the disk has heard of it.
  const absl::Status synced = kv_->Write({}, /*sync=*/true);
  catalog_->FinishDelete(id);
  MaybeReclaim();
  return synced;
}

absl::Status TraceWriter::SetPinned(absl::string_view id, bool pinned) {
  MutexLock lock(&pin_mutex_);
  const std::shared_ptr<const TraceCard> card = catalog_->Find(id);
  if (card == nullptr) return UnknownTrace(id);
  KvBatch batch;
  if (pinned) {
    // First in memory: from here on nobody deletes it.
    RETURN_IF_ERROR(catalog_->SetPinned(id, true));
    batch.Put(Family::kMeta, PinnedKey(id), "");
  } else {
    batch.Delete(Family::kMeta, PinnedKey(id));
  }
  const absl::Status written = kv_->Write(batch, /*sync=*/true);
  if (!written.ok()) {
    if (pinned) catalog_->SetPinned(id, card->pinned).IgnoreError();
    return written;
  }
  return pinned ? absl::OkStatus() : catalog_->SetPinned(id, false);
}

absl::StatusOr<int64_t> TraceWriter::Sweep() {
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(Settle());
  ASSIGN_OR_RETURN(const int64_t chunks_count, chunks_.Sweep(living_drafts_));
  const std::set<std::string> living = living_drafts_;
  ASSIGN_OR_RETURN(const int64_t raw_count, SweepRawFiles(kv_.get(), [&living](const auto& key) {
                     return living.count(key) > 0;
                   }));
  return chunks_count + raw_count;
}

int64_t TraceWriter::TotalBytes() {
  MutexLock lock(&mutex_);
  return totals_.chunks.bytes + totals_.raw_bytes;
}

void TraceWriter::MaybeReclaim() {
  int64_t chunk_bytes = 0, raw_bytes = 0;
  {
    MutexLock lock(&mutex_);
    if (dead_chunk_bytes_ >= kReclaimBytes) std::swap(chunk_bytes, dead_chunk_bytes_);
    if (dead_raw_bytes_ >= kReclaimBytes) std::swap(raw_bytes, dead_raw_bytes_);
  }
  const bool chunks_ok = chunk_bytes == 0 || kv_->Reclaim(Family::kChunks).ok();
  const bool raw_ok = raw_bytes == 0 || kv_->Reclaim(Family::kRaw).ok();
  MutexLock lock(&mutex_);  // What failed, the next delete tries again.
  if (!chunks_ok) dead_chunk_bytes_ += chunk_bytes;
  if (!raw_ok) dead_raw_bytes_ += raw_bytes;
}

}  // namespace chakrad
