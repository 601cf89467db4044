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

// For later: the same, or when somebody has looked.
bool IsFailure(AnswerKind kind) {
  return kind == AnswerKind::kBusy || kind == AnswerKind::kShutOut ||
         kind == AnswerKind::kWrongClock;
}

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
    if (!Send([](int64_t) { return std::string(); }).has_value())
      return;  // A heartbeat, if it is due.
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
  if (!Deliver(std::move(batch->items))) return false;
  MoveCursor(batch->last_sequence);
  return true;
}

bool RemoteWriter::Deliver(std::vector<WriteItem> items) {
  std::vector<std::vector<WriteItem>> parts;  // The last is next.
  parts.push_back(std::move(items));
  bool heartbeat_taken_since = false;
  while (!parts.empty()) {
    std::vector<WriteItem> part = std::move(parts.back());
    parts.pop_back();
    const std::optional<AnswerKind> kind =
        Send([&](int64_t now_unix_ms) { return BodyOf(&part, now_unix_ms); });
    if (!kind.has_value()) return false;
    const int64_t samples_count = CountSamples(part);
    if (*kind == AnswerKind::kTaken) {
      MutexLock lock(&mutex_);
      stats_.sent_samples += samples_count;
      continue;
    }
    if (*kind == AnswerKind::kBadTime && !heartbeat_taken_since) {
      // Whoever takes no current sample either is far ahead, and would refuse all there is.
      last_heartbeat_steady_ns_.reset();
      heartbeat_taken_since = true;
      parts.push_back(std::move(part));
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

// Anew for each try: a receiver may be down for longer than its window has room.
std::optional<std::string> RemoteWriter::BodyOf(std::vector<WriteItem>* part, int64_t now_unix_ms) {
  const int64_t steady_ns = clock_->SteadyNs();
  const bool waits = !doubt_since_steady_ns_.has_value() ||
                     steady_ns - *doubt_since_steady_ns_ < options_.max_doubt_ms * kNsPerMs;
  const OutsideWindow outside = RemoveOutside(options_.window, now_unix_ms, waits, part);
  NoteDropped("too_old", outside.too_old_samples, "older than the receiver's window");
  NoteDropped("in_future", outside.ahead_samples, "ahead of this machine's clock");
  if (outside.doubtful_samples > 0) {
    if (!doubt_since_steady_ns_.has_value()) doubt_since_steady_ns_ = steady_ns;
    return std::nullopt;
  }
  return part->empty() ? "" : EncodeWriteRequest(*part);
}

std::optional<AnswerKind> RemoteWriter::Send(const MakeBody& body) {
  int64_t pause_ms = options_.min_pause_ms;
  for (;;) {
    HttpAnswer answer;
    const AnswerKind kind = TryOnce(body, &answer);
    if (stopping_ && kind != AnswerKind::kTaken) return std::nullopt;
    if (!IsFailure(kind)) return kind;
    // Whoever comes back may have lost everything: a current sample first.
    last_heartbeat_steady_ns_.reset();
    const int64_t asked_ms = std::min(answer.retry_after_ms, kRemoteWriteMaxRetryAfterMs);
    const int64_t at_least_ms = kind == AnswerKind::kBusy ? pause_ms : options_.max_pause_ms;
    const int64_t jitter_ms = static_cast<int64_t>(random_() % 1'024) * at_least_ms / 3 / 1'024;
    if (!Sleep(std::max(at_least_ms + jitter_ms, asked_ms))) return std::nullopt;
    pause_ms = std::min(pause_ms * 2, options_.max_pause_ms);
  }
}

AnswerKind RemoteWriter::TryOnce(const MakeBody& body, HttpAnswer* answer) {
  // Before the first sample: one of next year would shift the receiver's window for good.
  if (!time_asked_ || ClocksDisagree(NowUnixMs())) {
    const AnswerKind kind = TryTime(answer);
    if (kind != AnswerKind::kTaken) return kind;
  }
  const bool heartbeat_due =
      !last_heartbeat_steady_ns_.has_value() ||
      clock_->SteadyNs() - *last_heartbeat_steady_ns_ >= options_.heartbeat_ms * kNsPerMs;
  if (heartbeat_due) {
    const AnswerKind kind = TryHeartbeat(answer);
    if (kind != AnswerKind::kTaken) return kind;
  }
  const int64_t now_unix_ms = NowUnixMs();
  std::optional<std::string> bytes;
  if (!ClocksDisagree(now_unix_ms)) bytes = body(now_unix_ms);
  AnswerKind kind = AnswerKind::kTaken;
  if (!bytes.has_value()) {
    kind = AnswerKind::kWrongClock;
    answer->text = "records were stored at a time that this machine's clock has yet to reach";
  } else if (!bytes->empty()) {
    *answer = Heard(sender_.Post(*bytes, &stopping_));
    kind = ClassifyAnswer(*answer);
  }
  data_failed_ = IsFailure(kind);
  const bool told = bytes.has_value() && bytes->empty();
  if (!told && (!stopping_ || kind == AnswerKind::kTaken)) NoteAnswer(kind, *answer);
  return kind;
}

AnswerKind RemoteWriter::TryTime(HttpAnswer* answer) {
  *answer = Heard(sender_.AskTime(&stopping_));
  AnswerKind kind = AnswerKind::kBusy;
  if (answer->status != 0) {
    time_asked_ = true;
    kind = ClocksDisagree(NowUnixMs()) ? AnswerKind::kWrongClock : AnswerKind::kTaken;
  }
  if (kind == AnswerKind::kWrongClock) {
    answer->text = absl::StrCat("the receiver's clock says ", receiver_clock_->unix_ms / 1'000,
                                " s since 1970, this machine's ", NowUnixMs() / 1'000);
  }
  if (kind != AnswerKind::kTaken && !stopping_) NoteAnswer(kind, *answer);
  return kind;
}

HttpAnswer RemoteWriter::Heard(HttpAnswer answer) {
  if (answer.date_unix_ms != 0) receiver_clock_ = {answer.date_unix_ms, clock_->SteadyNs()};
  return answer;
}

bool RemoteWriter::ClocksDisagree(int64_t now_unix_ms) const {
  if (!receiver_clock_.has_value()) return false;
  const int64_t passed_ms = (clock_->SteadyNs() - receiver_clock_->steady_ns) / kNsPerMs;
  const int64_t ahead_ms = now_unix_ms - (receiver_clock_->unix_ms + passed_ms);
  return std::max(ahead_ms, -ahead_ms) > options_.max_skew_ms;
}

AnswerKind RemoteWriter::TryHeartbeat(HttpAnswer* answer) {
  const int64_t now_ms = NowUnixMs();
  const double now_seconds = static_cast<double>(now_ms) / 1'000;
  *answer = Heard(sender_.Post(
      EncodeWriteRequest(kHeartbeatMetric, "daemon", options_.daemon, now_seconds, now_ms),
      &stopping_));
  AnswerKind kind = ClassifyAnswer(*answer);
  if (!IsFailure(kind) && kind != AnswerKind::kTaken) {
    // A receiver without a window, and another daemon was a moment earlier. Whoever else does not
    // take this takes nothing: it is no receiver, or not for us, or its newest sample is far ahead
    // of now. Otherwise all history would be sent sample by sample, and given up.
    const bool late = kind != AnswerKind::kTooLarge && IsOnlyOutOfOrder(*answer);
    kind = late ? AnswerKind::kTaken : AnswerKind::kShutOut;
  }
  const bool tells_up = !data_failed_ || kind != AnswerKind::kTaken;
  if (!stopping_ || kind == AnswerKind::kTaken) NoteAnswer(kind, *answer, tells_up);
  if (kind == AnswerKind::kTaken) last_heartbeat_steady_ns_ = clock_->SteadyNs();
  return kind;
}

void RemoteWriter::NoteAnswer(AnswerKind kind, const HttpAnswer& answer, bool tells_up) {
  const bool up = !IsFailure(kind);
  bool changed = false;
  {
    MutexLock lock(&mutex_);
    ++stats_.requests_by_outcome[std::string(AnswerKindName(kind))];
    if (kind == AnswerKind::kTaken) {
      stats_.last_success_unix_seconds = static_cast<double>(NowUnixMs()) / 1'000;
    }
    if (!tells_up) return;
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
