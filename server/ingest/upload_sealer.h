// Makes a trace of an upload's files: hashes them, looks whether a trace with that
// content is stored, and converts, checks and stores them otherwise.
#ifndef CHAKRAD_SERVER_INGEST_UPLOAD_SEALER_H_
#define CHAKRAD_SERVER_INGEST_UPLOAD_SEALER_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "server/ingest/content_gate.h"
#include "storage/trace_store.h"
#include "storage/upload_store.h"
#include "trace/import/import.h"

namespace chakrad {

class KernelNames;  // trace/link/kernel_names.h

// What conversions use beside the files.
struct ImportResources {
  std::string scratch_folder;                       // See ImportOptions.
  std::shared_ptr<const KernelNames> kernel_names;  // The operator's; null: none.
  bool keep_files = false;                          // Of every upload, whatever it asks for.
};

struct SealResult {
  TraceInfo info;
  std::string content_hash;
  bool known = false;  // Stored before: nothing was stored now.
  int64_t files_count = 0;
  // While it lives, the trace cannot be deleted.
  std::unique_ptr<TraceLease> lease;
};

// Thread-safe. What it is given must outlive it.
class UploadSealer {
 public:
  UploadSealer(UploadStore* uploads, TraceStore* traces, Clock* clock, ContentGate* gate,
               ImportResources resources)
      : uploads_(uploads),
        traces_(traces),
        clock_(clock),
        gate_(gate),
        resources_(std::move(resources)) {}

  // The trace of an upload that nobody writes to and all of whose files are committed; of a
  // joint one, of the complete files. INVALID_ARGUMENT: they are no trace, or
  // not the files that were claimed. Leaves the upload's record to the caller. May be
  // repeated: upload and trace share the random part of their ids.
  absl::StatusOr<SealResult> Seal(const UploadRecord& upload);

  // The stored trace with this content, leased; NOT_FOUND: there is none.
  absl::StatusOr<SealResult> FindStored(const std::string& content_hash);

 private:
  struct Chosen;
  absl::StatusOr<Chosen> Choose(const UploadRecord& upload);
  absl::StatusOr<TraceInfo> Store(const UploadRecord& upload, const Chosen& chosen,
                                  const std::string& content_hash, ImportResult imported);

  UploadStore* const uploads_;
  TraceStore* const traces_;
  Clock* const clock_;
  ContentGate* const gate_;
  const ImportResources resources_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_INGEST_UPLOAD_SEALER_H_
