#include "server/remote_write/remote_writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/log.h"
#include "server/remote_write/write_request.h"

namespace chakrad {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

RemoteWriter::RemoteWriter(SeriesStore* store, Clock* clock, RemoteWriterOptions options)
    : store_(store),
      clock_(clock),
      options_(std::move(options)),
      receiver_(ReceiverName(options_.http.url)),
      cursor_name_(absl::StrCat("remote_write/", receiver_)),
      sender_(options_.http),
      random_(static_cast<uint32_t>(clock->NowUnixNs())) {
  stats_.receiver = receiver_;
}

RemoteWriter::~RemoteWriter() { Stop(); }

void RemoteWriter::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void RemoteWriter::RequestStop() {
  MutexLock lock(&mutex_);
  stopping_ = true;
  stopped_.NotifyAll();
}

void RemoteWriter::Stop() {
  RequestStop();
  if (thread_.joinable()) thread_.join();
}

RemoteWriterStats RemoteWriter::Stats() const {
  const int64_t newest = store_->last_sequence();
  MutexLock lock(&mutex_);
  RemoteWriterStats stats = stats_;
  stats.pending_records = std::max<int64_t>(0, newest - seen_cursor_);
  return stats;
}

int64_t RemoteWriter::durable_cursor() const {
  MutexLock lock(&mutex_);
  return durable_cursor_;
}

void RemoteWriter::Loop() {
  while (!LoadCursor()) {
    if (!Sleep(options_.max_pause_ms)) return;
  }
  while (!stopping_) {
    if (store_->last_sequence() > cursor_) {
      if (!RunBatch()) return;
      continue;
    }
    if (!Send([] { return std::string(); }).has_value()) return;  // A heartbeat, if it is due.
    MoveCursor(cursor_);
    if (!Sleep(options_.poll_ms)) return;
  }
}

bool RemoteWriter::LoadCursor() {
  const absl::StatusOr<std::string> text = store_->GetCursor(cursor_name_);
  int64_t cursor = 0;
  // One that cannot be read costs repeats, which are harmless.
  const bool damaged = (text.ok() && !text->empty() && !absl::SimpleAtoi(*text, &cursor)) ||
                       absl::IsDataLoss(text.status());
  if (damaged) {
    Log(LogLevel::kError, "remote_write_cursor_damaged", {{"receiver", receiver_}});
    cursor = 0;
  } else if (!text.ok()) {
    Log(LogLevel::kError, "remote_write_cursor_unread",
        {{"receiver", receiver_}, {"error", std::string(text.status().message())}});
    return false;
  }
  cursor_ = cursor;
  MutexLock lock(&mutex_);
  durable_cursor_ = cursor;
  seen_cursor_ = cursor;
  return true;
}

bool RemoteWriter::RunBatch() {
  auto batch = ReadOutbox(store_, cursor_, options_.batch_samples, options_.batch_bytes);
  if (!batch.ok()) {
    Log(LogLevel::kError, "remote_write_store",
        {{"receiver", receiver_}, {"error", std::string(batch.status().message())}});
    return Sleep(options_.max_pause_ms);
  }
  if (batch->unreadable_samples > 0) NoteDropped("unknown", batch->unreadable_samples, "");
  if (batch->unreadable_records > 0) {
    Log(LogLevel::kError, "remote_write_records_damaged",
        {{"receiver", receiver_}, {"behind_sequence", absl::StrCat(cursor_)}});
    MutexLock lock(&mutex_);
    stats_.damaged_records += batch->unreadable_records;
  }
  // Nothing new to see: the newest record is on its way into the store.
  if (batch->last_sequence == cursor_) return Sleep(options_.poll_ms);
  if (!Deliver(std::move(batch->items))) return false;
  MoveCursor(batch->last_sequence);
  return true;
}

bool RemoteWriter::Deliver(std::vector<WriteItem> items) {
  std::vector<std::vector<WriteItem>> parts;  // The last is next.
  parts.push_back(std::move(items));
  while (!parts.empty()) {
    std::vector<WriteItem> part = std::move(parts.back());
    parts.pop_back();
    // Anew for each try: a receiver may be down for longer than its window has room.
    const std::optional<AnswerKind> kind = Send([&] {
      const OutsideWindow outside = RemoveOutside(options_.window, NowUnixMs(), &part);
      NoteDropped("too_old", outside.too_old_samples, "older than the receiver's window");
      NoteDropped("in_future", outside.ahead_samples, "ahead of this machine's clock");
      return part.empty() ? "" : EncodeWriteRequest(part);
    });
    if (!kind.has_value()) return false;
    const int64_t samples_count = CountSamples(part);
    if (*kind == AnswerKind::kTaken) {
      MutexLock lock(&mutex_);
      stats_.sent_samples += samples_count;
      continue;
    }
    // A record's samples have one time, so that a bad time is that of all.
    const bool whole =
        part.size() == 1 && (*kind == AnswerKind::kBadTime || part[0].samples.size() == 1);
    if (whole) {
      NoteDropped(*kind == AnswerKind::kBadTime ? "refused_time" : "refused", samples_count,
                  "refused by the receiver");
      continue;
    }
    std::vector<WriteItem> first, second;
    Halve(std::move(part), &first, &second);
    parts.push_back(std::move(second));
    parts.push_back(std::move(first));
  }
  return true;
}

std::optional<AnswerKind> RemoteWriter::Send(const std::function<std::string()>& body) {
  int64_t pause_ms = options_.min_pause_ms;
  for (;;) {
    HttpAnswer answer;
    const AnswerKind kind = TryOnce(body, &answer);
    if (stopping_ && kind != AnswerKind::kTaken) return std::nullopt;
    if (kind != AnswerKind::kBusy && kind != AnswerKind::kShutOut) return kind;
    // Whoever comes back may have lost everything: a current sample first.
    last_heartbeat_steady_ns_.reset();
    const int64_t asked_ms = std::min(answer.retry_after_ms, kRemoteWriteMaxRetryAfterMs);
    const int64_t at_least_ms = kind == AnswerKind::kShutOut ? options_.max_pause_ms : pause_ms;
    const int64_t jitter_ms = static_cast<int64_t>(random_() % 1'024) * at_least_ms / 3 / 1'024;
    if (!Sleep(std::max(at_least_ms + jitter_ms, asked_ms))) return std::nullopt;
    pause_ms = std::min(pause_ms * 2, options_.max_pause_ms);
  }
}

AnswerKind RemoteWriter::TryOnce(const std::function<std::string()>& body, HttpAnswer* answer) {
  const bool heartbeat_due =
      !last_heartbeat_steady_ns_.has_value() ||
      clock_->SteadyNs() - *last_heartbeat_steady_ns_ >= options_.heartbeat_ms * kNsPerMs;
  if (heartbeat_due) {
    const AnswerKind kind = TryHeartbeat(answer);
    if (kind != AnswerKind::kTaken) return kind;
  }
  const std::string bytes = body();
  if (bytes.empty()) return AnswerKind::kTaken;
  *answer = sender_.Post(bytes, &stopping_);
  const AnswerKind kind = ClassifyAnswer(*answer);
  if (!stopping_ || kind == AnswerKind::kTaken) NoteAnswer(kind, *answer);
  return kind;
}

AnswerKind RemoteWriter::TryHeartbeat(HttpAnswer* answer) {
  const int64_t now_ms = NowUnixMs();
  const double now_seconds = static_cast<double>(now_ms) / 1'000;
  *answer = sender_.Post(EncodeWriteRequest(kHeartbeatMetric, now_seconds, now_ms), &stopping_);
  AnswerKind kind = ClassifyAnswer(*answer);
  // A receiver without a window, and another daemon was a moment earlier.
  if (kind == AnswerKind::kBadTime) kind = AnswerKind::kTaken;
  // Who does not take this takes nothing: it is no receiver, or not for us. Otherwise all
  // history would be sent sample by sample, and given up.
  if (kind == AnswerKind::kBadSample || kind == AnswerKind::kTooLarge) kind = AnswerKind::kShutOut;
  if (!stopping_ || kind == AnswerKind::kTaken) NoteAnswer(kind, *answer);
  if (kind == AnswerKind::kTaken) last_heartbeat_steady_ns_ = clock_->SteadyNs();
  return kind;
}

void RemoteWriter::NoteAnswer(AnswerKind kind, const HttpAnswer& answer) {
  const bool up = kind != AnswerKind::kBusy && kind != AnswerKind::kShutOut;
  bool changed = false;
  {
    MutexLock lock(&mutex_);
    ++stats_.requests_by_outcome[std::string(AnswerKindName(kind))];
    if (kind == AnswerKind::kTaken) {
      stats_.last_success_unix_seconds = static_cast<double>(NowUnixMs()) / 1'000;
    }
    changed = stats_.up != up || !up_known_;
    stats_.up = up;
    up_known_ = true;
  }
  if (!changed) return;
  if (up) {
    Log(LogLevel::kInfo, "remote_write_up", {{"receiver", receiver_}});
  } else {
    Log(LogLevel::kWarning, "remote_write_down",
        {{"receiver", receiver_},
         {"outcome", std::string(AnswerKindName(kind))},
         {"status", absl::StrCat(answer.status)},
         {"answer", answer.text}});
  }
}

void RemoteWriter::NoteDropped(const char* reason, int64_t samples_count, absl::string_view why) {
  if (samples_count == 0) return;
  bool first = false;
  {
    MutexLock lock(&mutex_);
    int64_t& count = stats_.dropped_samples_by_reason[reason];
    first = count == 0;
    count += samples_count;
  }
  if (!first) return;  // chakrad_remote_write_samples_dropped_total tells the rest.
  Log(LogLevel::kWarning, "remote_write_samples_dropped",
      {{"receiver", receiver_}, {"reason", reason}, {"why", std::string(why)}});
}

void RemoteWriter::MoveCursor(int64_t sequence) {
  cursor_ = sequence;
  {
    MutexLock lock(&mutex_);
    seen_cursor_ = sequence;
    if (durable_cursor_ == sequence) return;
  }
  const absl::Status status = store_->SetCursor(cursor_name_, absl::StrCat(sequence));
  if (!status.ok()) {
    // It goes on: a restart would repeat what was sent since.
    if (!cursor_failed_) {
      Log(LogLevel::kError, "remote_write_cursor",
          {{"receiver", receiver_}, {"error", std::string(status.message())}});
    }
    cursor_failed_ = true;
    return;
  }
  cursor_failed_ = false;
  MutexLock lock(&mutex_);
  durable_cursor_ = sequence;
}

bool RemoteWriter::Sleep(int64_t duration_ms) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(duration_ms);
  MutexLock lock(&mutex_);
  while (!stopping_) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    stopped_.WaitFor(&mutex_, left);
  }
  return false;
}

}  // namespace chakrad
