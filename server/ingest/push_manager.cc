#include "server/ingest/push_manager.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "analysis/measured_breakdown.h"
#include "common/status.h"
#include "server/ids.h"
#include "server/log.h"
#include "trace/api/trace_content.h"
#include "trace/check/check_trace.h"
#include "trace/check/cycles.h"
#include "trace/link/assemble.h"

namespace chakrad {
namespace {

constexpr size_t kHashBytes = 32;

absl::Status CheckHash(absl::string_view field, absl::string_view hash) {
  if (hash.size() == kHashBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": has ", hash.size(), " bytes; a SHA-256 has ", kHashBytes));
}

std::string Hex(absl::string_view hash) { return absl::BytesToHexString(hash); }

// What about `info` is not as `request` says; empty when it is the same trace.
std::string FirstDifference(const PushRequest& request, const TraceInfo& info) {
  if (request.content_hash == info.content_hash) return "";
  for (const auto& [key, value] : request.labels) {
    const auto other = info.labels.find(key);
    if (other == info.labels.end()) return absl::StrCat("it has no label ", key);
    if (other->second != value) {
      return absl::StrCat("its label ", key, " is ", other->second, ", not ", value);
    }
  }
  for (const auto& [key, value] : info.labels) {
    if (request.labels.count(key) == 0) return absl::StrCat("it has a label ", key, "=", value);
  }
  return "its ranks or process groups are others";
}

}  // namespace

PushSession::~PushSession() {
  decoder_ = nullptr;  // Stops reading the store.
  std::vector<std::unique_ptr<TraceDraft>> park;
  std::vector<std::string> arrived;
  for (const auto& [hash, stored] : chunks_) {
    if (stored) arrived.push_back(hash);
  }
  if (!over_ && draft_ != nullptr && !arrived.empty() && draft_->Flush().ok()) {
    // A draft of its own: this one may have ranks, which the next session names again.
    std::unique_ptr<TraceDraft> draft = manager_->traces_->NewDraft();
    if (draft->Missing(arrived).ok()) park.push_back(std::move(draft));
  }
  for (auto& draft : resumed_) {  // What this stream did not come to name, the next may.
    if (!over_ && park.size() < kMaxParkedDrafts) park.push_back(std::move(draft));
  }
  resumed_.clear();
  draft_ = nullptr;
  manager_->use_->Unstage(TenantOf(request_.labels), received_bytes_);
  manager_->EndSession(request_, std::move(park));
}

absl::Status PushSession::Note(absl::Status status) {
  if (!status.ok() && !absl::IsUnavailable(status)) over_ = true;
  return status;
}

absl::Status PushSession::CheckHeader(const PushHeader& header) const {
  if (header.world_size < 1 || header.world_size > kMaxWorldSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("world_size: ", header.world_size, " is not in [1, ", kMaxWorldSize, "]"));
  }
  if (header.groups.empty()) {
    return absl::InvalidArgumentError("process_groups: there is none; entry 0 is the world");
  }
  const std::vector<int32_t>& world = header.groups[kWorldGroup].ranks;
  bool is_world = static_cast<int32_t>(world.size()) == header.world_size;
  for (size_t i = 0; i < world.size() && is_world; ++i) {
    is_world = world[i] == static_cast<int32_t>(i);
  }
  if (!is_world) {
    return absl::InvalidArgumentError(absl::StrCat(
        "process_groups[0]: is not the world, ranks 0 to ", header.world_size - 1, " in order"));
  }
  for (const Ledger& ledger : header.ledgers) {
    const bool whole =
        ledger.kept >= 0 && ledger.merged >= 0 && ledger.rejected >= 0 && ledger.Balanced();
    if (whole && ledger.rejections.size() <= Ledger::kListedRejections) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("files: ", ledger.file, ": kept, merged and rejected do not add up to ",
                     ledger.input_records, ", or too many are listed"));
  }
  return absl::OkStatus();
}

