// One record of Kineto's traceEvents, as read from JSON.
#ifndef CHAKRAD_TRACE_READERS_KINETO_KINETO_EVENT_H_
#define CHAKRAD_TRACE_READERS_KINETO_KINETO_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/readers/comm_args.h"
#include "trace/readers/json/json_reader.h"
#include "trace/readers/json/json_value.h"
#include "trace/readers/kineto/kineto.h"

namespace chakrad {

// Views are valid until the next window. Reused from event to event.
struct RawKinetoEvent {
  JsonValue ph, cat, name, pid, tid, ts, dur;
  // args.
  JsonValue stream, device, correlation, external_id, rf_id, sequence, forward_tid, launch_tid;
  JsonValue bytes, wait_stream, wait_event, wait_record_correlation;
  JsonValue collective, in_elements, out_elements, dtype, group_size, group_name;
  JsonValue group_description, group_ranks, in_splits, out_splits, rank_start, rank_stride;
  JsonValue comms_id, rank, peer_from, peer_to, input_dims, input_types;

  // Sets a field; Clear() makes those that were set missing again.
  void Set(JsonValue RawKinetoEvent::*field, const JsonValue& value) {
    this->*field = value;
    if (set_count_ < kMaxSet) set_[set_count_] = field;
    ++set_count_;
  }
  void Clear() {
    if (set_count_ > kMaxSet) {
      *this = RawKinetoEvent();
      return;
    }
    for (; set_count_ > 0; --set_count_) this->*set_[set_count_ - 1] = JsonValue();
  }

 private:
  static constexpr size_t kMaxSet = 40;
  JsonValue RawKinetoEvent::*set_[kMaxSet];
  size_t set_count_ = 0;
};

// False when the record is no object.
bool ParseKinetoEvent(JsonRef value, RawKinetoEvent* event);

// What becomes of a record: a kept event of `kind`, or a ledger entry.
struct KinetoFate {
  enum class Fate : uint8_t { kKeep, kMerge, kReject, kBegin, kEnd };
  Fate fate = Fate::kReject;
  KinetoKind kind = KinetoKind::kHostOp;
  const char* rule = "";  // Of kMerge and kReject.
};
KinetoFate FateOf(const RawKinetoEvent& event);
// The same by category alone, for an interval.
KinetoFate FateOfInterval(const RawKinetoEvent& event);

// Whether events of this name may describe communication, whatever their arguments say.
bool NameTellsComm(absl::string_view name);
// The communication that an event describes, if it does. INVALID_ARGUMENT when
// its bytes overflow.
absl::Status ReadKinetoComm(const RawKinetoEvent& event, std::optional<CommArgs>* args);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_KINETO_KINETO_EVENT_H_
