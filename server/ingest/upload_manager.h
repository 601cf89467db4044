// The life of an upload: created, written in pieces, sealed into a trace; or given
// up, refused, expired. docs/operating.md#uploads tells it to operators.
#ifndef CHAKRAD_SERVER_INGEST_UPLOAD_MANAGER_H_
#define CHAKRAD_SERVER_INGEST_UPLOAD_MANAGER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "server/ingest/content_gate.h"
#include "server/ingest/store_use.h"
#include "server/ingest/upload_request.h"
#include "server/ingest/upload_sealer.h"
#include "server/limits.h"
#include "server/metrics.h"
#include "storage/trace_store.h"
#include "storage/upload_store.h"

namespace chakrad {

class UploadManager;

struct CommittedFile {
  std::string file;
  int64_t committed_bytes = 0;
};

// When an upload expires, or is sealed if it is joint and has something by then; 0: never.
int64_t ExpireUnixNs(const UploadRecord& upload);

// What is known in memory of an upload that is not sealed. Its fields belong to the
// UploadManager's mutex.
struct LiveUpload {
  std::string id;
  std::string tenant;
  UploadRecord::State state = UploadRecord::State::kOpen;
  std::optional<UploadJoin> join;
  int64_t create_unix_ns = 0;
  int64_t end_unix_ns = 0;  // When it was refused.
  int64_t staged_bytes = 0;
  int64_t files_count = 0;
  std::set<std::string> complete;  // Files of a joint one.
  int64_t streams = 0;             // Writers that live.
  int64_t calls = 0;               // Of writers to the store, now.
  std::set<std::string> writing;   // Files that a writer has.
  bool closing = false;            // No more calls of writers: its state will change.
  bool sealing = false;            // A thread converts it now.
  bool gone = false;               // Sealed or deleted.
  // Of attempts to seal a joint one: how many ended, what the last one said, and
  // when the next may be.
  int64_t attempts = 0;
  absl::Status attempt_status;
  int64_t retry_unix_ns = 0;
};

// The right to write to an upload: to all of it, or of a joint one to the files that it
// names first. One thread may call Append while another calls Commit; neither waits for the
// other's disk.
class UploadWriter {
 public:
  ~UploadWriter();
  // Takes a piece. What lies before the file's size is compared with what is there
  // and skipped: FAILED_PRECONDITION when it differs. OUT_OF_RANGE when the piece begins
  // after it. `last`: the file ends with it. Limits: RESOURCE_EXHAUSTED. ABORTED: another
  // writer of a joint upload has the file.
  absl::Status Append(absl::string_view file, int64_t offset, absl::string_view data,
                      bool last = false);
  // Makes what was appended durable; returns the files that were named since
  // the last Commit, in name order. A joint upload that has what it expects is sealing then.
  absl::StatusOr<std::vector<CommittedFile>> Commit();

 private:
  friend class UploadManager;
  struct OwnFile {
    int64_t bytes = 0;      // Appended.
    bool known = false;     // The store has it.
    bool finished = false;  // Ends there.
  };
  UploadWriter(UploadManager* manager, std::shared_ptr<LiveUpload> live)
      : manager_(manager), live_(std::move(live)) {}