absl::Status PushSession::SetHeader(PushHeader header) {
  if (header_.has_value()) return Note(absl::InvalidArgumentError("header: came twice"));
  if (!header.groups.empty() && header.groups[kWorldGroup].ranks.empty() && header.world_size > 0 &&
      header.world_size <= kMaxWorldSize) {
    for (int32_t rank = 0; rank < header.world_size; ++rank) {
      header.groups[kWorldGroup].ranks.push_back(rank);
    }
  }
  RETURN_IF_ERROR(Note(CheckHeader(header)));
  TraceStore* const traces = manager_->traces_;
  decoder_ = std::make_unique<PushDecoder>(
      header.groups.size(), [traces](const std::string& hash) { return traces->ReadChunk(hash); });
  header_ = std::move(header);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> PushSession::AddRank(RankIndex index) {
  if (!header_.has_value()) {
    return Note(absl::InvalidArgumentError("rank: came before the header"));
  }
  const int32_t rank = index.header.rank;
  if (rank < 0 || rank >= header_->world_size) {
    return Note(absl::InvalidArgumentError(
        absl::StrCat("rank: ", rank, " is not in [0, ", header_->world_size, "), the world")));
  }
  if (!ranks_.insert(rank).second) {
    return Note(absl::InvalidArgumentError(absl::StrCat("rank: ", rank, " came twice")));
  }
  if (!index.has_spans) {
    return Note(absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, ": its index does not tell what its chunks hold")));
  }
  index_chunks_ += static_cast<int64_t>(index.hot.size() + index.cold.size());
  if (index_chunks_ > kMaxPushChunks) {
    return Note(absl::ResourceExhaustedError(
        absl::StrCat("trace: its ranks list more than ", kMaxPushChunks, " chunks")));
  }
  std::vector<std::string> unseen;
  bool flush = false;
  for (const std::vector<ChunkRef>* refs : {&index.hot, &index.cold}) {
    for (const ChunkRef& ref : *refs) {
      flush = flush || unflushed_.count(ref.hash) > 0;
      if (chunks_.emplace(ref.hash, true).second) unseen.push_back(ref.hash);
    }
  }
  if (flush) RETURN_IF_ERROR(Flush());
  absl::StatusOr<std::vector<std::string>> missing = draft_->Missing(unseen);
  if (!missing.ok()) return Note(missing.status());
  for (const std::string& hash : *missing) chunks_[hash] = false;
  awaited_count_ += static_cast<int64_t>(missing->size());
  indexes_.push_back(index);
  RETURN_IF_ERROR(Note(decoder_->AddRank(std::move(index), *missing)));
  return missing;
}

absl::Status PushSession::AddChunk(const std::string& hash, std::string stored) {
  RETURN_IF_ERROR(Note(CheckHash("chunk", hash)));
  const auto chunk = chunks_.find(hash);
  if (chunk == chunks_.end() || chunk->second) {
    return Note(absl::InvalidArgumentError(
        absl::StrCat("chunk ", Hex(hash),
                     chunk == chunks_.end() ? ": is of no rank that was named"
                                            : ": is there already, and was not asked for")));
  }
  RETURN_IF_ERROR(
      Note(manager_->use_->Stage(TenantOf(request_.labels), static_cast<int64_t>(stored.size()))));
  received_bytes_ += static_cast<int64_t>(stored.size());
  if (received_bytes_ > manager_->limits_.upload_bytes) {
    return Note(absl::ResourceExhaustedError(absl::StrCat(
        "trace would exceed ", manager_->limits_.upload_bytes, " bytes (--max_upload_bytes)")));
  }
  RETURN_IF_ERROR(Note(draft_->AddChunk(hash, stored)));
  if (!decoder_->WaitForRoom(static_cast<int64_t>(stored.size()))) {
    RETURN_IF_ERROR(Flush());
    decoder_->DropCached();
  }
  manager_->metrics_->AddIngestBytes(static_cast<int64_t>(stored.size()));
  chunk->second = true;
  unflushed_.insert(hash);
  --awaited_count_;
  return Note(decoder_->ChunkStored(hash, std::move(stored)));
}

