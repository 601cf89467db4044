// Hand-filled reader results for tests of the linker.
#ifndef CHAKRAD_TRACE_LINK_FAKE_TRACES_H_
#define CHAKRAD_TRACE_LINK_FAKE_TRACES_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "chakra/et_def.pb.h"
#include "trace/model/ledger.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {

inline constexpr int64_t kUs = 1000;  // Nanoseconds.

// Events are given in microseconds; Take() puts them in the reader's order.
class FakeKineto {
 public:
  KinetoEvent& Host(int64_t thread, absl::string_view name, int64_t start_us, int64_t dur_us) {
    return Add(KinetoKind::kHostOp, HostQueue(thread), name, start_us, dur_us);
  }
  KinetoEvent& Mark(int64_t thread, absl::string_view name, int64_t start_us, int64_t dur_us) {
    return Add(KinetoKind::kAnnotation, HostQueue(thread), name, start_us, dur_us);
  }
  KinetoEvent& Call(int64_t thread, absl::string_view name, int64_t start_us, int64_t dur_us,
                    int64_t correlation) {
    KinetoEvent& event = Add(KinetoKind::kRuntime, HostQueue(thread), name, start_us, dur_us);
    event.correlation = correlation;
    return event;
  }
  KinetoEvent& Kernel(int64_t stream, absl::string_view name, int64_t start_us, int64_t dur_us,
                      int64_t correlation) {
    KinetoEvent& event = Add(KinetoKind::kKernel, Queue{Queue::Kind::kDeviceStream, 0, stream},
                             name, start_us, dur_us);
    event.correlation = correlation;
    return event;
  }
  // The call arguments of `event`.
  CommArgs& Comm(KinetoEvent& event) {
    event.comm = static_cast<uint32_t>(trace_.comm_args.size());
    return trace_.comm_args.emplace_back();
  }
  KinetoTrace& trace() { return trace_; }

  KinetoTrace Take() {
    std::stable_sort(events_.begin(), events_.end(), [](const auto& a, const auto& b) {
      return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->dur_ns > b->dur_ns;
    });
    for (const auto& event : events_) trace_.events.push_back(*event);
    ledger_.input_records = ledger_.kept = static_cast<int64_t>(events_.size());
    return std::move(trace_);
  }
  // What the reader would have counted; after Take().
  Ledger* ledger() { return &ledger_; }

 private:
  static Queue HostQueue(int64_t thread) { return {Queue::Kind::kHostThread, -1, thread}; }
  KinetoEvent& Add(KinetoKind kind, const Queue& queue, absl::string_view name, int64_t start_us,
                   int64_t dur_us) {
    KinetoEvent& event = *events_.emplace_back(std::make_unique<KinetoEvent>());
    event.kind = kind;
    event.name = trace_.strings.Append(name);
    const auto it = std::find(trace_.queues.begin(), trace_.queues.end(), queue);
    event.queue = static_cast<uint32_t>(it - trace_.queues.begin());
    if (it == trace_.queues.end()) trace_.queues.push_back(queue);
    event.record = static_cast<int64_t>(events_.size()) - 1;
    event.start_ns = start_us * kUs;
    event.dur_ns = dur_us * kUs;
    return event;
  }

  std::vector<std::unique_ptr<KinetoEvent>> events_;
  KinetoTrace trace_;
  Ledger ledger_;
};

class FakeEt {
 public:
  FakeEt() {
    et_.schema = "1.0.1";
    Op(1, 1, "[pytorch|profiler|execution_graph|process]").rf_id = 0;
    Op(2, 1, "[pytorch|profiler|execution_graph|thread]").rf_id = 0;
  }
  // Record-function id = id. `inputs`: argument text, e.g. "[[7,8,0,4,4,'cpu']]".
  EtOp& Op(uint64_t id, uint64_t parent, absl::string_view name, absl::string_view inputs = "") {
    EtOp& op = et_.ops.emplace_back();
    op.id = id;
    op.parent = parent;
    op.rf_id = id;
    op.tid = 1;
    op.name = et_.strings.Append(name);
    op.cold_begin = et_.cold.size();
    if (!inputs.empty()) {
      ChakraProtoMsg::Node node;
      node.mutable_inputs()->set_values(inputs.data(), inputs.size());
      et_.cold += node.SerializeAsString();
    }
    op.cold_end = et_.cold.size();
    ++ledger_.input_records;
    ++ledger_.kept;
    return op;
  }
  CommArgs& Comm(EtOp& op) {
    op.comm = static_cast<uint32_t>(et_.comm_args.size());
    return et_.comm_args.emplace_back();
  }
  PyTorchEt& et() { return et_; }
  Ledger* ledger() { return &ledger_; }

 private:
  PyTorchEt et_;
  Ledger ledger_;
};

// The first node of that name; kNone when there is none.
inline uint32_t FindNode(const RankTrace& rank, absl::string_view name) {
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (rank.NameOf(node) == name) return node;
  }
  return kNone;
}

inline bool HasEdge(const RankTrace& rank, absl::string_view node, absl::string_view dependency,
                    EdgeKind kind) {
  const uint32_t from = FindNode(rank, node), to = FindNode(rank, dependency);
  if (from == kNone || to == kNone) return false;
  for (uint32_t j = rank.dep_begin[from]; j < rank.dep_begin[from + 1]; ++j) {
    if (rank.dep_node[j] == to && rank.dep_kind[j] == kind) return true;
  }
  return false;
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_FAKE_TRACES_H_
