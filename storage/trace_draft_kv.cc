#include "storage/trace_draft_kv.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/saturating.h"
#include "common/sha256.h"
#include "common/status.h"
#include "storage/ids.h"
#include "storage/limits.h"
#include "storage/raw_files.h"
#include "storage/record.h"
#include "storage/record.pb.h"
#include "storage/trace_keys.h"
#include "storage/trace_record.h"
#include "trace/codec/chunk_frame.h"
#include "trace/codec/limits.h"
#include "trace/codec/rank_check.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_index.pb.h"

namespace chakrad {
namespace {

constexpr size_t kHashBytes = 32;

std::string RankName(int32_t rank) { return absl::StrCat("rank ", rank); }

// What does not hold of bytes that a client encoded is the client's error.
absl::Status AsInvalid(const absl::Status& status) {
  return absl::IsDataLoss(status) ? absl::InvalidArgumentError(status.message()) : status;
}

absl::Status CheckFrame(absl::string_view stored) {
  RETURN_IF_ERROR(AsInvalid(ClaimedRawBytes(stored).status()));
  const bool known =
      KindOfChunk(stored) >= ChunkKind::kNodes && KindOfChunk(stored) <= kLastChunkKind;
  // Twice: zstd never makes it that much larger.
  if (known && stored.size() <= 2 * kMaxChunkRawBytes) return absl::OkStatus();
  return absl::InvalidArgumentError("is no chunk of a kind that this daemon knows");
}

// The first and the last moment of a rank's nodes, from the epoch.
struct UnixSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

UnixSpan UnixSpanOf(const RankTrace& rank) {
  UnixSpan span;
  if (rank.base_unix_ns == 0) return span;
  bool any = false;
  for (size_t i = 0; i < rank.start_ns.size(); ++i) {
    if (rank.start_ns[i] == kUnknownNs) continue;
    const int64_t start_ns = SaturatingAdd(rank.base_unix_ns, rank.start_ns[i]);
    const int64_t end_ns = SaturatingAdd(start_ns, std::max<int64_t>(rank.dur_ns[i], 0));
    span.start_ns = any ? std::min(span.start_ns, start_ns) : start_ns;
    span.end_ns = any ? std::max(span.end_ns, end_ns) : end_ns;
    any = true;
  }
  return span;
}

class TraceDraftKv : public TraceDraft {
 public:
  TraceDraftKv(std::shared_ptr<Kv> kv, std::shared_ptr<TraceWriter> writer)
      : kv_(std::move(kv)), writer_(std::move(writer)), state_(writer_->Begin()) {}
  ~TraceDraftKv() override {
    if (state_ != nullptr) writer_->Abandon(std::move(state_));
  }

  absl::Status AddRank(const RankTrace& rank) override;
  absl::StatusOr<std::vector<std::string>> Missing(const std::vector<std::string>& hashes) override;
  absl::Status AddChunk(const std::string& hash, absl::string_view stored) override;
  absl::StatusOr<RankTrace> AddEncodedRank(const RankIndex& index, size_t groups_count,
                                           bool cold) override;
  absl::Status AddDecodedRank(const RankIndex& index, const RankTrace& rank,
                              int64_t stored_bytes) override;
  absl::Status Flush() override { return writer_->Flush(state_.get()); }
  absl::Status AddRawFile(const std::string& file, const std::string& path) override;
  absl::StatusOr<TraceInfo> Commit(TraceInfo info) override;

 private:
  struct Rank {
    RankSummary summary;
    std::string index;  // Packed.
    UnixSpan span;
    uint32_t groups_count = 0;  // Above the highest group that it uses.
  };
  absl::Status CheckNew(int32_t rank) const;
  void Remember(const RankTrace& rank, const RankIndex& index);
  // A chunk of this draft; its hash was checked when it came.
  absl::StatusOr<std::string> ReadOwn(const ChunkRef& ref);
  absl::StatusOr<int64_t> OwnBytes(const ChunkRef& ref);
  absl::Status CheckRanks(const TraceInfo& info) const;

