// Where traces live. A trace becomes visible at once and whole, or not at all:
// its columns are written first as content-hashed chunks, which nobody sees;
// one small, synced manifest record then makes it exist. Equal chunks are
// stored once. docs/storage_format.md lists every key and value.
#ifndef CHAKRAD_STORAGE_TRACE_STORE_H_
#define CHAKRAD_STORAGE_TRACE_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/trace_card.h"
#include "trace/check/report.h"
#include "trace/codec/rank_index.h"
#include "trace/model/ledger.h"
#include "trace/model/trace.h"
#include "trace/model/trace_summary.h"

namespace chakrad {

// A file kept as it was uploaded.
struct RawFileInfo {
  std::string file;
  int64_t size_bytes = 0;
  std::string sha256;  // 32 raw bytes.
  friend bool operator==(const RawFileInfo&, const RawFileInfo&) = default;
};

// What is known of a stored trace without reading its columns.
struct TraceInfo {
  std::string id;
  std::map<std::string, std::string> labels;
  int64_t create_unix_ns = 0;
  int32_t world_size = 0;
  std::vector<RankSummary> ranks;
  std::vector<ProcessGroup> groups;
  std::vector<Ledger> ledgers;
  std::vector<std::string> notices;
  CheckReport check;          // What the conformance suite found when it was stored.
  int64_t stored_bytes = 0;   // Of its chunks, compressed, before sharing. Set by Commit.
  int64_t start_unix_ns = 0;  // As in TraceCard. Set by Commit.
  int64_t end_unix_ns = 0;
  bool pinned = false;                      // As SetPinned left it.
  std::optional<TraceBreakdown> breakdown;  // As the caller computed it.
  std::string content_hash;                 // 32 raw bytes, or empty.
  std::vector<RawFileInfo> raw_files;       // Set by Commit.
};

struct TraceLoadOptions {
  bool cold = false;           // Also the cold blocks (attributes, argument texts).
  std::vector<int32_t> ranks;  // Empty: all. NOT_FOUND names a rank that is not there.
};

// A trace being written, invisible until Commit. Destroyed before that, what it
// wrote is given back. Calls are made one at a time.
class TraceDraft {
 public:
  virtual ~TraceDraft() = default;

  // Encodes and stores a rank; ranks may come in any order.
  virtual absl::Status AddRank(const RankTrace& rank) = 0;

  // Of chunks that were encoded elsewhere: those that the store lacks. The others
  // are pinned from now on.
  virtual absl::StatusOr<std::vector<std::string>> Missing(
      const std::vector<std::string>& hashes) = 0;
  // Stores such a chunk. INVALID_ARGUMENT: it does not match `hash` or is no chunk.
  virtual absl::Status AddChunk(const std::string& hash, absl::string_view stored) = 0;
  // Adds a rank whose chunks are all there, and returns it decoded and checked
  // (with its cold block when asked). INVALID_ARGUMENT: a chunk is not there, does not
  // decode, or does not fit the index or the others.
  virtual absl::StatusOr<RankTrace> AddEncodedRank(const RankIndex& index, size_t groups_count,
                                                   bool cold) = 0;
  // The same of a rank that the caller has decoded from these very chunks, which take
  // `stored_bytes`, and has checked. INVALID_ARGUMENT: a chunk is not there.
  virtual absl::Status AddDecodedRank(const RankIndex& index, const RankTrace& rank,
                                      int64_t stored_bytes) = 0;
  // Makes every chunk added so far readable by TraceStore::ReadChunk. Not durable.
  virtual absl::Status Flush() = 0;

  // Keeps the file at `path` as it is, compressed, with the trace.
  virtual absl::Status AddRawFile(const std::string& file, const std::string& path) = 0;

  // Makes the trace exist under info.id, durably when it returns OK.
  // ALREADY_EXISTS: the id is taken. info.labels, groups, world_size, ledgers,
  // notices, check, breakdown and content_hash are the caller's; the rest is filled in here.
  // create_unix_ns is raised above the newest stored trace's where the clock went back.
  // Call once.
  virtual absl::StatusOr<TraceInfo> Commit(TraceInfo info) = 0;
};

// Keeps a trace from being deleted while it lives. Thread-safe to destroy.
class TraceLease {
 public:
  virtual ~TraceLease() = default;
};

struct VerifyResult {
  int64_t chunks_count = 0;
  int64_t bytes = 0;                // Read, as stored.
  std::vector<std::string> errors;  // "rank 3: chunk ab12...: does not match its hash"
};

// Thread-safe. NOT_FOUND: unknown id. DATA_LOSS: stored bytes fail their hash
// or do not decode; other traces are not affected. RESOURCE_EXHAUSTED: the disk
// is full. Every other failure of the engine is UNAVAILABLE or INTERNAL.
class TraceStore {
 public:
  virtual ~TraceStore() = default;

  virtual std::unique_ptr<TraceDraft> NewDraft() = 0;
  // A draft of all ranks, and its Commit.
  absl::Status Put(const Trace& trace, TraceInfo info);

  // Every stored trace. What is returned does not change; call again for news. O(1)
  // when nothing changed, else O(traces).
  virtual std::shared_ptr<const TraceCards> Cards() = 0;
  virtual absl::StatusOr<TraceInfo> GetInfo(absl::string_view id) = 0;
  // The trace with labels, groups and the asked ranks.
  virtual absl::StatusOr<Trace> Load(absl::string_view id, const TraceLoadOptions& options) = 0;
  // Opens one rank for reading by windows: its index, and a source of its chunks
  // that stays good while the trace is leased. See trace/codec/rank_reader.h.
  virtual absl::StatusOr<RankIndex> GetRankIndex(absl::string_view id, int32_t rank) = 0;
  // A chunk as stored, verified against its hash. DATA_LOSS: damaged or missing.
  virtual absl::StatusOr<std::string> ReadChunk(const std::string& hash) = 0;

  // The id of a trace with this content hash (the newest), else NOT_FOUND. One that could not be
  // read when somebody tried (since the start) does not count.
  virtual absl::StatusOr<std::string> FindByContent(absl::string_view content_hash) = 0;
  // Durable. A pinned trace is not deleted.
  virtual absl::Status SetPinned(absl::string_view id, bool pinned) = 0;
  virtual absl::StatusOr<std::unique_ptr<TraceLease>> Lease(absl::string_view id) = 0;
  // Removes the manifest, and every chunk that no other trace uses.
  // FAILED_PRECONDITION: it is leased or pinned; nothing is changed.
  virtual absl::Status Delete(absl::string_view id) = 0;

  // Reads all of a trace and checks it. Damage is in the result, not the status.
  virtual absl::StatusOr<VerifyResult> Verify(absl::string_view id) = 0;
  // Calls `sink` with the file's bytes in pieces of at most 1 MiB until it fails.
  // NOT_FOUND: no such file was kept.
  virtual absl::Status ReadRawFile(
      absl::string_view id, absl::string_view file,
      const std::function<absl::Status(absl::string_view bytes)>& sink) = 0;

  // Removes chunks that no manifest uses, as an interrupted draft leaves them.
  // Returns how many. Run at start-up, before the first draft.
  virtual absl::StatusOr<int64_t> SweepOrphans() = 0;
  // Bytes of all chunks, shared ones once.
  virtual absl::StatusOr<int64_t> TotalBytes() = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_STORE_H_
