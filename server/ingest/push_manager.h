// Traces that a client converted and encoded itself: ranks by their indexes, then
// only the chunks that the store lacks. See PushTrace in ingest.proto.
#ifndef CHAKRAD_SERVER_INGEST_PUSH_MANAGER_H_
#define CHAKRAD_SERVER_INGEST_PUSH_MANAGER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "server/ingest/content_gate.h"
#include "server/ingest/push_decoder.h"
#include "server/ingest/store_use.h"
#include "server/limits.h"
#include "server/metrics.h"
#include "storage/trace_store.h"
#include "storage/upload_store.h"
#include "trace/codec/rank_index.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// What a push says first.
struct PushRequest {
  std::string request_id;
  std::map<std::string, std::string> labels;
  std::string content_hash;  // 32 raw bytes: TraceContentHash of what follows.
};

// What it says of the trace as a whole.
struct PushHeader {
  int32_t world_size = 0;
  std::vector<ProcessGroup> groups;  // Entry 0 is the world; its members may be left out.
  std::vector<Ledger> ledgers;
  std::vector<std::string> notices;
};

class PushManager;

// One trace being pushed. Destroyed before Finish was called, and unless something
// about it was wrong, what arrived is kept for a while: the next session with this
// request id goes on from there. After an error the session is over. Not thread-safe.
class PushSession {
 public:
  ~PushSession();

  // The trace, when it is stored already: there is nothing to do.
  const std::optional<TraceInfo>& known() const { return known_; }
  // Once, before the first rank.
  absl::Status SetHeader(PushHeader header);
  // Returns the chunks of the rank that have to be sent, each asked for once in a
  // session. INVALID_ARGUMENT: the rank is not in the world, or is there already.
  absl::StatusOr<std::vector<std::string>> AddRank(RankIndex index);
  // A chunk that was asked for. INVALID_ARGUMENT: it was not, or it does not match.
  // RESOURCE_EXHAUSTED: the bounds of the upload, its tenant or the store.
  absl::Status AddChunk(const std::string& hash, std::string stored);
  // Checks the whole trace as an import does, and stores it. INVALID_ARGUMENT: chunks or
  // ranks are missing, a rank does not decode or has a dependency cycle, the content hash
  // differs.
  absl::StatusOr<TraceInfo> Finish(int32_t ranks_count);
  // The client sent what makes no sense: nothing is kept.
  void Abandon() { over_ = true; }

 private:
  friend class PushManager;
  PushSession(PushManager* manager, PushRequest request) : manager_(manager), request_(request) {}

  absl::Status CheckHeader(const PushHeader& header) const;
  absl::Status CheckComplete(int32_t ranks_count) const;
  absl::StatusOr<TraceInfo> Store(std::vector<PushedRank> ranks);
  absl::Status Flush();
  // Remembers that the session is over when `status` is an error that stays.
  absl::Status Note(absl::Status status);

  PushManager* const manager_;
  const PushRequest request_;
  std::optional<TraceInfo> known_;
  bool over_ = false;  // Finished, or wrong.
  std::optional<PushHeader> header_;
  // Hold what earlier streams brought until this one names it.
  std::vector<std::unique_ptr<TraceDraft>> resumed_;
  std::unique_ptr<TraceDraft> draft_;
  std::vector<RankIndex> indexes_;
  std::set<int32_t> ranks_;
  // Chunks that were named: true once they are in the store.
  std::unordered_map<std::string, bool> chunks_;
  // Of those, what the decoder could not read from the store yet.
  std::unordered_set<std::string> unflushed_;
  int64_t awaited_count_ = 0;
  int64_t index_chunks_ = 0;
  int64_t received_bytes_ = 0;
  std::unique_ptr<PushDecoder> decoder_;  // Last: it reads the store.
};

// Thread-safe. What it is given must outlive it.
class PushManager {
 public:
  // `use` and `gate`: in common with whoever else stores traces.
  PushManager(TraceStore* traces, UploadStore* uploads, StoreUse* use, ContentGate* gate,
              Clock* clock, Metrics* metrics, const ServerLimits& limits);
  ~PushManager();

  // ABORTED while another session has the request id. ALREADY_EXISTS: the request id is
  // that of a trace with other content or labels, or of an upload of files.
  absl::StatusOr<std::unique_ptr<PushSession>> Begin(PushRequest request);

  // Drops what broken sessions left longer than kParkedPushSeconds ago. A thread of its
  // own calls it every kDropParkedSeconds.
  void DropExpired();
  // From now on everything new is UNAVAILABLE.
  void StartDraining();

 private:
  friend class PushSession;

  // What a broken session left: its chunks, pinned by a draft.
  struct Parked {
    std::vector<std::unique_ptr<TraceDraft>> drafts;
    std::string content_hash;
    int64_t since_steady_ns = 0;
  };

  // The stored trace that this request asks for, if any.
  absl::StatusOr<std::optional<TraceInfo>> FindKnown(const PushRequest& request);
  absl::StatusOr<std::optional<TraceInfo>> FindByRequestId(const PushRequest& request);
  // So that the request id finds the trace again.
  void RememberRequest(const PushRequest& request, const TraceInfo& info);
  // Commits the draft, unless a trace of this content was stored meanwhile.
  absl::StatusOr<TraceInfo> Commit(const PushRequest& request, TraceDraft* draft, TraceInfo info);
  void EndSession(const PushRequest& request, std::vector<std::unique_ptr<TraceDraft>> park);
  void DropLoop();

  TraceStore* const traces_;
  UploadStore* const uploads_;
  StoreUse* const use_;
  ContentGate* const gate_;
  Clock* const clock_;
  Metrics* const metrics_;
  const ServerLimits limits_;

  Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<std::string> active_ ABSL_GUARDED_BY(mutex_);  // Request ids.
  std::map<std::string, Parked> parked_ ABSL_GUARDED_BY(mutex_);
  CondVar drained_;
  std::thread thread_;  // Last: it uses the others.
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_INGEST_PUSH_MANAGER_H_
