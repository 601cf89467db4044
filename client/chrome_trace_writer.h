// Chrome trace JSON (the "JSON Object Format" of trace-event files), as Perfetto
// and chrome://tracing open it, written while intervals arrive.
//
// A process a rank, a thread a queue. Viewers stack complete events of one
// thread and go wrong when two of them cross, so intervals that overlap get
// lanes of their own: "stream 7", "stream 7 (2)", ... Times are fixed decimals of
// microseconds, exact to the picosecond; node ids are strings, since viewers
// read numbers as doubles.
#ifndef CHAKRAD_CLIENT_CHROME_TRACE_WRITER_H_
#define CHAKRAD_CLIENT_CHROME_TRACE_WRITER_H_

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "chakrad/v1/job.pb.h"

namespace chakrad::client {

// Not thread-safe. Memory: the stream's names and queues, and a few bytes a
// lane; no interval is kept.
class ChromeTraceWriter {
 public:
  // Writes the opening. `out` must outlive this.
  explicit ChromeTraceWriter(std::ostream* out);

  // The next chunk of a stream. INTERNAL, and nothing of the chunk written, when
  // its columns differ in length, an index is out of range, a duration is
  // negative or an end overflows. Lanes are fewest when intervals come in the
  // order in which they end, as StreamTimeline sends them; in any order, no two
  // on one lane overlap.
  absl::Status Add(const v1::TimelineChunk& chunk);

  // Writes the end. INTERNAL when `out` failed at any time: a full disk, say.
  absl::Status Finish();

  int64_t intervals_count() const { return intervals_count_; }
  int64_t ranks_count() const { return static_cast<int64_t>(ranks_.size()); }

 private:
  // A queue's lanes: the thread id of each by the end of its last interval.
  using Lanes = std::multimap<int64_t, int32_t>;
  struct Rank {
    std::map<uint32_t, Lanes> lanes_by_queue;
    int32_t tids_count = 0;
  };

  absl::Status CheckChunk(const v1::TimelineChunk& chunk) const;
  int32_t TidOf(int32_t rank, uint32_t queue, int64_t start_ps, int64_t end_ps);
  int32_t NewTid(int32_t rank_number, uint32_t queue, size_t lane, Rank* rank);
  void WriteMetadata(int32_t rank, int32_t tid, const char* what, const std::string& args);
  void BeginEvent();

  std::ostream& out_;
  std::string buffer_;               // One chunk's text.
  std::vector<std::string> names_;   // As JSON strings, quotes included.
  std::vector<std::string> queues_;  // As they came.
  std::map<int32_t, Rank> ranks_;
  int64_t intervals_count_ = 0;
  bool first_event_ = true;
};

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_CHROME_TRACE_WRITER_H_
