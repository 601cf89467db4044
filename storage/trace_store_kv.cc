#include "storage/trace_store_kv.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "storage/load_catalog.h"
#include "storage/raw_files.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/trace_catalog.h"
#include "storage/trace_draft_kv.h"
#include "storage/trace_keys.h"
#include "storage/trace_record.h"
#include "storage/trace_writer.h"
#include "storage/verify_trace.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_index.pb.h"

namespace chakrad {
namespace {

std::string RankName(absl::string_view id, int32_t rank) {
  return absl::StrCat("trace ", id, ", rank ", rank);
}

class TraceStoreKv : public TraceStore {
 public:
  TraceStoreKv(std::shared_ptr<Kv> kv, std::shared_ptr<TraceCatalog> catalog,
               std::shared_ptr<TraceWriter> writer)
      : kv_(std::move(kv)), catalog_(std::move(catalog)), writer_(std::move(writer)) {}

  std::unique_ptr<TraceDraft> NewDraft() override { return NewTraceDraft(kv_, writer_); }
  std::shared_ptr<const TraceCards> Cards() override { return catalog_->Cards(); }
  absl::StatusOr<TraceInfo> GetInfo(absl::string_view id) override;
  absl::StatusOr<Trace> Load(absl::string_view id, const TraceLoadOptions& options) override;
  absl::StatusOr<RankIndex> GetRankIndex(absl::string_view id, int32_t rank) override;
  absl::StatusOr<std::string> ReadChunk(const std::string& hash) override {
    return writer_->chunks().Read(hash);
  }
  absl::StatusOr<std::string> FindByContent(absl::string_view content_hash) override {
    return catalog_->FindByContent(content_hash);
  }
  absl::Status SetPinned(absl::string_view id, bool pinned) override {
    return writer_->SetPinned(id, pinned);
  }
  absl::StatusOr<std::unique_ptr<TraceLease>> Lease(absl::string_view id) override {
    return catalog_->Lease(id);
  }
  absl::Status Delete(absl::string_view id) override { return writer_->Delete(id); }
  absl::StatusOr<VerifyResult> Verify(absl::string_view id) override;
  absl::Status ReadRawFile(
      absl::string_view id, absl::string_view file,
      const std::function<absl::Status(absl::string_view bytes)>& sink) override;
  absl::StatusOr<int64_t> SweepOrphans() override { return writer_->Sweep(); }
  absl::StatusOr<int64_t> TotalBytes() override { return writer_->TotalBytes(); }

 private:
  // With what the catalog knows of it. NOT_FOUND when it is not there (any more).
  absl::StatusOr<storage::TraceManifest> ReadManifest(absl::string_view id, TraceInfo* info);
  // A delete meanwhile takes records and chunks away: that is no damage.
  absl::Status Explain(absl::string_view id, const absl::Status& status, absl::string_view what);
  absl::StatusOr<RankTrace> LoadRank(absl::string_view id, int32_t rank, bool cold,
                                     size_t groups_count);

