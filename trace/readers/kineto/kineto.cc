#include "trace/readers/kineto/kineto.h"

#include <simdjson.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/json/decimal.h"
#include "trace/readers/json/json_reader.h"
#include "trace/readers/json/json_value.h"
#include "trace/readers/kineto/kineto_event.h"
#include "trace/readers/limits.h"
#include "trace/readers/process_groups.h"

namespace chakrad {
namespace {

constexpr int kUsToPs = 6;  // Decimal places from microseconds to picoseconds.
// Start and end of every event lie this close to the median start, so that the
// whole recording keeps to kMaxRecordingNs.
constexpr int64_t kMaxFromMedianNs = kMaxRecordingNs / 2;
// Times without an epoch stay as they are below this, ten days.
constexpr int64_t kMaxUnshiftedNs = kMaxRecordingNs / 9;
// A clock that shows more than this, in 2001, counts from 1970.
constexpr int64_t kEpochFloorNs = 1'000'000'000'000'000'000;

// Picoseconds to the nearest nanosecond, halves up.
__int128 PsToNs(__int128 ps) {
  const __int128 shifted = ps + 500;
  return shifted >= 0 ? shifted / 1000 : -((-shifted + 999) / 1000);
}

bool FitsTime(__int128 ns) { return ns > -(__int128{1} << 62) && ns < (__int128{1} << 62); }

class KinetoFileReader {
 public:
  KinetoFileReader(ByteSource* source, Ledger* ledger)
      : reader_(source), ledger_(ledger), interner_(&trace_.strings) {}

  absl::StatusOr<KinetoTrace> Read();

 private:
  struct Record {
    int64_t number = 0;
    int64_t byte_offset = 0;
  };
  struct OpenInterval {  // A begin event that waits for its end.
    KinetoEvent event;
    __int128 start_ps = 0;
    Record record;
    bool live = false;  // Not yet in the ledger.
  };

  absl::Status ReadKeys();
  absl::Status ReadEvents();
  absl::Status ReadWindow(const JsonWindow& window);
  absl::Status ReadDistributedInfo();
  absl::Status ReadBaseTime();
  absl::Status AddRecord(const Record& record);
  absl::Status AddInterval(KinetoKind kind, const Record& record);
  absl::Status Begin(const Record& record);
  void End(const Record& record);
  // Fills all of `event` but its duration; false when it was rejected.
  absl::StatusOr<bool> Describe(KinetoKind kind, const Record& record, KinetoEvent* event,
                                __int128* start_ps);
  bool SetTimes(__int128 start_ps, __int128 end_ps, const Record& record, KinetoEvent* event);
  uint32_t FindQueue(KinetoKind kind);
  // A thread's number; text that is none gets a negative one of its own.
  int64_t ThreadNumber(const JsonValue& tid);
  void Reject(const char* rule, const Record& record, absl::string_view reason) {
    ledger_->Reject(rule, record.number, record.byte_offset, reason);
  }
  void Merge(const char* rule);
  // FateOf(raw_), remembered by category.
  KinetoFate FindFate();
  void RejectOpenIntervals();
  void RejectOutliers();
  void SetBase();

