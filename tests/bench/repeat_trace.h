// Makes long recordings out of short ones: the same file many times over, times
// and ids moved on each time, so that it is one valid recording of a longer run.
#ifndef CHAKRAD_TESTS_BENCH_REPEAT_TRACE_H_
#define CHAKRAD_TESTS_BENCH_REPEAT_TRACE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

// The whole file, inflated.
absl::StatusOr<std::string> ReadWholeFile(absl::string_view path);

// Every id in `json`, an execution trace or a Kineto file, lies below this.
// Ids of a pair move on by the same distance: pass the larger one to both.
uint64_t IdDistance(absl::string_view json);

using TextSink = std::function<absl::Status(absl::string_view)>;

// Writes `json` with the elements of its array under `key` ("nodes" or
// "traceEvents") `count` times. Ids (of nodes, record functions, correlations,
// flows, sequence numbers) move on by `id_distance` a repetition, "ts" by the
// span of the recording and a millisecond. The process and thread nodes of an
// execution trace stay the first repetition's. INVALID_ARGUMENT: no such array.
// `json` must be well formed. Memory: about three times `json`.
absl::Status RepeatTrace(absl::string_view json, absl::string_view key, int64_t count,
                         uint64_t id_distance, const TextSink& sink);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_BENCH_REPEAT_TRACE_H_
