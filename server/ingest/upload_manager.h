// The life of an upload: created, written in pieces, sealed into a trace.
#ifndef CHAKRAD_SERVER_INGEST_UPLOAD_MANAGER_H_
#define CHAKRAD_SERVER_INGEST_UPLOAD_MANAGER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "server/limits.h"
#include "server/metrics.h"
#include "storage/trace_store.h"
#include "storage/upload_store.h"
#include "trace/import/import_settings.h"

namespace chakrad {

class KernelNames;  // trace/link/kernel_names.h

struct UploadRequest {
  std::string request_id;
  std::map<std::string, std::string> labels;
  ImportSettings settings;
};

struct CommittedFile {
  std::string file;
  int64_t committed_bytes = 0;
};

// What conversions use beside the files.
struct ImportResources {
  std::string scratch_folder;                       // See ImportOptions.
  std::shared_ptr<const KernelNames> kernel_names;  // The operator's; null: none.
};

class UploadManager;

// The right to write to one upload; held by one stream at a time. One thread may
// call Append while another calls Commit.
class UploadWriter {
 public:
  ~UploadWriter();
  // Takes a piece. One that lies wholly before the file's size is skipped, and
  // of one that begins before it only the rest is taken. OUT_OF_RANGE when it
  // begins after it. Limits: RESOURCE_EXHAUSTED.
  absl::Status Append(absl::string_view file, int64_t offset, absl::string_view data);
  // Makes what was appended durable; returns the files that were named since
  // the last Commit, in name order.
  absl::StatusOr<std::vector<CommittedFile>> Commit();

 private:
  friend class UploadManager;
  UploadWriter(UploadManager* manager, UploadRecord record);

  UploadManager* const manager_;
  const std::string id_;
  Mutex mutex_;
  std::map<std::string, int64_t> sizes_ ABSL_GUARDED_BY(mutex_);  // Appended bytes, by file.
  std::set<std::string> touched_ ABSL_GUARDED_BY(mutex_);         // Since the last Commit.
  int64_t total_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Thread-safe. What it is given must outlive it.
class UploadManager {
 public:
  UploadManager(UploadStore* uploads, TraceStore* traces, Clock* clock, Metrics* metrics,
                const ServerLimits& limits, ImportResources resources = {});

  absl::StatusOr<UploadRecord> Create(const UploadRequest& request);
  absl::StatusOr<UploadRecord> Query(absl::string_view id);
  // ABORTED while another stream writes to it or a Seal converts it.
  absl::StatusOr<std::unique_ptr<UploadWriter>> BeginWrite(absl::string_view id);
  // Converts the committed files into a trace and stores it; a second call for
  // the same upload waits for the first and answers the same. INVALID_ARGUMENT
  // tells what is wrong with the files, and the upload is gone.
  absl::StatusOr<TraceInfo> Seal(absl::string_view id);

  // From now on everything new is UNAVAILABLE.
  void StartDraining();

 private:
  friend class UploadWriter;
  enum class Use { kWriting, kSealing };

  absl::Status CheckNotDraining() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // RESOURCE_EXHAUSTED when too many uploads are open and none is old enough to go.
  absl::Status MakeRoomForUpload() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<TraceInfo> SealExclusively(absl::string_view id);
  absl::Status Forget(absl::string_view id);
  void EndUse(const std::string& id);

  UploadStore* const uploads_;
  TraceStore* const traces_;
  Clock* const clock_;
  Metrics* const metrics_;
  const ServerLimits limits_;
  const ImportResources resources_;

  Mutex mutex_;
  CondVar changed_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Use> in_use_ ABSL_GUARDED_BY(mutex_);  // By upload id.
  int64_t seals_running_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t open_uploads_ ABSL_GUARDED_BY(mutex_) = -1;  // -1: not counted yet.
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_INGEST_UPLOAD_MANAGER_H_