  const std::shared_ptr<Kv> kv_;
  const std::shared_ptr<TraceCatalog> catalog_;
  const std::shared_ptr<TraceWriter> writer_;
};

absl::Status TraceStoreKv::Explain(absl::string_view id, const absl::Status& status,
                                   absl::string_view what) {
  if (catalog_->Find(id) == nullptr) return UnknownTrace(id);
  if (absl::IsDataLoss(status)) catalog_->SetReadable(id, false);
  return Annotate(status, what);
}

absl::StatusOr<storage::TraceManifest> TraceStoreKv::ReadManifest(absl::string_view id,
                                                                  TraceInfo* info) {
  const std::shared_ptr<const TraceCard> card = catalog_->Find(id);
  if (card == nullptr) return UnknownTrace(id);
  const auto value = kv_->Get(Family::kMeta, ManifestKey(id));
  absl::Status status = value.status();
  if (absl::IsNotFound(status)) status = absl::DataLossError("its manifest is missing");
  storage::TraceManifest manifest;
  if (status.ok()) status = UnpackRecord(*value, &manifest);
  if (status.ok()) status = TraceInfoFromProto(manifest, info);
  if (!status.ok()) {
    if (absl::IsDataLoss(status)) catalog_->SetDamaged(id);
    return Explain(id, status, absl::StrCat("trace ", id));
  }
  info->id = std::string(id);
  info->pinned = card->pinned;
  return manifest;
}

absl::StatusOr<TraceInfo> TraceStoreKv::GetInfo(absl::string_view id) {
  TraceInfo info;
  RETURN_IF_ERROR(ReadManifest(id, &info).status());
  return info;
}

absl::StatusOr<RankIndex> TraceStoreKv::GetRankIndex(absl::string_view id, int32_t rank) {
  if (catalog_->Find(id) == nullptr) return UnknownTrace(id);
  const auto value = kv_->Get(Family::kMeta, RankKey(id, rank));
  if (absl::IsNotFound(value.status())) {
    TraceInfo info;
    RETURN_IF_ERROR(ReadManifest(id, &info).status());
    for (const RankSummary& stored : info.ranks) {
      if (stored.rank != rank) continue;
      return absl::DataLossError(absl::StrCat(RankName(id, rank), ": its index is missing"));
    }
    return absl::NotFoundError(absl::StrCat("trace ", id, ": rank: ", rank, " is not stored"));
  }
  absl::Status status = value.status();
  codec::RankIndexRecord record;
  RankIndex index;
  if (status.ok()) status = UnpackRecord(*value, &record);
  if (status.ok()) {
    status = RankIndexFromProto(record, &index);
    if (!status.ok()) status = absl::DataLossError(status.message());
  }
  if (!status.ok()) return Explain(id, status, RankName(id, rank));
  return index;
}

absl::StatusOr<RankTrace> TraceStoreKv::LoadRank(absl::string_view id, int32_t rank, bool cold,
                                                 size_t groups_count) {
  ASSIGN_OR_RETURN(const RankIndex index, GetRankIndex(id, rank));
  RankDecoder decoder(index.header);
  const auto load = [&]() -> absl::StatusOr<RankTrace> {
    for (const std::vector<ChunkRef>* refs : {&index.hot, &index.cold}) {
      if (refs == &index.cold && !cold) break;
      for (const ChunkRef& ref : *refs) {
        ASSIGN_OR_RETURN(const std::string stored, ReadChunk(ref.hash));
        RETURN_IF_ERROR(decoder.Add(stored));
      }
    }
    return decoder.Finish(cold, groups_count);
  };
  absl::StatusOr<RankTrace> loaded = load();
  if (!loaded.ok()) return Explain(id, loaded.status(), RankName(id, rank));
  return loaded;
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
    ASSIGN_OR_RETURN(RankTrace loaded, LoadRank(id, rank, options.cold, trace.groups.size()));
    trace.ranks.push_back(std::move(loaded));
  }
  return trace;
}

absl::StatusOr<VerifyResult> TraceStoreKv::Verify(absl::string_view id) {
  ASSIGN_OR_RETURN(const std::unique_ptr<TraceLease> lease, Lease(id));
  ASSIGN_OR_RETURN(VerifyResult result, VerifyTrace(kv_.get(), writer_->chunks(), id));
  catalog_->SetReadable(id, result.errors.empty());
  if (!result.errors.empty() && !kv_->Get(Family::kMeta, ManifestKey(id)).ok()) {
    catalog_->SetDamaged(id);
  }
  return result;
}

absl::Status TraceStoreKv::ReadRawFile(
    absl::string_view id, absl::string_view file,
    const std::function<absl::Status(absl::string_view bytes)>& sink) {
  ASSIGN_OR_RETURN(const std::unique_ptr<TraceLease> lease, Lease(id));
  TraceInfo info;
  ASSIGN_OR_RETURN(const storage::TraceManifest manifest, ReadManifest(id, &info));
  for (size_t i = 0; i < info.raw_files.size(); ++i) {
    const RawFileInfo& kept = info.raw_files[i];
    if (kept.file != file) continue;
    const RawPlace place{manifest.raw_key(), static_cast<uint32_t>(i)};
    return Annotate(ReadRawPieces(kv_.get(), place, kept.size_bytes, kept.sha256, sink),
                    absl::StrCat("trace ", id, ", file ", absl::CHexEscape(file)));
  }
  return absl::NotFoundError(
      absl::StrCat("trace ", id, ": file ", absl::CHexEscape(file), " was not kept"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceStore>> OpenTraceStore(std::shared_ptr<Kv> kv,
                                                           const TraceStoreOptions& options) {
  ASSIGN_OR_RETURN(LoadedCatalog loaded, LoadCatalog(kv.get()));
  for (const std::string& line : loaded.notices) {
    if (options.notice != nullptr) options.notice(line);
  }
  auto catalog = std::make_shared<TraceCatalog>(std::move(loaded.cards));
  auto writer =
      std::make_shared<TraceWriter>(kv, catalog, loaded.totals, options.draft_batch_bytes);
  return std::make_unique<TraceStoreKv>(std::move(kv), std::move(catalog), std::move(writer));
}

}  // namespace chakrad