  JsonReader reader_;
  Ledger* ledger_;
  KinetoTrace trace_;
  StringInterner interner_;
  RawKinetoEvent raw_;
  absl::flat_hash_map<std::tuple<int, int32_t, int64_t>, uint32_t> queue_index_;
  // Of names by index: 0 not looked at, 1 no communication, 2 may be some.
  std::vector<uint8_t> comm_of_name_;
  std::vector<std::pair<const char*, int64_t>> merged_;    // By rule, until the end.
  std::vector<std::pair<std::string, KinetoFate>> fates_;  // Of the first categories.
  std::map<std::string, int64_t> thread_numbers_;
  std::map<std::pair<std::string, std::string>, std::vector<OpenInterval>> open_;
  std::optional<int64_t> base_time_ns_;
  bool has_events_ = false;
  int64_t rounded_ = 0;
};

absl::StatusOr<KinetoTrace> KinetoFileReader::Read() {
  ASSIGN_OR_RETURN(const JsonReader::Top top, reader_.Open());
  if (top == JsonReader::Top::kArray) {
    has_events_ = true;
    RETURN_IF_ERROR(ReadEvents());
  } else {
    RETURN_IF_ERROR(ReadKeys());
  }
  if (!has_events_) {
    return absl::InvalidArgumentError("traceEvents: missing; not a Kineto trace");
  }
  for (const auto& [rule, count] : merged_) {
    ledger_->Merge(rule);
    ledger_->input_records += count - 1;
    ledger_->merged += count - 1;
    ledger_->merged_by_rule[rule] += count - 1;
  }
  RejectOpenIntervals();
  RejectOutliers();
  SetBase();
  trace_.events.Sort();
  if (rounded_ > 0) {
    ledger_->notices.push_back(
        absl::StrCat(rounded_, " events have fractions of a nanosecond: rounded"));
  }
  return std::move(trace_);
}

absl::Status KinetoFileReader::ReadKeys() {
  std::string key;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader_.NextKey(&key));
    if (!more) return absl::OkStatus();
    if (key == "traceEvents") {
      if (std::exchange(has_events_, true)) {
        return absl::InvalidArgumentError(
            absl::StrCat("byte offset ", reader_.value_offset(), ": traceEvents: is there twice"));
      }
      RETURN_IF_ERROR(reader_.BeginArray());
      RETURN_IF_ERROR(ReadEvents());
    } else if (key == "distributedInfo") {
      RETURN_IF_ERROR(ReadDistributedInfo());
    } else if (key == "baseTimeNanoseconds") {
      RETURN_IF_ERROR(ReadBaseTime());
    } else {
      RETURN_IF_ERROR(reader_.SkipValue());
    }
  }
}

absl::Status KinetoFileReader::ReadBaseTime() {
  const absl::StatusOr<std::string> json = reader_.ReadValue();
  RETURN_IF_ERROR(json.status());
  absl::string_view text = *json;
  if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  __int128 ns;
  if (!ParseDecimal(text, 0, &ns, nullptr) || !FitsTime(ns) || ns < 0) {
    return absl::InvalidArgumentError(absl::StrCat("byte offset ", reader_.value_offset(),
                                                   ": baseTimeNanoseconds: ", text.substr(0, 60),
                                                   " is not in [0, 2^62)"));
  }
  base_time_ns_ = static_cast<int64_t>(ns);
  return absl::OkStatus();
}

absl::Status KinetoFileReader::ReadDistributedInfo() {
  namespace dom = simdjson::dom;
  const int64_t offset = reader_.value_offset();
  ASSIGN_OR_RETURN(const std::string json, reader_.ReadValue());
  dom::parser parser;
  dom::object info;
  if (parser.parse(json).get(info) != simdjson::SUCCESS) return absl::OkStatus();
  for (auto [key, field] :
       {std::pair{"rank", &trace_.rank}, std::pair{"world_size", &trace_.world_size}}) {
    dom::element value;
    if (info[key].get(value) != simdjson::SUCCESS || value.is_null()) continue;
    int64_t number = -1;
    std::string_view text;
    const bool read = value.get(number) == simdjson::SUCCESS ||
                      (value.get(text) == simdjson::SUCCESS &&
                       absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number));
    if (!read || number < 0 || number > INT32_MAX) {
      return absl::InvalidArgumentError(
          absl::StrCat("byte offset ", offset, ": distributedInfo: ", key, " is not in [0, 2^31)"));
    }
    *field = static_cast<int32_t>(number);
  }
  std::string_view backend;
  if (info["backend"].get(backend) == simdjson::SUCCESS) trace_.backend = std::string(backend);
  dom::element groups;
  if (info["pg_config"].get(groups) != simdjson::SUCCESS) return absl::OkStatus();
  ProcessGroupTables tables(ledger_);
  std::string_view table;
  if (groups.get(table) == simdjson::SUCCESS) {
    tables.Add(absl::string_view(table.data(), table.size()));
  } else {
    tables.Add(simdjson::minify(groups));
  }
  trace_.groups = tables.TakeGroups();
  if (trace_.world_size == 0) trace_.world_size = tables.world_size();
  return absl::OkStatus();
}

absl::Status KinetoFileReader::ReadEvents() {
  while (true) {
    ASSIGN_OR_RETURN(const JsonWindow* window, reader_.NextWindow());
    if (window == nullptr) return absl::OkStatus();
    RETURN_IF_ERROR(ReadWindow(*window));
  }
}

