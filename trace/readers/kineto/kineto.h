// Kineto's Chrome JSON: what ran when, on host threads and device streams.
#ifndef CHAKRAD_TRACE_READERS_KINETO_KINETO_H_
#define CHAKRAD_TRACE_READERS_KINETO_KINETO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/ledger.h"
#include "trace/model/rank_trace.h"
#include "trace/readers/comm_args.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

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

struct KinetoTrace {
  // Time of the first event kept, which then starts at 0, where the file's
  // clock has an epoch (baseTimeNanoseconds, or times after 2001). Else 0, and
  // times count from what the file's do, or from the first event when that is
  // more than ten days later.
  int64_t base_unix_ns = 0;
  int32_t rank = kNoRank;  // distributedInfo.
  int32_t world_size = 0;  // 0: not stated.
  std::string backend;
  std::vector<KinetoEvent> events;  // By (start_ns, longer first, record).
  std::vector<Queue> queues;
  std::vector<CommArgs> comm_args;
  std::vector<ProcessGroup> groups;  // distributedInfo.pg_config.
  StringTable strings;
};

// Reads {"traceEvents": [...]} or a bare list of events. INVALID_ARGUMENT names
// byte offset and reason. Events that describe others (flows, metadata,
// counters, instants, spans, gpu_user_annotation, python_function, overhead)
// are merged in the ledger, by rule; a begin and its end become one event, the
// end merged. Malformed ones are rejected there, by rule: no or a bad ts or dur
// (NaN and Infinity too), a negative one, a device operation at 0, a start
// or end more than 45 days from the median start, a begin or end alone, an unknown phase or
// category. The rest are kept. Times are exact to the nanosecond; smaller
// fractions are rounded so that nesting stays. Time: n log n; memory: the
// result plus one window.
absl::StatusOr<KinetoTrace> ReadKineto(ByteSource* source, Ledger* ledger);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_KINETO_KINETO_H_
