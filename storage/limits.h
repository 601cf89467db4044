// Every bound of the stores, with unit and reason.
#ifndef CHAKRAD_STORAGE_LIMITS_H_
#define CHAKRAD_STORAGE_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace chakrad {

// --- Names ---
// Ids of traces, uploads and jobs become parts of keys and folder names:
// letters, digits, '-', '_' and '.', not beginning with '.'.
inline constexpr size_t kMaxIdBytes = 128;
// Request ids, file names and names of traces in jobs: any bytes, in records
// and at the end of keys only.
inline constexpr size_t kMaxRequestIdBytes = 1024;
inline constexpr size_t kMaxFileNameBytes = 1024;
// A whole upload's files are one scan of records; beyond this it is no job.
inline constexpr int64_t kMaxFilesPerUpload = 1'000'000;

// --- Records ---
// A trace's manifest (labels, summaries, groups, ledgers) is read whole by each
// list; a hundred thousand ranks take about 40 MiB.
inline constexpr size_t kMaxManifestBytes = 64 << 20;

// A draft gathers chunks up to this size before it writes them: a write of the
// engine costs about as much as 10 KiB of a chunk, and several drafts hold one batch each.
inline constexpr int64_t kDraftBatchBytes = 1 << 20;
// Files kept as they are lie in pieces of this many bytes before zstd.
inline constexpr size_t kRawPieceBytes = 1 << 20;

// --- Jobs ---
// One timeline chunk is one value in the engine; values above some MiB stall it.
inline constexpr size_t kMaxTimelineChunkBytes = 4 << 20;

// The daemon's own settings are read whole; the largest is the text of policies.
inline constexpr size_t kMaxSettingBytes = 256 << 10;

// --- Series ---
// Values of labels: their owner cuts them far shorter. Samples of one record: 10,000 of them.
inline constexpr size_t kMaxSeriesLabelBytes = 1'024;
inline constexpr size_t kMaxSeriesSamplesBytes = 1 << 20;
// Lines of dashboards whose next free time is remembered: 100 bytes each.
inline constexpr size_t kMaxSeriesLinesKept = 10'000;
// Deletes that are written together when history is pruned.
inline constexpr size_t kMaxSeriesBatchOps = 3'000;

// --- Searches ---
// A filter and an order are parsed by recursion and evaluated terms x traces.
inline constexpr size_t kMaxFilterBytes = 4'096;
inline constexpr int kMaxFilterDepth = 32;   // Parentheses within each other: stack.
inline constexpr int kMaxFilterTerms = 100;  // A term takes about 4 ms over 100,000 traces.
inline constexpr size_t kMaxOrderByBytes = 1'024;
inline constexpr size_t kMaxOrderFields = 5;  // A page token holds a value of each.

// --- Disk ---
// Kept free so that the engine can still flush, compact and record deletes, which
// is what gives space back: a few write buffers and blob files.
inline constexpr int64_t kDiskReserveBytes = 256LL << 20;
// A batch up to this size is a record, not bulk data, and may use the reserve.
inline constexpr int64_t kRecordBatchBytes = 64 << 10;
// Deleted chunks are dead space until a compaction; it runs after a delete once
// this much has gathered.
inline constexpr int64_t kReclaimBytes = 64LL << 20;

// --- Memory of the RocksDB engine, all families together ---
inline constexpr size_t kBlockCacheBytes = 32 << 20;       // Records and blob indices are small.
inline constexpr size_t kWriteBufferBytes = 16 << 20;      // One buffer of a bulk family.
inline constexpr size_t kAllWriteBuffersBytes = 64 << 20;  // Flushes begin here at the latest.
inline constexpr size_t kBlobFileBytes = 32 << 20;  // Unit in which dead space is given back.
inline constexpr size_t kMinBlobBytes = 4 << 10;    // Smaller values stay beside their keys.
inline constexpr uint64_t kMaxWalBytes = 64 << 20;  // Bounds replay at start to about a second.
inline constexpr int kMaxOpenTableFiles = 256;      // Descriptors and table indices in memory.
inline constexpr size_t kInfoLogBytes = 1 << 20;    // RocksDB's own log: two files of this.

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_LIMITS_H_