  absl::StatusOr<OwnFile*> Claim(const std::string& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckPiece(const std::string& file, const OwnFile& own, int64_t offset,
                          absl::string_view data, bool last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Store(const std::string& file, absl::string_view fresh, bool last, OwnFile* own)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeBack(const std::set<std::string>& files);

  UploadManager* const manager_;
  const std::shared_ptr<LiveUpload> live_;
  Mutex mutex_;
  std::map<std::string, OwnFile> files_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> taken_ ABSL_GUARDED_BY(mutex_);    // From other writers.
  std::set<std::string> touched_ ABSL_GUARDED_BY(mutex_);  // Since the last Commit.
};

struct UploadPage {
  std::vector<UploadRecord> uploads;  // With files.
  std::string next_page_token;
};

// Thread-safe. What it is given must outlive it.
class UploadManager {
 public:
  UploadManager(UploadStore* uploads, TraceStore* traces, Clock* clock, Metrics* metrics,
                const ServerLimits& limits, ImportResources resources = {});
  ~UploadManager();  // Waits for conversions that run.

  // Takes up the uploads of an earlier daemon, those that were being sealed too; then
  // uploads expire and joint ones are sealed by time. Before any other call.
  absl::Status Start();

  // The upload of an earlier request with this id, unless its trace is gone; ALREADY_EXISTS
  // names the first difference. One that claims what a stored trace was made of is sealed
  // at once. RESOURCE_EXHAUSTED: too many, or the claimed bytes have no room.
  absl::StatusOr<UploadRecord> Create(UploadRequest request);
  absl::StatusOr<UploadRecord> Query(absl::string_view id);
  // Those that are not sealed, oldest first. INVALID_ARGUMENT: a token of none of these pages.
  absl::StatusOr<UploadPage> List(int page_size, absl::string_view page_token);
  // FAILED_PRECONDITION: it is sealed, or being sealed. ABORTED: it is being written.
  absl::Status Delete(absl::string_view id);
  // ABORTED while another stream writes to it or a Seal converts it; joint uploads take
  // any number of streams.
  absl::StatusOr<std::unique_ptr<UploadWriter>> BeginWrite(absl::string_view id);
  // Converts the committed files into a trace and stores it; a second call for
  // the same upload waits for the first and answers the same. INVALID_ARGUMENT
  // tells what is wrong with the files, and the upload is gone; a joint one is refused,
  // and says so until it expires.
  absl::StatusOr<TraceInfo> Seal(absl::string_view id);

  // Expires what is abandoned and seals what is due; the daemon's own thread calls it
  // every kHousekeepingMs.
  void Housekeep();

  std::map<std::string, TenantUse> UseByTenant() { return use_.ByTenant(); }
  int64_t max_tenant_bytes() const { return limits_.tenant_bytes; }
  // Bounds and contents in common with whoever else stores traces.
  StoreUse& use() { return use_; }
  ContentGate& gate() { return gate_; }

  // From now on everything new is UNAVAILABLE, and nothing is sealed in the background.
  void StartDraining();

 private:
  friend class UploadWriter;
  using Live = std::shared_ptr<LiveUpload>;

  absl::Status CheckNotDraining() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The time by which uploads age: that of the start (of the newest trace, if the clock was
  // behind it), and what has passed since. Nobody who sets the clock makes an upload expire.
  int64_t NowUnixNs();
  Live FindLive(absl::string_view id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddLive(const UploadRecord& record) ABSL_LOCKS_EXCLUDED(mutex_);
  // It is sealed or deleted: nobody finds it any more, and its bytes count no longer.
  void EndLive(const Live& live) ABSL_LOCKS_EXCLUDED(mutex_);

  absl::StatusOr<UploadRecord> AnswerRepeated(UploadRecord existing, const UploadRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(records_mutex_);
  absl::StatusOr<UploadRecord> CreateNew(const UploadRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(records_mutex_);
  absl::Status MakeRoomForUpload() ABSL_EXCLUSIVE_LOCKS_REQUIRED(records_mutex_);
  void ExpireOld() ABSL_EXCLUSIVE_LOCKS_REQUIRED(records_mutex_);
  // Keeps writers and sealers away from it; false when there are some.
  bool TakeForDelete(LiveUpload* live) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsExpired(const LiveUpload& live, int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status DeleteTaken(const Live& live) ABSL_EXCLUSIVE_LOCKS_REQUIRED(records_mutex_);
  // Records of sealed uploads whose trace was deleted since.
  void ForgetSealedOfGoneTraces();

  // A writer's call to the store, between these two.
  absl::Status BeginCall(LiveUpload* live);
  void EndCall(LiveUpload* live);
  // A file that no other writer of the joint upload has from now on.
  absl::Status TakeFile(LiveUpload* live, const std::string& file);
  void EndStream(LiveUpload* live, const std::set<std::string>& files);
  // Counts bytes and files of a piece before it is stored, within the bounds.
  absl::Status Reserve(LiveUpload* live, int64_t bytes, int64_t files);
  void Unreserve(LiveUpload* live, int64_t bytes, int64_t files);
  // Files that are complete from now on; true when the upload has what it expects.
  bool NoteComplete(LiveUpload* live, const std::map<std::string, UploadedFile>& files);

  absl::StatusOr<TraceInfo> SealAlone(const Live& live);
  absl::StatusOr<TraceInfo> SealJoint(const Live& live);
  absl::StatusOr<TraceInfo> AnswerSealed(absl::string_view id);
  // Turns a joint upload with complete files to sealing, durably, and queues it.
  absl::Status BeginSealing(const Live& live, absl::string_view why);
  absl::Status Finish(UploadRecord upload, const Live& live, const SealResult& result);
  absl::Status Refuse(UploadRecord upload, const Live& live, const absl::Status& why);
  // One attempt to seal a joint upload that is sealing; its outcome is in `live`.
  void AttemptJoint(const Live& live);
  absl::Status ConvertJoint(const Live& live);
  void EndSealing(LiveUpload* live);
  void SealLoop();
  void HousekeepLoop();

  UploadStore* const uploads_;
  TraceStore* const traces_;
  Clock* const clock_;
  const int64_t start_unix_ns_;
  const int64_t start_steady_ns_;
  Metrics* const metrics_;
  const ServerLimits limits_;
  StoreUse use_;
  ContentGate gate_;
  UploadSealer sealer_;

  // Held over changes of uploads' records, which wait for the disk; before mutex_.
  Mutex records_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  int64_t next_sweep_unix_ns_ ABSL_GUARDED_BY(records_mutex_) = 0;

  Mutex mutex_;
  CondVar changed_;  // Of some upload something that others wait for.
  CondVar work_;     // The queue has something, or the daemon drains.
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Live, std::less<>> live_ ABSL_GUARDED_BY(mutex_);  // By id.
  std::deque<Live> seal_queue_ ABSL_GUARDED_BY(mutex_);
  int64_t seals_running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_INGEST_UPLOAD_MANAGER_H_
