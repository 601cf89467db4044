#include "storage/trace_store_kv.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/sha256.h"
#include "common/status.h"
#include "storage/chunk_table.h"
#include "storage/ids.h"
#include "storage/keys.h"
#include "storage/limits.h"
#include "storage/page_token.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/trace_record.h"
#include "trace/codec/rank_check.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_index.pb.h"

namespace chakrad {
namespace {

constexpr char kTimeIndexPrefix[] = "t";

std::string ManifestKey(absl::string_view id) { return absl::StrCat("m", id); }
std::string RankKey(absl::string_view id, int32_t rank) {
  return absl::StrCat("r", id, std::string(1, '\0'), SortableInt32(rank));
}
std::string TimeIndexKey(int64_t create_unix_ns, absl::string_view id) {
  return absl::StrCat(kTimeIndexPrefix, PackTimeKey(create_unix_ns, id));
}

absl::Status NotFound(absl::string_view id) {
  return absl::NotFoundError(absl::StrCat("trace ", id, " is not known"));
}

std::string RankName(absl::string_view id, int32_t rank) {
  return absl::StrCat("trace ", id, ", rank ", rank);
}

absl::Status CheckTrace(const Trace& trace) {
  for (size_t i = 0; i < trace.ranks.size(); ++i) {
    const RankTrace& rank = trace.ranks[i];
    if (i > 0 && rank.rank <= trace.ranks[i - 1].rank) {
      return absl::InvalidArgumentError(absl::StrCat("ranks[", i, "]: rank ", rank.rank,
                                                     " is not above ", trace.ranks[i - 1].rank));
    }
    RETURN_IF_ERROR(
        Annotate(CheckRankColumns(rank, trace.groups.size()), absl::StrCat("rank ", rank.rank)));
  }
  return absl::OkStatus();
}

class TraceStoreKv : public TraceStore {
 public:
  explicit TraceStoreKv(std::shared_ptr<Kv> kv) : kv_(std::move(kv)), chunks_(kv_.get()) {}

  absl::Status Put(const Trace& trace, TraceInfo info) override;
  absl::StatusOr<TraceInfo> GetInfo(absl::string_view id) override;
  absl::StatusOr<TracePage> List(const TraceListOptions& options) override;
  absl::StatusOr<Trace> Load(absl::string_view id, const TraceLoadOptions& options) override;
  absl::Status Delete(absl::string_view id) override;
  absl::StatusOr<int64_t> SweepOrphans() override {
    MutexLock lock(&mutex_);
    return chunks_.Sweep();
  }
  absl::StatusOr<int64_t> TotalBytes() override { return chunks_.TotalBytes(); }

 private:
  // What a Put has written before its manifest.
  struct Draft {
    ChunkTable::Pins pins;
    KvBatch batch;  // Manifest, rank manifests, index.
    int64_t stored_bytes = 0;
  };
  absl::Status PutRank(absl::string_view id, const RankTrace& rank, Draft* draft);
  absl::Status PutAll(const Trace& trace, TraceInfo* info, Draft* draft);
  // Sets *keep_chunks when what failed may still appear at the next start.
  absl::Status Commit(absl::string_view id, const Draft& draft, bool* keep_chunks);
  void Unpin(const Draft& draft, bool keep_chunks);
  absl::StatusOr<RankTrace> LoadRank(absl::string_view id, int32_t rank, bool cold,
                                     size_t groups_count);
  absl::StatusOr<RankIndex> ReadRankIndex(absl::string_view id, int32_t rank);
  absl::Status CheckIdIsFree(absl::string_view id);
  // Gives dead space back when enough has gathered.
  void MaybeReclaim();

