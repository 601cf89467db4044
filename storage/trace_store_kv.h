// The TraceStore over any engine.
#ifndef CHAKRAD_STORAGE_TRACE_STORE_KV_H_
#define CHAKRAD_STORAGE_TRACE_STORE_KV_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/kv.h"
#include "storage/limits.h"
#include "storage/trace_store.h"

namespace chakrad {

struct TraceStoreOptions {
  int64_t draft_batch_bytes = kDraftBatchBytes;
  // Told of damage that was found at start, one line each. May be null.
  std::function<void(const std::string& line)> notice;
};

// Reads the cards of all traces. The store must be of this layout: see store_version.h.
absl::StatusOr<std::unique_ptr<TraceStore>> OpenTraceStore(std::shared_ptr<Kv> kv,
                                                           const TraceStoreOptions& options = {});

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_STORE_KV_H_