absl::Status KinetoFileReader::ReadWindow(const JsonWindow& window) {
  for (size_t i = 0; i < window.byte_offsets.size(); ++i) {
    const Record record{window.first_record + static_cast<int64_t>(i), window.byte_offsets[i]};
    if (!ParseKinetoEvent(JsonRef::Element(window, i), &raw_)) {
      Reject("kineto_not_an_object", record, "the record is not an object");
      continue;
    }
    const absl::Status added = AddRecord(record);
    if (!added.ok()) {
      return Annotate(added, absl::StrCat("byte offset ", record.byte_offset, ", record ",
                                          record.number, " (", raw_.name.text.substr(0, 100), ")"));
    }
  }
  return absl::OkStatus();
}

absl::Status KinetoFileReader::AddRecord(const Record& record) {
  if (static_cast<int64_t>(raw_.name.text.size()) > kMaxNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("name: ", raw_.name.text.size(), " bytes are more than ", kMaxNameBytes));
  }
  const KinetoFate fate = FindFate();
  switch (fate.fate) {
    case KinetoFate::Fate::kKeep:
      return AddInterval(fate.kind, record);
    case KinetoFate::Fate::kMerge:
      Merge(fate.rule);
      return absl::OkStatus();
    case KinetoFate::Fate::kReject:
      Reject(fate.rule, record,
             absl::StrCat("ph \"", raw_.ph.text.substr(0, 20), "\", cat \"",
                          raw_.cat.text.substr(0, 60), "\": ", raw_.name.text.substr(0, 100)));
      return absl::OkStatus();
    case KinetoFate::Fate::kBegin:
      return Begin(record);
    case KinetoFate::Fate::kEnd:
      End(record);
  }
  return absl::OkStatus();
}

KinetoFate KinetoFileReader::FindFate() {
  constexpr size_t kMaxRemembered = 16;
  if (raw_.ph.text != "X" || raw_.cat.text.empty()) return FateOf(raw_);
  for (const auto& [cat, fate] : fates_) {
    if (cat == raw_.cat.text) return fate;
  }
  const KinetoFate fate = FateOf(raw_);
  if (fates_.size() < kMaxRemembered) fates_.emplace_back(std::string(raw_.cat.text), fate);
  return fate;
}

// A third of a file's records may be merged by one rule.
void KinetoFileReader::Merge(const char* rule) {
  for (auto& [known, count] : merged_) {
    if (known != rule) continue;
    ++count;
    return;
  }
  merged_.emplace_back(rule, 1);
}

int64_t KinetoFileReader::ThreadNumber(const JsonValue& tid) {
  int64_t number;
  if (tid.GetInt(&number)) return number;
  absl::string_view text = tid.text;
  if (absl::ConsumePrefix(&text, "stream ") && absl::SimpleAtoi(text, &number)) return number;
  // -1 stands for no thread or stream in the files, so these start at -2.
  return thread_numbers_
      .emplace(std::string(tid.text), -2 - static_cast<int64_t>(thread_numbers_.size()))
      .first->second;
}

uint32_t KinetoFileReader::FindQueue(KinetoKind kind) {
  Queue queue;
  if (kind == KinetoKind::kHostOp || kind == KinetoKind::kAnnotation ||
      kind == KinetoKind::kRuntime) {
    queue.raw_id = ThreadNumber(raw_.tid);
  } else {
    queue.kind = Queue::Kind::kDeviceStream;
    queue.device = 0;
    // Kineto shows a device as a process with a small number.
    if (!raw_.device.GetInt(&queue.device)) (void)raw_.pid.GetInt(&queue.device);
    if (!raw_.stream.GetInt(&queue.raw_id)) queue.raw_id = ThreadNumber(raw_.tid);
  }
  const auto [it, added] =
      queue_index_.emplace(std::tuple(static_cast<int>(queue.kind), queue.device, queue.raw_id),
                           static_cast<uint32_t>(trace_.queues.size()));
  if (added) trace_.queues.push_back(queue);
  return it->second;
}