  const std::shared_ptr<Kv> kv_;
  // Held while use counts are read and changed; loads and lists do without.
  Mutex mutex_;
  ChunkTable chunks_;  // All but its thread-safe calls under mutex_.
  int64_t dead_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

absl::Status TraceStoreKv::CheckIdIsFree(absl::string_view id) {
  const absl::Status found = kv_->Get(Family::kMeta, ManifestKey(id)).status();
  if (found.ok()) return absl::AlreadyExistsError(absl::StrCat("trace ", id, " exists"));
  return absl::IsNotFound(found) ? absl::OkStatus() : found;
}

absl::Status TraceStoreKv::PutRank(absl::string_view id, const RankTrace& rank, Draft* draft) {
  RankIndex index{.header = HeaderOf(rank), .hot = {}, .cold = {}, .has_spans = true};
  RETURN_IF_ERROR(EncodeRank(rank, [&](const ChunkSpan& span, absl::string_view stored) {
    const std::string hash = Sha256Of(stored);
    (IsCold(span.kind) ? index.cold : index.hot).push_back({hash, span});
    draft->stored_bytes += static_cast<int64_t>(stored.size());
    MutexLock lock(&mutex_);
    return chunks_.Add(hash, stored, &draft->pins);
  }));
  codec::RankIndexRecord record;
  RankIndexToProto(index, &record);
  draft->batch.Put(Family::kMeta, RankKey(id, rank.rank), PackRecord(record));
  return absl::OkStatus();
}

absl::Status TraceStoreKv::PutAll(const Trace& trace, TraceInfo* info, Draft* draft) {
  info->ranks.clear();
  for (const RankTrace& rank : trace.ranks) {
    RETURN_IF_ERROR(Annotate(PutRank(info->id, rank, draft), RankName(info->id, rank.rank)));
    info->ranks.push_back(SummarizeRank(rank));
  }
  info->groups = trace.groups;
  info->world_size = trace.world_size;
  info->labels.insert(trace.labels.begin(), trace.labels.end());
  info->stored_bytes = draft->stored_bytes;
  storage::TraceManifest manifest;
  TraceInfoToProto(*info, &manifest);
  if (manifest.ByteSizeLong() > kMaxManifestBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("trace ", info->id, ": its manifest takes ", manifest.ByteSizeLong(),
                     " bytes, above the limit of ", kMaxManifestBytes));
  }
  draft->batch.Put(Family::kMeta, ManifestKey(info->id), PackRecord(manifest));
  draft->batch.Put(Family::kMeta, TimeIndexKey(info->create_unix_ns, info->id), "");
  return absl::OkStatus();
}

absl::Status TraceStoreKv::Commit(absl::string_view id, const Draft& draft, bool* keep_chunks) {
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(CheckIdIsFree(id));
  KvBatch batch = draft.batch, undo;
  RETURN_IF_ERROR(chunks_.Use(draft.pins, &batch, &undo));
  const absl::Status status = kv_->Write(batch, /*sync=*/true);
  if (status.ok()) return status;
  // A batch that failed may come back from the log at the next start, so what
  // undoes it has to follow it there. Where that fails too, the trace may appear
  // and keeps its chunks; if it does not, the sweep takes them.
  for (const KvBatch::Op& op : draft.batch.ops()) undo.Delete(op.family, op.key);
  *keep_chunks = !kv_->Write(undo, /*sync=*/false).ok();
  return status;
}

void TraceStoreKv::Unpin(const Draft& draft, bool keep_chunks) {
  MutexLock lock(&mutex_);
  KvBatch batch;
  const absl::StatusOr<int64_t> freed_bytes = chunks_.Unpin(draft.pins, &batch);
  // What fails here leaves orphans, which the next start sweeps.
  if (keep_chunks || !freed_bytes.ok() || batch.ops().empty()) return;
  if (kv_->Write(batch, /*sync=*/false).ok()) dead_bytes_ += *freed_bytes;
}

absl::Status TraceStoreKv::Put(const Trace& trace, TraceInfo info) {
  RETURN_IF_ERROR(CheckId("trace_id", info.id));
  RETURN_IF_ERROR(Annotate(CheckTrace(trace), absl::StrCat("trace ", info.id)));
  RETURN_IF_ERROR(CheckIdIsFree(info.id));
  Draft draft;
  bool keep_chunks = false;
  absl::Status status = PutAll(trace, &info, &draft);
  if (status.ok()) status = Commit(info.id, draft, &keep_chunks);
  Unpin(draft, keep_chunks);
  if (!status.ok()) MaybeReclaim();
  return status;
}

absl::StatusOr<TraceInfo> TraceStoreKv::GetInfo(absl::string_view id) {
  const auto value = kv_->Get(Family::kMeta, ManifestKey(id));
  if (absl::IsNotFound(value.status())) return NotFound(id);
  const std::string context = absl::StrCat("trace ", id);
  if (!value.ok()) return Annotate(value.status(), context);
  storage::TraceManifest manifest;
  RETURN_IF_ERROR(Annotate(UnpackRecord(*value, &manifest), context));
  TraceInfo info;
  info.id = std::string(id);
  RETURN_IF_ERROR(Annotate(TraceInfoFromProto(manifest, &info), context));
  return info;
}

absl::StatusOr<TracePage> TraceStoreKv::List(const TraceListOptions& options) {
  TracePage page;
  const auto take = [&](absl::string_view id, int64_t create_unix_ns,
                        bool keep) -> absl::StatusOr<bool> {
    absl::StatusOr<TraceInfo> info = GetInfo(id);
    if (absl::IsNotFound(info.status())) return false;  // Deleted meanwhile.
    if (absl::IsDataLoss(info.status())) {
      // One damaged trace must not hide the others, nor vanish itself.
      info = TraceInfo{};
      info->id = std::string(id);
      info->create_unix_ns = create_unix_ns;
      info->notices.push_back("its manifest is damaged");
    }
    RETURN_IF_ERROR(info.status());
    if (options.matches != nullptr && !options.matches(*info)) return false;
    if (keep) page.traces.push_back(*std::move(info));
    return true;
  };
  ASSIGN_OR_RETURN(page.next_page_token,
                   WalkTimeIndex(kv_.get(), Family::kMeta, kTimeIndexPrefix,
                                 {options.page_size, options.page_token}, take));
  return page;
}

absl::StatusOr<RankIndex> TraceStoreKv::ReadRankIndex(absl::string_view id, int32_t rank) {
  const auto value = kv_->Get(Family::kMeta, RankKey(id, rank));
  if (absl::IsNotFound(value.status())) return absl::DataLossError("its manifest is missing");
  RETURN_IF_ERROR(value.status());
  codec::RankIndexRecord record;
  RETURN_IF_ERROR(UnpackRecord(*value, &record));
  RankIndex index;
  const absl::Status fits = RankIndexFromProto(record, &index);
  if (!fits.ok()) return absl::DataLossError(fits.message());
  return index;
}

absl::StatusOr<RankTrace> TraceStoreKv::LoadRank(absl::string_view id, int32_t rank, bool cold,
                                                 size_t groups_count) {
  ASSIGN_OR_RETURN(const RankIndex index, ReadRankIndex(id, rank));
  RankDecoder decoder(index.header);
  for (const ChunkRef& ref : index.hot) {
    ASSIGN_OR_RETURN(const std::string stored, chunks_.Read(ref.hash));
    RETURN_IF_ERROR(decoder.Add(stored));
  }
  for (size_t i = 0; cold && i < index.cold.size(); ++i) {
    ASSIGN_OR_RETURN(const std::string stored, chunks_.Read(index.cold[i].hash));
    RETURN_IF_ERROR(decoder.Add(stored));
  }
  return decoder.Finish(cold, groups_count);
}

absl::StatusOr<Trace> TraceStoreKv::Load(absl::string_view id, const TraceLoadOptions& options) {
  ASSIGN_OR_RETURN(TraceInfo info, GetInfo(id));
  std::set<int32_t> stored_ranks;
  for (const RankSummary& rank : info.ranks) stored_ranks.insert(rank.rank);
  std::set<int32_t> wanted(options.ranks.begin(), options.ranks.end());
  for (int32_t rank : wanted) {
    if (stored_ranks.count(rank) > 0) continue;
    return absl::NotFoundError(absl::StrCat("trace ", id, ": rank: ", rank, " is not stored"));
  }
  if (wanted.empty()) wanted = std::move(stored_ranks);
  Trace trace;
  trace.world_size = info.world_size;
  trace.groups = std::move(info.groups);
  trace.labels = std::move(info.labels);
  trace.ranks.reserve(wanted.size());
  for (int32_t rank : wanted) {
    auto loaded = LoadRank(id, rank, options.cold, trace.groups.size());
    if (!loaded.ok()) {
      // A delete meanwhile takes the chunks away: that is no damage.
      if (absl::IsNotFound(GetInfo(id).status())) return NotFound(id);
      return Annotate(loaded.status(), RankName(id, rank));
    }
    trace.ranks.push_back(*std::move(loaded));
  }
  return trace;
}

absl::Status TraceStoreKv::Delete(absl::string_view id) {
  {
    MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(const TraceInfo info, GetInfo(id));
    KvBatch batch;
    std::set<std::string> hashes;
    for (const RankSummary& rank : info.ranks) {
      const auto index = ReadRankIndex(id, rank.rank);
      if (!index.ok()) return Annotate(index.status(), RankName(id, rank.rank));
      for (const ChunkRef& ref : index->hot) hashes.insert(ref.hash);
      for (const ChunkRef& ref : index->cold) hashes.insert(ref.hash);
      batch.Delete(Family::kMeta, RankKey(id, rank.rank));
    }
    batch.Delete(Family::kMeta, ManifestKey(id));
    batch.Delete(Family::kMeta, TimeIndexKey(info.create_unix_ns, id));
    ASSIGN_OR_RETURN(const int64_t freed_bytes, chunks_.Release(hashes, &batch));
    RETURN_IF_ERROR(kv_->Write(batch, /*sync=*/true));
    dead_bytes_ += freed_bytes;
  }
  MaybeReclaim();
  return absl::OkStatus();
}

void TraceStoreKv::MaybeReclaim() {
  int64_t dead_bytes = 0;
  {
    MutexLock lock(&mutex_);
    if (dead_bytes_ < kReclaimBytes) return;
    std::swap(dead_bytes, dead_bytes_);
  }
  if (kv_->Reclaim(Family::kChunks).ok()) return;
  MutexLock lock(&mutex_);  // The next delete tries again.
  dead_bytes_ += dead_bytes;
}

}  // namespace

std::unique_ptr<TraceStore> NewTraceStore(std::shared_ptr<Kv> kv) {
  return std::make_unique<TraceStoreKv>(std::move(kv));
}

}  // namespace chakrad