  const std::shared_ptr<Kv> kv_;
  const std::shared_ptr<TraceWriter> writer_;
  std::unique_ptr<DraftState> state_;
  std::map<int32_t, Rank> ranks_;
  int64_t stored_bytes_ = 0;
  std::vector<RawFileInfo> raw_files_;
  std::set<std::string> raw_names_;
  std::vector<int64_t> raw_stored_bytes_;  // Of each.
};

absl::Status TraceDraftKv::CheckNew(int32_t rank) const {
  CHECK(state_ != nullptr) << "after Commit";
  if (ranks_.count(rank) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError("there is such a rank already");
}

void TraceDraftKv::Remember(const RankTrace& rank, const RankIndex& index) {
  codec::RankIndexRecord record;
  RankIndexToProto(index, &record);
  Rank& added = ranks_[rank.rank];
  added.summary = SummarizeRank(rank);
  added.index = PackRecord(record);
  added.span = UnixSpanOf(rank);
  for (const CommOp& op : rank.comm) {
    if (op.group != kNone) added.groups_count = std::max(added.groups_count, op.group + 1);
  }
}

absl::Status TraceDraftKv::AddRank(const RankTrace& rank) {
  const std::string name = RankName(rank.rank);
  RETURN_IF_ERROR(Annotate(CheckNew(rank.rank), name));
  RETURN_IF_ERROR(Annotate(CheckRankColumns(rank, kNone), name));  // Groups: see Commit.
  RankIndex index{.header = HeaderOf(rank), .hot = {}, .cold = {}, .has_spans = true};
  int64_t stored_bytes = 0;
  const absl::Status encoded =
      EncodeRank(rank, [&](const ChunkSpan& span, absl::string_view stored) {
        const std::string hash = Sha256Of(stored);
        (IsCold(span.kind) ? index.cold : index.hot).push_back({hash, span});
        stored_bytes += static_cast<int64_t>(stored.size());
        return writer_->AddChunk(hash, stored, state_.get());
      });
  RETURN_IF_ERROR(Annotate(encoded, name));
  stored_bytes_ += stored_bytes;
  Remember(rank, index);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> TraceDraftKv::Missing(
    const std::vector<std::string>& hashes) {
  std::vector<std::string> missing;
  for (const std::string& hash : hashes) {
    if (hash.size() != kHashBytes) {
      return absl::InvalidArgumentError(absl::StrCat("hash: has ", hash.size(), " bytes, not 32"));
    }
    ASSIGN_OR_RETURN(const bool there, writer_->HasChunk(hash, state_.get()));
    if (!there) missing.push_back(hash);
  }
  return missing;
}

absl::Status TraceDraftKv::AddChunk(const std::string& hash, absl::string_view stored) {
  CHECK(state_ != nullptr) << "after Commit";
  const auto name = [&hash] { return absl::StrCat("chunk ", absl::BytesToHexString(hash)); };
  if (const absl::Status status = CheckFrame(stored); !status.ok()) {
    return Annotate(status, name());
  }
  if (Sha256Of(stored) != hash) {
    return absl::InvalidArgumentError(absl::StrCat(name(), ": does not match its hash"));
  }
  return writer_->AddChunk(hash, stored, state_.get());
}

absl::StatusOr<int64_t> TraceDraftKv::OwnBytes(const ChunkRef& ref) {
  ASSIGN_OR_RETURN(const bool there, writer_->HasChunk(ref.hash, state_.get()));
  if (there) return writer_->PinnedBytes(ref.hash);
  return absl::InvalidArgumentError(
      absl::StrCat("chunk ", absl::BytesToHexString(ref.hash), ": is not there"));
}

absl::StatusOr<std::string> TraceDraftKv::ReadOwn(const ChunkRef& ref) {
  RETURN_IF_ERROR(OwnBytes(ref).status());
  const std::string name = absl::StrCat("chunk ", absl::BytesToHexString(ref.hash));
  auto stored = kv_->Get(Family::kChunks, ref.hash);
  if (absl::IsNotFound(stored.status())) {
    return absl::UnavailableError(absl::StrCat(name, ": is damaged in the store"));
  }
  if (!stored.ok()) return Annotate(stored.status(), name);
  if (stored->size() < 2 || (*stored)[1] != static_cast<char>(ref.span.kind)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": is of another kind than indexed"));
  }
  return stored;
}

absl::StatusOr<RankTrace> TraceDraftKv::AddEncodedRank(const RankIndex& index, size_t groups_count,
                                                       bool cold) {
  const std::string name = RankName(index.header.rank);
  RETURN_IF_ERROR(Annotate(CheckNew(index.header.rank), name));
  if (!index.has_spans) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": its index has no spans"));
  }
  RETURN_IF_ERROR(writer_->Flush(state_.get()));
  RankDecoder decoder(index.header);
  int64_t stored_bytes = 0;
  for (const bool is_cold : {false, true}) {
    for (const ChunkRef& ref : is_cold ? index.cold : index.hot) {
      if (IsCold(ref.span.kind) != is_cold) {
        return absl::InvalidArgumentError(absl::StrCat(name, ": hot and cold chunks are mixed"));
      }
      if (is_cold && !cold) {
        ASSIGN_OR_RETURN(const int64_t bytes, OwnBytes(ref));
        stored_bytes += bytes;
        continue;
      }
      const auto stored = ReadOwn(ref);
      if (!stored.ok()) return Annotate(stored.status(), name);
      stored_bytes += static_cast<int64_t>(stored->size());
      RETURN_IF_ERROR(Annotate(AsInvalid(decoder.Add(*stored, ref.span)), name));
    }
  }
  absl::StatusOr<RankTrace> rank = decoder.Finish(cold, groups_count);
  if (!rank.ok()) return Annotate(AsInvalid(rank.status()), name);
  stored_bytes_ += stored_bytes;
  Remember(*rank, index);
  return rank;
}

