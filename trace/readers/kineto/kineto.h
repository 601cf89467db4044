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
#include "trace/readers/kineto/kineto_events.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

struct KinetoTrace {
  // Time of the first event kept, which then starts at 0, where the file's
  // clock has an epoch (baseTimeNanoseconds, or times after 2001). Else 0, and
  // times count from what the file's do, or from the first event when that is
  // more than ten days later.
  int64_t base_unix_ns = 0;
  int32_t rank = kNoRank;  // distributedInfo.
  int32_t world_size = 0;  // 0: not stated.
  std::string backend;
  KinetoEvents events;  // By (start_ns, longer first, record).
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
