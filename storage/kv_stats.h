// What a storage engine says of itself.
#ifndef CHAKRAD_STORAGE_KV_STATS_H_
#define CHAKRAD_STORAGE_KV_STATS_H_

#include <cstdint>

namespace chakrad {

// All families together. Of an engine in memory all is 0.
struct KvStats {
  int64_t table_bytes = 0;      // Of files with keys and small values,
  int64_t blob_bytes = 0;       // and with large values,
  int64_t dead_blob_bytes = 0;  // of which so much is deleted and not given back yet.
  int64_t memory_bytes = 0;     // Write buffers, block cache, what readers of tables keep.
  int64_t pending_compaction_bytes = 0;
  int64_t running_compactions = 0;
  bool writes_stopped = false;
  // Counts since the engine was opened; they begin anew when it is opened again.
  int64_t stall_us = 0;  // Writes waited for flushes or compactions.
  int64_t cache_hits = 0;
  int64_t cache_misses = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_KV_STATS_H_