absl::Status PushSession::Flush() {
  unflushed_.clear();
  return Note(draft_->Flush());
}

absl::Status PushSession::CheckComplete(int32_t ranks_count) const {
  if (indexes_.empty()) return absl::InvalidArgumentError("ranks: none were named");
  if (ranks_count != static_cast<int32_t>(indexes_.size())) {
    return absl::InvalidArgumentError(absl::StrCat("end: ranks_count is ", ranks_count, ", and ",
                                                   indexes_.size(), " ranks came"));
  }
  if (awaited_count_ > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("end: ", awaited_count_, " of the chunks that were asked for did not come"));
  }
  std::vector<const RankIndex*> ranks;
  for (const RankIndex& index : indexes_) ranks.push_back(&index);
  const std::string hash =
      TraceContentHash(request_.labels, header_->world_size, header_->groups, ranks);
  if (hash != request_.content_hash) {
    return absl::InvalidArgumentError(absl::StrCat("content_hash: ", Hex(request_.content_hash),
                                                   " was claimed, ", Hex(hash), " came"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TraceInfo> PushSession::Finish(int32_t ranks_count) {
  if (!header_.has_value()) return Note(absl::InvalidArgumentError("end: came before the header"));
  RETURN_IF_ERROR(Note(CheckComplete(ranks_count)));
  absl::StatusOr<std::vector<PushedRank>> ranks = decoder_->Finish();
  if (!ranks.ok()) return Note(ranks.status());
  absl::StatusOr<TraceInfo> stored = Store(*std::move(ranks));
  over_ = true;
  manager_->metrics_->AddSeal(stored.ok());
  return stored;
}

absl::StatusOr<TraceInfo> PushSession::Store(std::vector<PushedRank> ranks) {
  const auto started = std::chrono::steady_clock::now();
  Trace trace;
  trace.world_size = header_->world_size;
  int64_t stored_bytes = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    RankTrace& rank = ranks[i].trace;
    if (!rank.groups.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank ", rank.rank, ": has process groups of its own, not the trace's"));
    }
    RETURN_IF_ERROR(draft_->AddDecodedRank(indexes_[i], rank, ranks[i].stored_bytes));
    stored_bytes += ranks[i].stored_bytes;
    trace.ranks.push_back(std::move(rank));
  }
  std::sort(trace.ranks.begin(), trace.ranks.end(),
            [](const RankTrace& a, const RankTrace& b) { return a.rank < b.rank; });
  trace.groups = header_->groups;
  trace.labels = request_.labels;
  // A trace counts whole, whoever else has its chunks; what came is staged.
  RETURN_IF_ERROR(manager_->use_->Check(TenantOf(request_.labels), stored_bytes - received_bytes_));
  TraceInfo info;
  info.check = CheckTrace(trace, header_->ledgers);
  info.breakdown = MeasuredBreakdown(trace);
  if (info.check.count_by_rule.count("dependency_cycle") > 0) {
    for (const RankTrace& rank : trace.ranks) {
      RETURN_IF_ERROR(Annotate(CheckAcyclic(rank), absl::StrCat("rank ", rank.rank)));
    }
  }
  info.id = absl::StrCat("t-", RandomId());
  info.labels = request_.labels;
  info.create_unix_ns = manager_->clock_->NowUnixNs();
  info.world_size = header_->world_size;
  info.groups = std::move(trace.groups);
  info.ledgers = std::move(header_->ledgers);
  info.notices = std::move(header_->notices);
  info.content_hash = request_.content_hash;
  for (const Ledger& ledger : info.ledgers) manager_->metrics_->AddLedger(ledger);
  ASSIGN_OR_RETURN(const TraceInfo stored,
                   manager_->Commit(request_, draft_.get(), std::move(info)));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  Log(LogLevel::kInfo, "trace_pushed",
      {{"trace", stored.id},
       {"ranks", absl::StrCat(stored.ranks.size())},
       {"received_bytes", absl::StrCat(received_bytes_)},
       {"check_seconds", absl::StrCat(seconds.count())}});
  return stored;
}

PushManager::PushManager(TraceStore* traces, UploadStore* uploads, StoreUse* use, ContentGate* gate,
                         Clock* clock, Metrics* metrics, const ServerLimits& limits)
    : traces_(traces),
      uploads_(uploads),
      use_(use),
      gate_(gate),
      clock_(clock),
      metrics_(metrics),
      limits_(limits),
      thread_([this] { DropLoop(); }) {}

PushManager::~PushManager() {
  StartDraining();
  thread_.join();
}

void PushManager::StartDraining() {
  MutexLock lock(&mutex_);
  draining_ = true;
  drained_.NotifyAll();
}

void PushManager::DropLoop() {
  for (;;) {
    {
      MutexLock lock(&mutex_);
      if (draining_) return;
      drained_.WaitFor(&mutex_, std::chrono::seconds(kDropParkedSeconds));
      if (draining_) return;
    }
    DropExpired();
  }
}

void PushManager::DropExpired() {
  std::vector<Parked> dropped;  // Destroyed without the lock.
  MutexLock lock(&mutex_);
  const int64_t oldest_ns = clock_->SteadyNs() - kParkedPushSeconds * 1'000'000'000;
  for (auto it = parked_.begin(); it != parked_.end();) {
    const bool expired = it->second.since_steady_ns < oldest_ns;
    if (expired) dropped.push_back(std::move(it->second));
    it = expired ? parked_.erase(it) : std::next(it);
  }
}

absl::StatusOr<std::unique_ptr<PushSession>> PushManager::Begin(PushRequest request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id));
  RETURN_IF_ERROR(CheckLabels(request.labels));
  RETURN_IF_ERROR(CheckHash("content_hash", request.content_hash));
  {
    MutexLock lock(&mutex_);
    if (draining_) {
      return absl::UnavailableError("the daemon is shutting down; try again soon");
    }
    if (active_.count(request.request_id) > 0) {
      return absl::AbortedError(
          absl::StrCat("request_id: ", request.request_id, " is being pushed by another stream"));
    }
    if (active_.size() >= kMaxPushStreams) {
      return absl::UnavailableError(absl::StrCat(
          active_.size(), " traces are being pushed, the most at once; try again soon"));
    }
    active_.insert(request.request_id);
  }
  std::unique_ptr<PushSession> session(new PushSession(this, std::move(request)));
  absl::StatusOr<std::optional<TraceInfo>> known = FindKnown(session->request_);
  if (!known.ok()) return session->Note(known.status());
  session->known_ = *std::move(known);
  if (session->known_.has_value()) {
    session->over_ = true;
    return session;
  }
  // Always a draft of its own: a trace then uses what its ranks name, and nothing else.
  session->draft_ = traces_->NewDraft();
  Parked other;  // Of another content; destroyed without the lock.
  MutexLock lock(&mutex_);
  const auto parked = parked_.find(session->request_.request_id);
  if (parked == parked_.end()) return session;
  if (parked->second.content_hash == session->request_.content_hash) {
    session->resumed_ = std::move(parked->second.drafts);
  } else {
    other = std::move(parked->second);
  }
  parked_.erase(parked);
  return session;
}

