#include "trace/readers/pytorch_et/et_linked.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status.h"
#include "trace/readers/json/decimal.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

constexpr int kUsToPs = 6;  // Decimal places from microseconds to picoseconds.
// A clock that shows more than this, in 2001, counts from 1970.
constexpr int64_t kEpochFloorNs = 1'000'000'000'000'000'000;
// Times without an epoch stay as they are below this, ten days.
constexpr int64_t kMaxUnshiftedNs = kMaxRecordingNs / 9;

bool Missing(const JsonValue& value) {
  return value.kind == JsonValue::Kind::kMissing || value.text == "null";
}

absl::Status Bad(absl::string_view key, const JsonValue& value, absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat(key, ": ", value.text.substr(0, 60), " is not ", wanted));
}

// Picoseconds of a time in microseconds; below 2^62 ns.
absl::Status ToPs(absl::string_view key, const JsonValue& value, __int128* ps) {
  if (ParseDecimal(value.text, kUsToPs, ps, nullptr) && *ps >= 0 &&
      *ps / 1000 < (__int128{1} << 62)) {
    return absl::OkStatus();
  }
  return Bad(key, value, "a time in [0, 2^62) ns");
}

// To the nearest nanosecond, halves up: start and end alike, so that nesting stays.
int64_t PsToNs(__int128 ps) { return static_cast<int64_t>((ps + 500) / 1000); }

EtDevice DeviceOf(absl::string_view cat) {
  if (cat == "kernel" || cat == "concurrent_kernel") return EtDevice::kKernel;
  if (cat == "gpu_memcpy") return EtDevice::kMemcpy;
  if (cat == "gpu_memset") return EtDevice::kMemset;
  return EtDevice::kNone;
}

}  // namespace

JsonValue* EtLinkedFields::Find(absl::string_view key) {
  if (key == "ts") return &ts;
  if (key == "inclusive_dur") return &inclusive_dur;
  if (key == "cat") return &cat;
  if (key == "stream") return &stream;
  if (key == "pg_name") return &pg_name;
  if (key == "inter_thread_dep") return &inter_thread_dep;
  if (key == "sync_dep") return &sync_dep;
  return nullptr;
}

absl::Status EtLinkedReader::Add(const EtLinkedFields& fields, uint32_t op) {
  EtLinkedOp linked;
  linked.op = op;
  linked.device = DeviceOf(fields.cat.text);
  if (Missing(fields.ts) != Missing(fields.inclusive_dur)) {
    return absl::InvalidArgumentError(Missing(fields.ts) ? "inclusive_dur: without ts"
                                                         : "ts: without inclusive_dur");
  }
  if (!Missing(fields.ts)) {
    __int128 start_ps, dur_ps;
    RETURN_IF_ERROR(ToPs("ts", fields.ts, &start_ps));
    RETURN_IF_ERROR(ToPs("inclusive_dur", fields.inclusive_dur, &dur_ps));
    linked.start_ns = PsToNs(start_ps);
    linked.dur_ns = PsToNs(start_ps + dur_ps) - linked.start_ns;
    if (linked.dur_ns > kMaxRecordingNs) {
      return Bad("inclusive_dur", fields.inclusive_dur, "below 90 days");
    }
  }
  if (linked.device != EtDevice::kNone && linked.start_ns <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("ts: a device operation (cat ", fields.cat.text, ") needs a time after 0"));
  }
  if (!Missing(fields.stream) && !fields.stream.GetInt(&linked.stream)) {
    return Bad("stream", fields.stream, "an integer of 64 bits");
  }
  std::vector<EtLinkedDep> deps;
  const auto add = [&](absl::string_view key, absl::string_view text, bool inter_thread) {
    uint64_t id;
    if (!absl::SimpleAtoi(text, &id)) {
      return absl::InvalidArgumentError(absl::StrCat(key, ": ", text.substr(0, 60), " is no id"));
    }
    deps.push_back({op, inter_thread, id});
    return absl::OkStatus();
  };
  if (!Missing(fields.inter_thread_dep)) {
    RETURN_IF_ERROR(add("inter_thread_dep", fields.inter_thread_dep.text, true));
  }
  if (!Missing(fields.sync_dep)) {
    absl::string_view list = absl::StripAsciiWhitespace(fields.sync_dep.text);
    if (list.size() < 2 || list.front() != '[' || list.back() != ']') {
      return Bad("sync_dep", fields.sync_dep, "a list");
    }
    list = absl::StripAsciiWhitespace(list.substr(1, list.size() - 2));
    for (absl::string_view text : absl::StrSplit(list, ',', absl::SkipWhitespace())) {
      RETURN_IF_ERROR(add("sync_dep", absl::StripAsciiWhitespace(text), false));
    }
  }
  if (linked.start_ns != kUnknownNs) ops_.push_back(linked);
  deps_.insert(deps_.end(), deps.begin(), deps.end());
  return absl::OkStatus();
}

absl::Status EtLinkedReader::Finish(PyTorchEt* et) {
  et->linked_deps = std::move(deps_);
  if (ops_.empty()) return absl::OkStatus();
  const EtLinkedOp* first = &ops_[0];
  const EtLinkedOp* last = &ops_[0];
  for (const EtLinkedOp& op : ops_) {
    if (op.start_ns < first->start_ns) first = &op;
    if (op.start_ns + op.dur_ns > last->start_ns + last->dur_ns) last = &op;
  }
  const int64_t first_ns = first->start_ns;
  if (last->start_ns + last->dur_ns - first_ns > kMaxRecordingNs) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ts: more than 90 days lie between node ", et->ops[first->op].id, " (starts at ", first_ns,
        " ns) and node ", et->ops[last->op].id, " (starts at ", last->start_ns, " ns)"));
  }
  if (first_ns > kMaxUnshiftedNs) {
    for (EtLinkedOp& op : ops_) op.start_ns -= first_ns;
  }
  if (first_ns >= kEpochFloorNs) et->base_unix_ns = first_ns;
  et->linked = std::move(ops_);
  return absl::OkStatus();
}

}  // namespace chakrad