absl::StatusOr<bool> KinetoFileReader::Describe(KinetoKind kind, const Record& record,
                                                KinetoEvent* event, __int128* start_ps) {
  bool exact;
  if (!ParseDecimal(raw_.ts.text, kUsToPs, start_ps, &exact) || !FitsTime(PsToNs(*start_ps))) {
    Reject(raw_.ts.text.empty() ? "kineto_no_time" : "kineto_bad_time", record,
           absl::StrCat("ts: \"", raw_.ts.text.substr(0, 60), "\" is no time"));
    return false;
  }
  if (*start_ps < 0) {
    Reject("kineto_negative_time", record, absl::StrCat("ts: ", raw_.ts.text, " is negative"));
    return false;
  }
  const bool device = kind == KinetoKind::kKernel || kind == KinetoKind::kMemcpy ||
                      kind == KinetoKind::kMemset || kind == KinetoKind::kSync;
  if (device && *start_ps == 0) {
    Reject("kineto_device_op_at_zero", record, "ts: 0, which the profiler writes for no time");
    return false;
  }
  event->kind = kind;
  event->name = interner_.Intern(raw_.name.text);
  event->queue = FindQueue(kind);
  event->record = record.number;
  for (auto [value, field] :
       {std::pair{&raw_.correlation, &event->correlation},
        std::pair{&raw_.external_id, &event->external_id}, std::pair{&raw_.rf_id, &event->rf_id},
        std::pair{&raw_.sequence, &event->sequence},
        std::pair{&raw_.forward_tid, &event->forward_tid},
        std::pair{&raw_.launch_tid, &event->launch_tid}, std::pair{&raw_.bytes, &event->bytes},
        std::pair{&raw_.stream, &event->sync_stream},
        std::pair{&raw_.wait_stream, &event->sync_stream},
        std::pair{&raw_.wait_event, &event->sync_event},
        std::pair{&raw_.wait_record_correlation, &event->sync_record_correlation}}) {
    int64_t number;
    if (value->GetInt(&number)) *field = number;
  }
  if (event->rf_id == 0) event->rf_id = -1;  // Recorded by no observer.
  if (kind != KinetoKind::kSync && kind != KinetoKind::kRuntime) event->sync_stream = -1;
  if (event->name >= comm_of_name_.size()) comm_of_name_.resize(event->name + 1, 0);
  uint8_t& may_communicate = comm_of_name_[event->name];
  if (may_communicate == 0) may_communicate = NameTellsComm(raw_.name.text) ? 2 : 1;
  std::optional<CommArgs> comm;
  if (may_communicate == 2 || raw_.collective.kind != JsonValue::Kind::kMissing ||
      raw_.comms_id.kind != JsonValue::Kind::kMissing) {
    RETURN_IF_ERROR(ReadKinetoComm(raw_, &comm));
  }
  if (comm.has_value()) {
    event->comm = static_cast<uint32_t>(trace_.comm_args.size());
    trace_.comm_args.push_back(*std::move(comm));
  }
  return true;
}

bool KinetoFileReader::SetTimes(__int128 start_ps, __int128 end_ps, const Record& record,
                                KinetoEvent* event) {
  const __int128 start_ns = PsToNs(start_ps), end_ns = PsToNs(end_ps);
  if (end_ps < start_ps) {
    Reject("kineto_negative_duration", record, "the event ends before it starts");
    return false;
  }
  if (end_ns - start_ns > kMaxRecordingNs) {
    Reject("kineto_duration_too_long", record, "the event takes more than 90 days");
    return false;
  }
  if (start_ps % 1000 != 0 || end_ps % 1000 != 0) ++rounded_;
  event->start_ns = static_cast<int64_t>(start_ns);
  event->dur_ns = static_cast<int64_t>(end_ns - start_ns);
  trace_.events.push_back(*event);
  ledger_->Keep();
  return true;
}

absl::Status KinetoFileReader::AddInterval(KinetoKind kind, const Record& record) {
  if (raw_.dur.text.empty()) {
    Reject("kineto_no_duration", record, "dur: missing");
    return absl::OkStatus();
  }
  __int128 dur_ps;
  if (!ParseDecimal(raw_.dur.text, kUsToPs, &dur_ps, nullptr) || !FitsTime(dur_ps / 1000)) {
    Reject("kineto_bad_duration", record,
           absl::StrCat("dur: \"", raw_.dur.text.substr(0, 60), "\" is no duration"));
    return absl::OkStatus();
  }
  if (dur_ps < 0) {
    Reject("kineto_negative_duration", record,
           absl::StrCat("dur: ", raw_.dur.text, " is negative"));
    return absl::OkStatus();
  }
  KinetoEvent event;
  __int128 start_ps;
  ASSIGN_OR_RETURN(const bool described, Describe(kind, record, &event, &start_ps));
  if (described) SetTimes(start_ps, start_ps + dur_ps, record, &event);
  return absl::OkStatus();
}