absl::Status TraceDraftKv::AddDecodedRank(const RankIndex& index, const RankTrace& rank,
                                          int64_t stored_bytes) {
  const std::string name = RankName(rank.rank);
  RETURN_IF_ERROR(Annotate(CheckNew(rank.rank), name));
  for (const std::vector<ChunkRef>* refs : {&index.hot, &index.cold}) {
    for (const ChunkRef& ref : *refs) {
      if (state_->pins.count(ref.hash) > 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": chunk ", absl::BytesToHexString(ref.hash), ": is not there"));
    }
  }
  stored_bytes_ += stored_bytes;
  Remember(rank, index);
  return absl::OkStatus();
}

absl::Status TraceDraftKv::AddRawFile(const std::string& file, const std::string& path) {
  CHECK(state_ != nullptr) << "after Commit";
  RETURN_IF_ERROR(CheckLength("file", file, kMaxFileNameBytes));
  if (!raw_names_.insert(file).second) {
    return absl::InvalidArgumentError(absl::StrCat("file: ", file, " is kept already"));
  }
  state_->has_raw = true;  // Also when it fails half way.
  const RawPlace place{state_->key, static_cast<uint32_t>(raw_files_.size())};
  const auto stored = StoreRawFile(kv_.get(), place, path);
  if (!stored.ok()) return Annotate(stored.status(), absl::StrCat("file ", file));
  state_->raw_bytes += stored->stored_bytes;
  raw_files_.push_back({file, stored->size_bytes, stored->sha256});
  raw_stored_bytes_.push_back(stored->stored_bytes);
  return absl::OkStatus();
}

absl::Status TraceDraftKv::CheckRanks(const TraceInfo& info) const {
  for (const auto& [number, rank] : ranks_) {
    if (rank.groups_count <= info.groups.size()) continue;
    return absl::InvalidArgumentError(absl::StrCat("trace ", info.id, ": ", RankName(number),
                                                   ": comm.group: ", rank.groups_count - 1,
                                                   " is not below ", info.groups.size()));
  }
  return absl::OkStatus();
}

absl::StatusOr<TraceInfo> TraceDraftKv::Commit(TraceInfo info) {
  CHECK(state_ != nullptr) << "called twice";
  RETURN_IF_ERROR(CheckId("trace_id", info.id));
  RETURN_IF_ERROR(CheckRanks(info));
  NewTrace trace;
  info.ranks.clear();
  info.start_unix_ns = info.end_unix_ns = 0;
  bool any_span = false;
  for (auto& [number, rank] : ranks_) {
    info.ranks.push_back(std::move(rank.summary));
    trace.rank_indexes.Put(Family::kMeta, RankKey(info.id, number), rank.index);
    if (rank.span.start_ns == 0 && rank.span.end_ns == 0) continue;
    info.start_unix_ns =
        any_span ? std::min(info.start_unix_ns, rank.span.start_ns) : rank.span.start_ns;
    info.end_unix_ns = any_span ? std::max(info.end_unix_ns, rank.span.end_ns) : rank.span.end_ns;
    any_span = true;
  }
  ranks_.clear();
  info.stored_bytes = stored_bytes_ + state_->raw_bytes;
  info.raw_files = raw_files_;
  info.pinned = false;
  storage::TraceManifest manifest;
  TraceInfoToProto(info, &manifest);
  manifest.clear_create_unix_ns();
  if (!raw_files_.empty()) manifest.set_raw_key(state_->key);
  for (size_t i = 0; i < raw_files_.size(); ++i) {
    manifest.mutable_raw_files(static_cast<int>(i))->set_stored_bytes(raw_stored_bytes_[i]);
  }
  if (manifest.ByteSizeLong() > kMaxManifestBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("trace ", info.id, ": its manifest takes ", manifest.ByteSizeLong(),
                     " bytes, above the limit of ", kMaxManifestBytes));
  }
  trace.manifest = PackRecord(manifest);
  trace.info = info;
  ASSIGN_OR_RETURN(info.create_unix_ns, writer_->Commit(std::move(state_), std::move(trace)));
  return info;
}

}  // namespace

std::unique_ptr<TraceDraft> NewTraceDraft(std::shared_ptr<Kv> kv,
                                          std::shared_ptr<TraceWriter> writer) {
  return std::make_unique<TraceDraftKv>(std::move(kv), std::move(writer));
}

}  // namespace chakrad
