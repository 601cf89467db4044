// Sends the stored series to one Prometheus remote-write receiver, each sample once in effect.
//
// A thread of its own reads the records behind the receiver's cursor, and sets the cursor,
// durably, once the receiver has taken them. What a crash made uncertain is sent again: an exact
// duplicate of a sample is no error and changes nothing. docs/history.md tells the operator's
// side.
#ifndef CHAKRAD_SERVER_REMOTE_WRITE_REMOTE_WRITER_H_
#define CHAKRAD_SERVER_REMOTE_WRITE_REMOTE_WRITER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "server/limits.h"
#include "server/remote_write/classify_answer.h"
#include "server/remote_write/http_sender.h"
#include "server/remote_write/outbox.h"
#include "storage/series_store.h"

namespace chakrad {

struct RemoteWriterOptions {
  HttpSenderOptions http;
  TimeWindow window;
  // Pauses after a failure: the first, doubling up to the second; with a third of jitter.
  int64_t min_pause_ms = kRemoteWriteMinPauseMs;
  int64_t max_pause_ms = kRemoteWriteMaxPauseMs;
  int64_t poll_ms = 1'000;  // How often an idle one looks for new records.
  int64_t heartbeat_ms = kRemoteWriteHeartbeatMs;
  int64_t batch_samples = kRemoteWriteBatchSamples;
  int64_t batch_bytes = kRemoteWriteBatchBytes;
};

struct RemoteWriterStats {
  std::string receiver;  // Its address, without a query.
  bool up = false;       // It answered the last request and did not shut us out.
  int64_t pending_records = 0;
  int64_t sent_samples = 0;  // Taken by the receiver, repeats included.
  double last_success_unix_seconds = 0;
  std::map<std::string, int64_t> requests_by_outcome;  // AnswerKindName.
  // "too_old", "in_future": never sent. "refused_time", "refused": the receiver would not have
  // them. "unknown": of a newer version of chakrad. All stay in the store and are exported.
  std::map<std::string, int64_t> dropped_samples_by_reason;
  int64_t damaged_records = 0;
};

// The series that tells that this daemon reaches the receiver, stamped now; its value is the
// time in seconds. Sent before anything else, so that an empty Prometheus does not begin with
// a sample of months ago, and every heartbeat_ms from then on.
inline constexpr char kHeartbeatMetric[] = "chakrad_remote_write_heartbeat_timestamp_seconds";

// Thread-safe. What it is given must outlive it.
class RemoteWriter {
 public:
  RemoteWriter(SeriesStore* store, Clock* clock, RemoteWriterOptions options);
  ~RemoteWriter();  // Stops.

  void Start();
  // Ends within about a second, whatever the receiver does; a batch that is under way is sent
  // again after the next start.
  void Stop();
  // The same without waiting: Stop after it.
  void RequestStop();

  RemoteWriterStats Stats() const;
  // Records up to this sequence are through, durably: only these may be removed.
  int64_t durable_cursor() const;

 private:
  void Loop();
  bool LoadCursor();
  // The three return false when it is to stop.
  bool RunBatch();
  bool Deliver(std::vector<WriteItem> items);
  bool Sleep(int64_t duration_ms);
  // Sends what `body` makes, anew for each try, until there is a verdict; an empty body is
  // taken. None: it is to stop.
  std::optional<AnswerKind> Send(const std::function<std::string()>& body);
  AnswerKind TryOnce(const std::function<std::string()>& body, HttpAnswer* answer);
  AnswerKind TryHeartbeat(HttpAnswer* answer);
  void NoteAnswer(AnswerKind kind, const HttpAnswer& answer);
  void NoteDropped(const char* reason, int64_t samples_count, absl::string_view why);
  void MoveCursor(int64_t sequence);
  int64_t NowUnixMs() const { return clock_->NowUnixNs() / 1'000'000; }

  SeriesStore* const store_;
  Clock* const clock_;
  const RemoteWriterOptions options_;
  const std::string receiver_;
  const std::string cursor_name_;
  HttpSender sender_;        // Of the thread, as the next ones are.
  std::minstd_rand random_;  // Jitter.
  int64_t cursor_ = 0;
  std::optional<int64_t> last_heartbeat_steady_ns_;  // None: due.
  bool cursor_failed_ = false;

  std::atomic<bool> stopping_{false};
  mutable Mutex mutex_;
  CondVar stopped_;
  RemoteWriterStats stats_ ABSL_GUARDED_BY(mutex_);
  bool up_known_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t durable_cursor_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t seen_cursor_ ABSL_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_REMOTE_WRITE_REMOTE_WRITER_H_
