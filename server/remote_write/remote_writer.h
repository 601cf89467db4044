// Sends the stored series to one Prometheus remote-write receiver, each sample once in effect.
//
// A thread of its own reads the records behind the receiver's cursor, and sets the cursor,
// durably, once the receiver has taken them. Nothing is sent, and nothing given up for its time,
// while this machine's clock and the receiver's (the Date of its answers) disagree. What a crash
// made uncertain is sent again: an exact duplicate of a sample is no error and changes nothing.
// docs/history.md tells the operator's side.
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
  std::string daemon;  // Who this is, HOST:PORT: the heartbeat's label; empty: none.
  int64_t max_skew_ms = kRemoteWriteMaxSkewMs;
  int64_t max_doubt_ms = kRemoteWriteMaxDoubtMs;
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
  // The last attempt to give it something went through: it answered, did not shut us out, and its
  // clock is ours. A heartbeat alone does not end a failure of what is really to be sent.
  bool up = false;
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
// time in seconds, its label `daemon` this daemon. Sent before anything else, so that an empty
// Prometheus does not begin with a sample of months ago, and every heartbeat_ms from then on.
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
  // A request as of this time; empty: there is nothing to send; none: the clock cannot be right.
  using MakeBody = std::function<std::optional<std::string>(int64_t now_unix_ms)>;
  // Sends what `body` makes, anew for each try, until there is a verdict; an empty body is
  // taken. None: it is to stop.
  std::optional<AnswerKind> Send(const MakeBody& body);
  AnswerKind TryOnce(const MakeBody& body, HttpAnswer* answer);
  AnswerKind TryTime(HttpAnswer* answer);
  AnswerKind TryHeartbeat(HttpAnswer* answer);
  // What of a part is to be sent now: see MakeBody.
  std::optional<std::string> BodyOf(std::vector<WriteItem>* part, int64_t now_unix_ms);
  bool ClocksDisagree(int64_t now_unix_ms) const;
  HttpAnswer Heard(HttpAnswer answer);  // Takes its Date.
  void NoteAnswer(AnswerKind kind, const HttpAnswer& answer, bool tells_up = true);
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
  bool data_failed_ = false;  // The last request with samples, or the attempt at one.
  bool time_asked_ = false;
  struct ReceiverClock {
    int64_t unix_ms = 0;
    int64_t steady_ns = 0;  // Ours, when it said so.
  };
  std::optional<ReceiverClock> receiver_clock_;  // None: it tells no time, and is believed.
  std::optional<int64_t> doubt_since_steady_ns_;

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
