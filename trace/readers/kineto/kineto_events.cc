#include "trace/readers/kineto/kineto_events.h"

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace chakrad {

void KinetoEvents::push_back(const KinetoEvent& event) {
  CHECK(event.queue <= UINT32_MAX >> kKindBits) << "too many queues";
  Rare rare;
  bool is_rare = false;
  const auto narrow = [&](int64_t value, int64_t Rare::*field) -> uint32_t {
    if (value >= 0 && value < kInTable) return static_cast<uint32_t>(value);
    if (value == -1) return kMinusOne;
    rare.*field = value;
    is_rare = true;
    return kInTable;
  };
  start_ns_.push_back(event.start_ns);
  dur_ns_.push_back(narrow(event.dur_ns, &Rare::dur_ns));
  place_.push_back(event.queue << kKindBits | static_cast<uint32_t>(event.kind));
  name_.push_back(event.name);
  record_.push_back(static_cast<uint32_t>(event.record));
  correlation_.push_back(narrow(event.correlation, &Rare::correlation));
  external_id_.push_back(narrow(event.external_id, &Rare::external_id));
  rf_id_.push_back(narrow(event.rf_id, &Rare::rf_id));
  sequence_.push_back(narrow(event.sequence, &Rare::sequence));
  rare.comm = event.comm;
  is_rare = is_rare || event.comm != kNone;
  for (const auto& [value, field] :
       {std::pair{event.forward_tid, &Rare::forward_tid},
        std::pair{event.launch_tid, &Rare::launch_tid}, std::pair{event.bytes, &Rare::bytes},
        std::pair{event.sync_stream, &Rare::sync_stream},
        std::pair{event.sync_event, &Rare::sync_event},
        std::pair{event.sync_record_correlation, &Rare::sync_record_correlation}}) {
    rare.*field = value;
    is_rare = is_rare || value != -1;
  }
  rare_.push_back(is_rare ? static_cast<uint32_t>(table_.size()) : kNone);
  if (is_rare) table_.push_back(rare);
}

KinetoEvent KinetoEvents::operator[](size_t i) const {
  KinetoEvent event;
  event.kind = kind(i);
  event.name = name_[i];
  event.queue = queue(i);
  event.record = record(i);
  event.start_ns = start_ns_[i];
  event.dur_ns = dur_ns(i);
  event.correlation = correlation(i);
  event.external_id = external_id(i);
  event.rf_id = rf_id(i);
  event.sequence = sequence(i);
  if (rare_[i] == kNone) return event;
  const Rare& rare = table_[rare_[i]];
  event.comm = rare.comm;
  event.forward_tid = rare.forward_tid;
  event.launch_tid = rare.launch_tid;
  event.bytes = rare.bytes;
  event.sync_stream = rare.sync_stream;
  event.sync_event = rare.sync_event;
  event.sync_record_correlation = rare.sync_record_correlation;
  return event;
}

void KinetoEvents::Sort() {
  struct Key {
    int64_t start_ns;
    uint32_t index;
  };
  const auto before = [this](const Key& a, const Key& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    const int64_t a_dur_ns = dur_ns(a.index), b_dur_ns = dur_ns(b.index);
    if (a_dur_ns != b_dur_ns) return a_dur_ns > b_dur_ns;
    return record_[a.index] < record_[b.index];
  };
  std::vector<Key> keys(size());
  for (uint32_t i = 0; i < keys.size(); ++i) keys[i] = {start_ns_[i], i};
  if (std::is_sorted(keys.begin(), keys.end(), before)) return;
  std::sort(keys.begin(), keys.end(), before);
  ForEachColumn([&keys](auto& column) {
    auto sorted = column;
    for (size_t i = 0; i < keys.size(); ++i) sorted[i] = column[keys[i].index];
    column = std::move(sorted);
  });
}

void KinetoEvents::CountFrom(int64_t first_ns) {
  for (int64_t& start_ns : start_ns_) start_ns -= first_ns;
}

void KinetoEvents::Keep(const std::vector<bool>& keep) {
  ForEachColumn([&keep](auto& column) {
    size_t kept = 0;
    for (size_t i = 0; i < keep.size(); ++i) {
      if (keep[i]) column[kept++] = column[i];
    }
    column.resize(kept);
  });
}

void KinetoEvents::DropTimes() {
  // Assigning {} would keep the memory.
  start_ns_ = std::vector<int64_t>();
  dur_ns_ = std::vector<uint32_t>();
  record_ = std::vector<uint32_t>();
}

}  // namespace chakrad
