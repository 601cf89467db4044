// Makes traces exist and go: the batches, their order, and what follows when one
// fails. Drafts and the store are thin over it.
#ifndef CHAKRAD_STORAGE_TRACE_WRITER_H_
#define CHAKRAD_STORAGE_TRACE_WRITER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "storage/chunk_table.h"
#include "storage/kv.h"
#include "storage/trace_catalog.h"
#include "storage/trace_store.h"

namespace chakrad {

struct TraceTotals {
  int64_t traces_count = 0;
  ChunkTotals chunks;  // That a trace uses, shared ones once.
  int64_t raw_bytes = 0;
};

// What a draft has under way. Of one thread at a time.
struct DraftState {
  std::string key;        // 8 random bytes.
  ChunkTable::Pins pins;  // Of all its chunks.
  // Of those, the ones that are stored and cannot be read: whoever brings them writes them anew.
  std::set<std::string> rotten;
  KvBatch pending;               // Chunks to be written.
  std::string pending_hashes;    // Of those, joined.
  uint32_t pending_records = 0;  // Numbered from 0.
  bool has_raw = false;
  int64_t raw_bytes = 0;  // Stored.
};

// The records that make a trace exist, but for its time.
struct NewTrace {
  TraceInfo info;
  std::string manifest;  // Packed, without create_unix_ns.
  KvBatch rank_indexes;
};

// Thread-safe. The lock is held while counts are read and a batch is handed to the
// engine, never while anything is hashed, compressed or synced; reads do without it.
class TraceWriter {
 public:
  TraceWriter(std::shared_ptr<Kv> kv, std::shared_ptr<TraceCatalog> catalog, TraceTotals totals,
              int64_t draft_batch_bytes);
  ~TraceWriter();

  std::unique_ptr<DraftState> Begin();
  // Stores the chunk, whose hash is `hash`, unless it is there as it should be. One that was
  // there is read, so that no trace comes to depend on bytes that are gone.
  absl::Status AddChunk(const std::string& hash, absl::string_view stored, DraftState* draft);
  // Whether the chunk is there and can be read, for which it is read; pins it then.
  absl::StatusOr<bool> HasChunk(const std::string& hash, DraftState* draft);
  // Stored, of a chunk that a draft has pinned.
  int64_t PinnedBytes(const std::string& hash);
  // Writes what is pending.
  absl::Status Flush(DraftState* draft);
  // Makes the trace exist, durably; returns its time. Consumes the draft either way.
  absl::StatusOr<int64_t> Commit(std::unique_ptr<DraftState> draft, NewTrace trace);
  // Gives back what the draft wrote.
  void Abandon(std::unique_ptr<DraftState> draft);

  absl::Status Delete(absl::string_view id);
  absl::Status SetPinned(absl::string_view id, bool pinned);
  // Deletes what interrupted drafts left; returns how many chunks and drafts' raw files.
  absl::StatusOr<int64_t> Sweep();
  int64_t TotalBytes();

  const ChunkTable& chunks() const { return chunks_; }  // For its thread-safe calls.

 private:
  // A trace whose batch is with the engine and not yet known to be on the disk.
  struct Committing {
    uint64_t number;
    std::shared_ptr<const TraceCard> card;
  };
  // A trace that failed to become: its batch may be there at the next start, so what
  // undoes it must follow, and could not be written yet.
  struct Failed {
    std::string id;
    std::vector<std::string> rank_keys;
    std::unique_ptr<DraftState> draft;
    TraceTotals added;
    bool applied = false;  // The engine has the batch; only its sync failed.
  };

  // Takes the draft out of `attempt` when the trace has to be undone.
  // Whether what is stored of the chunk has its hash.
  absl::StatusOr<bool> IsSound(const std::string& hash);
  absl::StatusOr<uint64_t> WriteTrace(NewTrace* trace, Failed* attempt)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status FinishCommit(uint64_t number, const absl::Status& synced, Failed attempt);
  void PublishUpTo(uint64_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Undoes failed traces. Must succeed before anything else is written about traces.
  absl::Status Settle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Undo(const Failed& failed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AbandonLocked(const DraftState& draft) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What goes with a trace.
  struct Content {
    std::vector<std::string> rank_keys;
    bool all_rank_keys = true;  // Else some are damaged.
    std::set<std::string> hashes;
    std::string raw_key;
    int64_t raw_bytes = 0;
  };
  absl::StatusOr<Content> ReadContent(absl::string_view id);
  absl::Status WriteDelete(absl::string_view id, const Content& content);
  // Gives dead space back when enough has gathered.
  void MaybeReclaim();

  const std::shared_ptr<Kv> kv_;
  const std::shared_ptr<TraceCatalog> catalog_;
  const int64_t draft_batch_bytes_;
  Mutex pin_mutex_;  // One SetPinned at a time; taken before mutex_.
  Mutex mutex_;
  ChunkTable chunks_;  // All but its thread-safe calls under mutex_.
  TraceTotals totals_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> living_drafts_ ABSL_GUARDED_BY(mutex_);  // Their keys.
  std::deque<Committing> committing_ ABSL_GUARDED_BY(mutex_);    // In the order written.
  std::vector<Failed> failed_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_number_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t newest_unix_ns_ ABSL_GUARDED_BY(mutex_);
  int64_t dead_chunk_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t dead_raw_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Totals as a record of family `meta`. NOT_FOUND, DATA_LOSS: see Get.
absl::StatusOr<TraceTotals> ReadTotals(Kv* kv);
std::string PackTotals(const TraceTotals& totals);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_WRITER_H_
