// Which Kineto event is which operation of the execution trace.
#ifndef CHAKRAD_TRACE_LINK_MATCH_HOST_H_
#define CHAKRAD_TRACE_LINK_MATCH_HOST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace chakrad {

struct KinetoTrace;
struct PyTorchEt;

struct HostMatch {
  std::vector<uint32_t> event_of_op;          // Of each PyTorchEt::ops entry; kNone.
  std::vector<uint32_t> op_of_event;          // Of each KinetoTrace::events entry; kNone.
  std::map<uint64_t, uint32_t> queue_of_tid;  // The recorder's thread -> KinetoTrace::queues.
  int64_t ops_count = 0;                      // Operations that could match: roots are not counted.
  int64_t matched_count = 0;
  int64_t disagreements_count = 0;  // Equal record-function ids with different names.
  bool by_id = false;               // By record-function id; else by name and order.
};

// By record-function id where both sides have it and the names agree (the
// profiler renames ProfilerStep#1 to ProfilerStep*). When fewer than half of the
// ids agree they belong to another run, and everything goes by name and order:
// threads are paired by the names they have in common, then each pair aligned
// (trace/link/align.h); communication that runs on worker threads is paired in
// start order over all threads. O((operations + events) log).
HostMatch MatchHost(const PyTorchEt& et, const KinetoTrace& kineto);

// The process and thread nodes of an execution trace.
bool IsEtRoot(const PyTorchEt& et, uint32_t op);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_MATCH_HOST_H_
