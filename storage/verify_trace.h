// Reads everything of one stored trace and says what is damaged.
#ifndef CHAKRAD_STORAGE_VERIFY_TRACE_H_
#define CHAKRAD_STORAGE_VERIFY_TRACE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/chunk_table.h"
#include "storage/kv.h"
#include "storage/trace_store.h"

namespace chakrad {

// As TraceStore::Verify, of a trace that is leased. Holds one decoded rank at a time.
absl::StatusOr<VerifyResult> VerifyTrace(Kv* kv, const ChunkTable& chunks, absl::string_view id);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_VERIFY_TRACE_H_
