// TraceInfo to its manifest record and back.
#ifndef CHAKRAD_STORAGE_TRACE_RECORD_H_
#define CHAKRAD_STORAGE_TRACE_RECORD_H_

#include "absl/status/status.h"
#include "storage/trace_store.h"

namespace chakrad {

namespace storage {
class TraceManifest;
}  // namespace storage

// All but the id, the pin, and where raw files are.
void TraceInfoToProto(const TraceInfo& info, storage::TraceManifest* manifest);
// DATA_LOSS: a value is outside what a manifest can hold. `id` and `pinned` are not set.
absl::Status TraceInfoFromProto(const storage::TraceManifest& manifest, TraceInfo* info);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_RECORD_H_
