// The three services of a daemon, as small as the client's tests need them: real
// gRPC on a free port of localhost, contents in memory, and faults on request.
#ifndef CHAKRAD_CLIENT_FAKE_CHAKRAD_H_
#define CHAKRAD_CLIENT_FAKE_CHAKRAD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chakrad/v1/ingest.pb.h"
#include "chakrad/v1/job.pb.h"
#include "chakrad/v1/trace.pb.h"

namespace chakrad::client {

// Fields are set before the calls that need them and read after: no lock.
class FakeChakrad {
 public:
  FakeChakrad();
  ~FakeChakrad();

  std::string address() const;  // "127.0.0.1:PORT"

  // Stream number i ends as UNAVAILABLE after so many pieces; the last of them
  // is not committed. Later streams go through.
  std::vector<int> break_write_after_pieces;
  // CreateUpload answers an upload that is sealed already.
  bool known_content = false;
  // So many calls of WatchJob end early, as UNAVAILABLE.
  int broken_watches = 0;
  // The first so many calls of CreateUpload are UNAVAILABLE.
  int broken_creates = 0;

  v1::Trace trace;                              // What Seal, Get and List answer.
  std::map<std::string, std::string> exported;  // File name and content.
  v1::Job job;                                  // What the job calls answer.
  std::vector<v1::TimelineChunk> timeline;      // What StreamTimeline sends.

  // What was seen.
  std::map<std::string, std::string> content_by_file;
  std::vector<int64_t> piece_bytes;
  std::map<std::string, int64_t> last_end_by_file;  // Where the piece marked as last ended.
  v1::CreateUploadRequest created_upload;
  int write_streams = 0;
  int query_calls = 0;
  int seal_calls = 0;
  std::vector<v1::CreateJobRequest> created_jobs;
  std::vector<int32_t> timeline_ranks;
  std::string deleted_trace;

 private:
  class Ingest;
  class Traces;
  class Jobs;
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_FAKE_CHAKRAD_H_
