// Durable jobs: their records, results and timelines.
#ifndef CHAKRAD_STORAGE_JOB_STORE_H_
#define CHAKRAD_STORAGE_JOB_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

struct JobRecord {
  enum class State : uint8_t {
    kPending = 1,
    kRunning = 2,
    kSucceeded = 3,
    kFailed = 4,
    kCancelled = 5,
  };
  std::string id;
  std::string request_id;  // Empty: none.
  State state = State::kPending;
  std::string trace_id;
  int64_t create_unix_ns = 0;
  int64_t start_unix_ns = 0;  // 0: not yet.
  int64_t end_unix_ns = 0;
  std::string error;
  // Someone asked to cancel it: it must not start again after a crash.
  bool cancel_asked = false;
  // Serialised by the job's owner; the store does not look inside.
  std::string spec;
  std::string result;
};

inline bool IsFinished(JobRecord::State state) {
  return state == JobRecord::State::kSucceeded || state == JobRecord::State::kFailed ||
         state == JobRecord::State::kCancelled;
}

struct JobPage {
  std::vector<JobRecord> jobs;  // Without spec and result.
  std::string next_page_token;
};

// Thread-safe.
class JobStore {
 public:
  virtual ~JobStore() = default;

  // Stores a new job durably. When a job with its (non-empty) request_id exists,
  // changes nothing and returns that one. ALREADY_EXISTS: the id is taken.
  virtual absl::StatusOr<JobRecord> Create(const JobRecord& job) = 0;
  // Replaces an existing job's record durably.
  virtual absl::Status Update(const JobRecord& job) = 0;
  virtual absl::StatusOr<JobRecord> Get(absl::string_view id) = 0;
  // The job of an earlier Create with this request id, else NOT_FOUND.
  virtual absl::StatusOr<JobRecord> FindByRequestId(absl::string_view request_id) = 0;
  // Newest first; only jobs of `trace_id` unless it is empty.
  virtual absl::StatusOr<JobPage> List(int page_size, absl::string_view page_token,
                                       absl::string_view trace_id) = 0;
  // Calls `visit` with every job created after `create_unix_ns`, oldest first, without spec and
  // result. A damaged record is told as DATA_LOSS and does not end it.
  virtual absl::Status ScanCreatedAfter(
      int64_t create_unix_ns,
      const std::function<void(const std::string& id, int64_t create_unix_ns,
                               const absl::StatusOr<JobRecord>& job)>& visit) = 0;
  // Pending and running jobs, oldest first: what a restart has to take up.
  virtual absl::StatusOr<std::vector<JobRecord>> ListUnfinished() = 0;

  // Timeline chunks of a job, numbered from 0 without gaps. Not synced: a job
  // that a crash interrupts starts again, and its chunks are dropped first.
  virtual absl::Status PutTimelineChunk(absl::string_view id, int64_t chunk,
                                        absl::string_view bytes) = 0;
  // NOT_FOUND past the last chunk.
  virtual absl::StatusOr<std::string> GetTimelineChunk(absl::string_view id, int64_t chunk) = 0;
  virtual absl::Status DropTimeline(absl::string_view id) = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_JOB_STORE_H_
