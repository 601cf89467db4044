// The one door to the storage engine: ordered keys in a few families, atomic
// batches, scans. The stores are written once over it; rocks_kv and mem_kv are
// the engines, faulty_kv fails on command.
#ifndef CHAKRAD_STORAGE_KV_H_
#define CHAKRAD_STORAGE_KV_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/kv_stats.h"

namespace chakrad {

// Key spaces of their own, each tuned for what it holds.
enum class Family : uint8_t {
  kMeta = 0,     // Format version, manifests, rank indexes, chunk uses: small records.
  kChunks = 1,   // Chunks of traces: up to about 1 MiB, compressed already.
  kUploads = 2,  // Upload records.
  kJobs = 3,     // Job records and their indices.
  kResults = 4,  // Specs, results and timeline chunks of jobs.
  kIndex = 5,    // Cards of traces: all read at start.
  kRaw = 6,      // Files kept as they were uploaded, in compressed pieces.
  kSeries = 7,   // Reserved.
};
inline constexpr int kFamiliesCount = 8;

// "meta", "chunks", ...
absl::string_view FamilyName(Family family);

// Operations applied in order, all or none. Not thread-safe.
class KvBatch {
 public:
  enum class Kind : uint8_t { kPut, kDelete, kDeleteRange };
  struct Op {
    Kind kind;
    Family family;
    std::string key;    // kDeleteRange: the first key.
    std::string value;  // kDeleteRange: the key after the last.
  };
  void Put(Family family, absl::string_view key, absl::string_view value);
  void Delete(Family family, absl::string_view key);
  // Deletes the keys in [begin, end).
  void DeleteRange(Family family, absl::string_view begin, absl::string_view end);

  // The operations of `other`, after those here.
  void Append(const KvBatch& other);

  // For what gives space back, or takes a failed write back: it goes through however
  // little of the disk is free, where others keep out of the reserve.
  void UseReserve() { uses_reserve_ = true; }
  bool uses_reserve() const { return uses_reserve_; }

  const std::vector<Op>& ops() const { return ops_; }
  // Of the keys and values of puts.
  int64_t put_bytes() const { return put_bytes_; }

 private:
  std::vector<Op> ops_;
  int64_t put_bytes_ = 0;
  bool uses_reserve_ = false;
};

// The keys in [begin, end); an empty end has no bound.
struct KvRange {
  std::string begin;
  std::string end;
};
// All keys that start with `prefix`, which must not be empty or all 0xff.
KvRange PrefixRange(absl::string_view prefix);

enum class ScanOrder : uint8_t { kForward, kBackward };

// Thread-safe. RESOURCE_EXHAUSTED: the disk is full. DATA_LOSS: stored bytes are
// damaged. UNAVAILABLE: may succeed later. INTERNAL: every other failure.
class Kv {
 public:
  virtual ~Kv() = default;

  // NOT_FOUND: no such key.
  virtual absl::StatusOr<std::string> Get(Family family, absl::string_view key) = 0;
  // Applies all of `batch` or none of it. With `sync` it has reached the disk,
  // together with every batch before it, when this returns OK (an empty batch: just
  // those before it; several callers share one sync); without, it
  // survives a crash of the process but not of the machine. After an error the
  // batch may still appear when the store is opened again.
  virtual absl::Status Write(const KvBatch& batch, bool sync) = 0;
  // Calls `visit` with each pair in key order until it returns false. No lock
  // is held meanwhile. Pairs that come or go during the scan may or may not be
  // visited; every other one is, once. DATA_LOSS ends it at damage: what lies before
  // has been visited. See scan_past_damage.h.
  virtual absl::Status Scan(
      Family family, const KvRange& range, ScanOrder order,
      const std::function<bool(absl::string_view key, absl::string_view value)>& visit) = 0;
  // Gives the space of deleted keys of a family back to the disk. May take
  // seconds; other calls go on meanwhile.
  virtual absl::Status Reclaim(Family family) = 0;
  // A consistent copy of everything as of now in `folder`, which must not exist and
  // whose parent must. Files that never change are linked where the file system
  // allows. Other calls go on. UNIMPLEMENTED: the engine keeps no files.
  virtual absl::Status Checkpoint(const std::string& folder) = 0;
  // Costs microseconds; all 0 while the engine is closed.
  virtual KvStats Stats() = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_KV_H_
