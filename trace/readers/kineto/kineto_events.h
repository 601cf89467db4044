// The events of a profile, as columns: a file of gigabytes has millions.
#ifndef CHAKRAD_TRACE_READERS_KINETO_KINETO_EVENTS_H_
#define CHAKRAD_TRACE_READERS_KINETO_KINETO_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "trace/model/rank_trace.h"

namespace chakrad {

// What an event is, from its cat (in any vendor's spelling) and name.
enum class KinetoKind : uint8_t {
  kHostOp = 0,      // cpu_op: operators, autograd functions.
  kAnnotation = 1,  // user_annotation: record_function marks, ProfilerStep, nccl:* and gloo:*.
  kRuntime = 2,     // cuda_runtime, cuda_driver, hip*: calls of the host, launches among them.
  kKernel = 3,
  kMemcpy = 4,
  kMemset = 5,
  kSync = 6,  // cuda_sync.
};

struct KinetoEvent {
  KinetoKind kind = KinetoKind::kHostOp;
  uint32_t name = 0;      // Index into KinetoTrace::strings.
  uint32_t queue = 0;     // Index into KinetoTrace::queues.
  uint32_t comm = kNone;  // Index into KinetoTrace::comm_args.
  int64_t record = 0;     // Position in traceEvents.
  int64_t start_ns = 0;   // From KinetoTrace::base_unix_ns; whole ns, nothing truncated.
  int64_t dur_ns = 0;
  int64_t correlation = -1;  // Joins a launch with its device operation; -1: none.
  int64_t external_id = -1;
  int64_t rf_id = -1;        // "Record function id".
  int64_t sequence = -1;     // "Sequence number": joins forward and backward.
  int64_t forward_tid = -1;  // "Fwd thread id".
  int64_t launch_tid = -1;   // "Launch tid": the thread that started an asynchronous call.
  int64_t bytes = -1;        // Of copies and fills.
  int64_t sync_stream = -1;  // kSync and waits: the stream, where recorded.
  int64_t sync_event = -1;   // The event id, where recorded.
  int64_t sync_record_correlation = -1;  // Of the call that recorded that event.
};

// About 48 bytes an event: what few events have stands in a table beside the
// columns. Reads like a vector of KinetoEvents that gives them by value; single
// fields are cheaper. Thread-safe to read.
class KinetoEvents {
 public:
  using value_type = KinetoEvent;
  class const_iterator;

  size_t size() const { return name_.size(); }
  bool empty() const { return name_.empty(); }
  KinetoEvent operator[](size_t i) const;
  const_iterator begin() const;
  const_iterator end() const;

  // kind and queue together must fit 32 bits: queue below 2^29.
  void push_back(const KinetoEvent& event);

  KinetoKind kind(size_t i) const { return static_cast<KinetoKind>(place_[i] & kKindMask); }
  uint32_t queue(size_t i) const { return place_[i] >> kKindBits; }
  uint32_t name(size_t i) const { return name_[i]; }
  int64_t record(size_t i) const { return record_[i]; }
  int64_t start_ns(size_t i) const { return start_ns_[i]; }
  int64_t dur_ns(size_t i) const { return Wide(dur_ns_[i], i, &Rare::dur_ns); }
  int64_t end_ns(size_t i) const { return start_ns(i) + dur_ns(i); }
  int64_t correlation(size_t i) const { return Wide(correlation_[i], i, &Rare::correlation); }
  int64_t external_id(size_t i) const { return Wide(external_id_[i], i, &Rare::external_id); }
  int64_t rf_id(size_t i) const { return Wide(rf_id_[i], i, &Rare::rf_id); }
  int64_t sequence(size_t i) const { return Wide(sequence_[i], i, &Rare::sequence); }
  uint32_t comm(size_t i) const { return rare_[i] == kNone ? kNone : table_[rare_[i]].comm; }
  int64_t bytes(size_t i) const { return rare_[i] == kNone ? -1 : table_[rare_[i]].bytes; }
  int64_t forward_tid(size_t i) const {
    return rare_[i] == kNone ? -1 : table_[rare_[i]].forward_tid;
  }

  // By (start_ns, longer first, record). O(n log n).
  void Sort();
  // Starts count from `first_ns` more.
  void CountFrom(int64_t first_ns);
  // Keeps the events for which `keep` is true.
  void Keep(const std::vector<bool>& keep);
  // Frees what is not needed once the events are nodes: starts, durations and
  // records, which may not be asked for afterwards; nor may whole events.
  void DropTimes();

 private:
  // What few events have. The last five only where 32 bits do not hold them.
  struct Rare {
    uint32_t comm = kNone;
    int64_t forward_tid = -1, launch_tid = -1, bytes = -1;
    int64_t sync_stream = -1, sync_event = -1, sync_record_correlation = -1;
    int64_t dur_ns = 0, correlation = -1, external_id = -1, rf_id = -1, sequence = -1;
  };
  static constexpr int kKindBits = 3;
  static constexpr uint32_t kKindMask = (1 << kKindBits) - 1;
  // Values of the 32-bit columns that are none: -1, and "see the table".
  static constexpr uint32_t kMinusOne = UINT32_MAX;
  static constexpr uint32_t kInTable = UINT32_MAX - 1;

  int64_t Wide(uint32_t value, size_t i, int64_t Rare::*field) const {
    if (value < kInTable) return value;
    return value == kMinusOne ? -1 : table_[rare_[i]].*field;
  }
  // Calls function(column) for each column.
  template <typename Function>
  void ForEachColumn(Function function) {
    function(start_ns_);
    for (std::vector<uint32_t>* column : {&dur_ns_, &place_, &name_, &record_, &correlation_,
                                          &external_id_, &rf_id_, &sequence_, &rare_}) {
      function(*column);
    }
  }

  std::vector<int64_t> start_ns_;
  std::vector<uint32_t> dur_ns_;
  std::vector<uint32_t> place_;  // Queue and kind.
  std::vector<uint32_t> name_;
  std::vector<uint32_t> record_;  // Files have at most kMaxRecords.
  std::vector<uint32_t> correlation_, external_id_, rf_id_, sequence_;
  std::vector<uint32_t> rare_;  // Index into table_, or kNone.
  std::vector<Rare> table_;
};

class KinetoEvents::const_iterator {
 public:
  using value_type = KinetoEvent;
  using difference_type = ptrdiff_t;
  using pointer = const KinetoEvent*;
  using reference = KinetoEvent;
  using iterator_category = std::input_iterator_tag;

  const_iterator(const KinetoEvents* events, size_t i) : events_(events), i_(i) {}
  KinetoEvent operator*() const { return (*events_)[i_]; }
  const_iterator& operator++() {
    ++i_;
    return *this;
  }
  bool operator==(const const_iterator& other) const { return i_ == other.i_; }

 private:
  const KinetoEvents* events_;
  size_t i_;
};

inline KinetoEvents::const_iterator KinetoEvents::begin() const { return {this, 0}; }
inline KinetoEvents::const_iterator KinetoEvents::end() const { return {this, size()}; }

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_KINETO_KINETO_EVENTS_H_
