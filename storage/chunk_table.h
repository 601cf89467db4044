// Content-hashed chunks with their use counts. A count is kept in the batch that
// makes or removes a trace, so that a delete costs what its own trace holds and
// no scan of all manifests, and so that a crash cannot leave it wrong.
//
// What a draft writes has no count yet. Its hashes are listed in a record of the
// draft's own, written in the same batch as the chunks; the batch that makes the
// trace removes it, and a sweep deletes what is listed and has no count. So a
// chunk costs one Put, and a sweep reads what was in flight and nothing else.
#ifndef CHAKRAD_STORAGE_CHUNK_TABLE_H_
#define CHAKRAD_STORAGE_CHUNK_TABLE_H_

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/kv.h"

namespace chakrad {

// What a batch adds to (or takes from) all stored chunks.
struct ChunkTotals {
  int64_t chunks_count = 0;
  int64_t bytes = 0;
};

// Not thread-safe, but for Read: the owner calls everything else under its lock.
// Batches must be written in the order in which they were filled.
class ChunkTable {
 public:
  explicit ChunkTable(Kv* kv) : kv_(kv) {}

  // The chunks of one trace that is being written: they stay although no trace
  // uses them yet, and although the last one that did is deleted.
  using Pins = std::set<std::string>;

  // Pins a chunk of this size. Returns whether it is stored already, else the caller
  // writes it, listed as pending, and says so to Written.
  absl::StatusOr<bool> Pin(const std::string& hash, int64_t stored_bytes, Pins* pins);
  // Pins a chunk if it is stored, by a trace or another draft.
  absl::StatusOr<bool> PinIfStored(const std::string& hash, Pins* pins);
  int64_t PinnedBytes(const std::string& hash) const;
  // That a pinned chunk has been written. Returns its bytes if it had been before.
  int64_t Written(const std::string& hash);
  // Adds one use of each chunk to `batch`, and to `totals` those that were not used.
  absl::Status Use(const Pins& hashes, KvBatch* batch, ChunkTotals* totals);
  // Takes one use of each chunk away in `batch`, and the chunk with its last one; a
  // pinned chunk stays, and is listed as pending. Takes from `totals` what goes.
  absl::Status Release(const std::set<std::string>& hashes, KvBatch* batch, ChunkTotals* totals);
  // Writes again what is: for a batch that follows one of which nobody knows whether
  // it will be there at the next start.
  absl::Status Restate(const std::set<std::string>& hashes, KvBatch* batch);
  // Ends pins. Chunks that nothing uses or pins are deleted in `batch`; returns
  // their bytes. Those that others pin are listed as pending.
  absl::StatusOr<int64_t> Unpin(const Pins& pins, KvBatch* batch);

  // Verified against its hash. DATA_LOSS: damaged or missing. Thread-safe.
  absl::StatusOr<std::string> Read(const std::string& hash) const;
  // OK when a trace uses it. DATA_LOSS: the count is damaged or missing. Thread-safe.
  absl::Status CheckUsed(const std::string& hash) const;

  // Deletes pending chunks that nothing uses or pins, and the pending records of no
  // living draft; returns how many chunks. O(pending chunks).
  absl::StatusOr<int64_t> Sweep(const std::set<std::string>& living_draft_keys);
  // By reading all counts. O(chunks).
  absl::StatusOr<ChunkTotals> Count() const;

 private:
  struct Pinned {
    int drafts_count = 0;
    bool stored = false;
    int64_t stored_bytes = 0;
  };
  static std::string ReleasedKey(absl::string_view hash);
  Pinned& AddPin(const std::string& hash, Pins* pins);

  Kv* const kv_;
  std::unordered_map<std::string, Pinned> pinned_;  // By hash.
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_CHUNK_TABLE_H_
