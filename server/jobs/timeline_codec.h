// A job's timeline in its stored form: serialised chakrad.v1.TimelineChunk
// messages, which a stream passes on as they are.
#ifndef CHAKRAD_SERVER_JOBS_TIMELINE_CODEC_H_
#define CHAKRAD_SERVER_JOBS_TIMELINE_CODEC_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/model/timeline.h"
#include "trace/model/trace.h"

namespace chakrad {

// Encodes the chunks of one timeline, front to back. Not thread-safe.
class TimelineEncoder {
 public:
  // `trace` must outlive the encoder.
  explicit TimelineEncoder(const Trace* trace) : trace_(trace) {}

  // One chunk. A rank that the trace lacks shows the names of the traced rank
  // that stands in for it.
  std::string Encode(const std::vector<TimelineInterval>& intervals);

 private:
  const Trace* const trace_;
  std::map<std::string, uint32_t> names_;  // Text to its index in the stream.
  std::map<std::string, uint32_t> queues_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_JOBS_TIMELINE_CODEC_H_