absl::StatusOr<std::optional<TraceInfo>> PushManager::FindByRequestId(const PushRequest& request) {
  const absl::StatusOr<UploadRecord> record = uploads_->FindByRequestId(request.request_id);
  if (absl::IsNotFound(record.status())) return std::nullopt;
  RETURN_IF_ERROR(record.status());
  if (record->state != UploadRecord::State::kSealed) {
    return absl::AlreadyExistsError(absl::StrCat("request_id: ", request.request_id,
                                                 " is that of uploads/", record->id,
                                                 ", an upload of files; choose another"));
  }
  absl::StatusOr<TraceInfo> info = traces_->GetInfo(record->trace_id);
  // Deleted since, or lost to damage: the request asks for it anew.
  if (absl::IsNotFound(info.status()) || absl::IsDataLoss(info.status())) {
    RETURN_IF_ERROR(uploads_->Delete(record->id));
    return std::nullopt;
  }
  RETURN_IF_ERROR(info.status());
  const std::string difference = FirstDifference(request, *info);
  if (difference.empty()) return *std::move(info);
  return absl::AlreadyExistsError(absl::StrCat(
      "request_id: ", request.request_id, " is that of traces/", info->id, ", and ", difference));
}

absl::StatusOr<std::optional<TraceInfo>> PushManager::FindKnown(const PushRequest& request) {
  ASSIGN_OR_RETURN(std::optional<TraceInfo> known, FindByRequestId(request));
  if (known.has_value()) return known;
  const absl::StatusOr<std::string> id = traces_->FindByContent(request.content_hash);
  if (absl::IsNotFound(id.status())) return std::nullopt;
  RETURN_IF_ERROR(id.status());
  absl::StatusOr<TraceInfo> info = traces_->GetInfo(*id);
  // Deleted just now, or damaged: then it is stored anew.
  if (absl::IsNotFound(info.status()) || absl::IsDataLoss(info.status())) return std::nullopt;
  RETURN_IF_ERROR(info.status());
  RememberRequest(request, *info);
  return *std::move(info);
}

