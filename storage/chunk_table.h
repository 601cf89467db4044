// Content-hashed chunks with their use counts. A count is kept in the batch that
// makes or removes a trace, so that a delete costs what its own trace holds and
// no scan of all manifests, and so that a crash cannot leave it wrong.
#ifndef CHAKRAD_STORAGE_CHUNK_TABLE_H_
#define CHAKRAD_STORAGE_CHUNK_TABLE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/kv.h"

namespace chakrad {

// Not thread-safe, but for Read: the owner calls everything else under its lock.
class ChunkTable {
 public:
  explicit ChunkTable(Kv* kv) : kv_(kv) {}

  // The chunks of one trace that is being written: they stay although no trace
  // uses them yet, and although the last one that did is deleted.
  using Pins = std::set<std::string>;

  // Stores `stored`, whose hash is `hash`, unless it is there; pins it once.
  absl::Status Add(const std::string& hash, absl::string_view stored, Pins* pins);
  // Adds one use of each chunk to `batch`, and what takes it back to `undo`.
  absl::Status Use(const Pins& hashes, KvBatch* batch, KvBatch* undo);
  // Takes one use of each chunk away in `batch`, and the chunk with its last one.
  // Returns the bytes that this frees.
  absl::StatusOr<int64_t> Release(const std::set<std::string>& hashes, KvBatch* batch);
  // Ends a pin. Chunks that nothing uses or pins are deleted in `batch`; returns
  // their bytes.
  absl::StatusOr<int64_t> Unpin(const Pins& pins, KvBatch* batch);

  // Verified against its hash. DATA_LOSS: damaged or missing. Thread-safe.
  absl::StatusOr<std::string> Read(const std::string& hash) const;

  // Deletes unused, unpinned chunks; returns how many.
  absl::StatusOr<int64_t> Sweep();
  // O(chunks). Thread-safe.
  absl::StatusOr<int64_t> TotalBytes() const;

 private:
  Kv* const kv_;
  std::map<std::string, int> pins_count_;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_CHUNK_TABLE_H_