absl::Status KinetoFileReader::Begin(const Record& record) {
  OpenInterval open;
  open.record = record;
  const KinetoFate fate = FateOfInterval(raw_);
  if (fate.fate == KinetoFate::Fate::kKeep) {
    ASSIGN_OR_RETURN(open.live, Describe(fate.kind, record, &open.event, &open.start_ps));
  } else if (fate.fate == KinetoFate::Fate::kMerge) {
    ledger_->Merge(fate.rule);
  } else {
    Reject(fate.rule, record, absl::StrCat("cat \"", raw_.cat.text.substr(0, 60), "\""));
  }
  open_[{std::string(raw_.pid.text), std::string(raw_.tid.text)}].push_back(open);
  return absl::OkStatus();
}

void KinetoFileReader::End(const Record& record) {
  std::vector<OpenInterval>& stack =
      open_[{std::string(raw_.pid.text), std::string(raw_.tid.text)}];
  if (stack.empty()) {
    return Reject("kineto_end_without_begin", record, "no begin on its thread is open");
  }
  __int128 end_ps;
  if (!ParseDecimal(raw_.ts.text, kUsToPs, &end_ps, nullptr) || !FitsTime(PsToNs(end_ps))) {
    return Reject(raw_.ts.text.empty() ? "kineto_no_time" : "kineto_bad_time", record,
                  absl::StrCat("ts: \"", raw_.ts.text.substr(0, 60), "\" is no time"));
  }
  OpenInterval open = std::move(stack.back());
  stack.pop_back();
  if (open.live) SetTimes(open.start_ps, end_ps, open.record, &open.event);
  ledger_->Merge("end_event");
}

void KinetoFileReader::RejectOpenIntervals() {
  for (const auto& [thread, stack] : open_) {
    for (const OpenInterval& open : stack) {
      if (!open.live) continue;
      Reject("kineto_begin_without_end", open.record,
             absl::StrCat("no end follows on thread ", thread.second.substr(0, 60)));
    }
  }
}

// A profiler that lost a time writes 0 or garbage: one such event would stretch
// the recording over decades. The median is of the many good ones.
void KinetoFileReader::RejectOutliers() {
  KinetoEvents& events = trace_.events;
  if (events.empty()) return;
  std::vector<int64_t> starts;
  starts.reserve(events.size());
  for (size_t i = 0; i < events.size(); ++i) starts.push_back(events.start_ns(i));
  const auto middle = starts.begin() + static_cast<int64_t>(starts.size() / 2);
  std::nth_element(starts.begin(), middle, starts.end());
  const int64_t median = *middle;
  starts = std::vector<int64_t>();  // "= {}" would keep the memory.
  std::vector<bool> keep(events.size(), true);
  for (size_t i = 0; i < events.size(); ++i) {
    const int64_t away = events.start_ns(i) - median;  // Both are in [0, 2^62).
    if (away >= -kMaxFromMedianNs && away + events.dur_ns(i) <= kMaxFromMedianNs) continue;
    keep[i] = false;
    ledger_->TurnIntoRejection(
        /*was_kept=*/true, "", "kineto_time_outlier", events.record(i),
        absl::StrCat("starts at ", events.start_ns(i), " ns, over 45 days from the median ",
                     median));
  }
  if (std::find(keep.begin(), keep.end(), false) != keep.end()) events.Keep(keep);
}

void KinetoFileReader::SetBase() {
  if (trace_.events.empty()) return;
  int64_t first_ns = INT64_MAX;
  for (size_t i = 0; i < trace_.events.size(); ++i) {
    first_ns = std::min(first_ns, trace_.events.start_ns(i));
  }
  if (first_ns >= kEpochFloorNs) {
    trace_.base_unix_ns = first_ns;
  } else if (base_time_ns_.has_value()) {
    trace_.base_unix_ns = *base_time_ns_ + first_ns;  // Both are below 2^62.
  } else if (first_ns <= kMaxUnshiftedNs) {
    return;
  } else {
    ledger_->notices.push_back(absl::StrCat("times have no epoch and start at ", first_ns,
                                            " ns: counted from the first event"));
  }
  trace_.events.CountFrom(first_ns);
}

}  // namespace

absl::StatusOr<KinetoTrace> ReadKineto(ByteSource* source, Ledger* ledger) {
  return KinetoFileReader(source, ledger).Read();
}

}  // namespace chakrad