void PushManager::RememberRequest(const PushRequest& request, const TraceInfo& info) {
  UploadRecord record;
  record.id = absl::StrCat("u-", RandomId());
  record.request_id = request.request_id;
  record.state = UploadRecord::State::kSealed;
  record.create_unix_ns = record.end_unix_ns = clock_->NowUnixNs();
  record.labels = request.labels;
  record.trace_id = info.id;
  record.content_hash = request.content_hash;
  const absl::Status status = uploads_->Create(record).status();
  // The trace is stored all the same, and found again by its content.
  if (!status.ok()) {
    Log(LogLevel::kWarning, "request_id_not_kept",
        {{"trace", info.id}, {"error", std::string(status.message())}});
  }
}

absl::StatusOr<TraceInfo> PushManager::Commit(const PushRequest& request, TraceDraft* draft,
                                              TraceInfo info) {
  absl::StatusOr<TraceInfo> stored = absl::NotFoundError("");
  {
    // Another request may have pushed the same meanwhile.
    const auto hold = gate_->Enter(request.content_hash);
    const absl::StatusOr<std::string> same = traces_->FindByContent(request.content_hash);
    if (same.ok()) stored = traces_->GetInfo(*same);
    if (absl::IsNotFound(stored.status()) || absl::IsDataLoss(stored.status())) {
      stored = draft->Commit(std::move(info));
    }
  }
  if (stored.ok()) RememberRequest(request, *stored);
  return stored;
}

void PushManager::EndSession(const PushRequest& request,
                             std::vector<std::unique_ptr<TraceDraft>> park) {
  std::vector<std::unique_ptr<TraceDraft>> dropped;  // Destroyed without the lock.
  MutexLock lock(&mutex_);
  active_.erase(request.request_id);
  if (park.empty() || draining_) {
    dropped = std::move(park);
    return;
  }
  if (parked_.size() >= kMaxParkedPushes) {
    const auto oldest =
        std::min_element(parked_.begin(), parked_.end(), [](const auto& a, const auto& b) {
          return a.second.since_steady_ns < b.second.since_steady_ns;
        });
    dropped = std::move(oldest->second.drafts);
    parked_.erase(oldest);
  }
  parked_[request.request_id] = {std::move(park), request.content_hash, clock_->SteadyNs()};
}

}  // namespace chakrad
